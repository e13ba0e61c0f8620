// The path of one token's vector through a model: a line from the embedding to the output. Attention adds to it on one
// side, the feed-forward network on the other, and one layer is unfolded. Each part is a button.

/**
 * @typedef {object} Added attention.figures.stream.Added
 * @property {string} title
 * @property {string} reach
 * @property {{before: string, of: string, after: string}} norms
 * @property {number[]} shares relative to the longest added vector drawn; none while covered
 * @property {string[]} lengths
 * @property {string[]} notes
 *
 * @typedef {object} StreamData from attention.figures.stream.Stream.payload()
 * @property {string} label
 * @property {string} lengths norms of the vector before the first layer and after each
 * @property {number | null} between the vector's norm between the two additions in the unfolded layer
 * @property {string} strips numbers of these vectors, one letter each, vector by vector
 * @property {Added} attention
 * @property {Added | null} feedForward
 * @property {{title: string, lines: string[]}} begins
 * @property {{title: string, lines: string[]}} ends
 * @property {string[]} told how to read the drawing
 * @property {string} longest the norm of the longest added vector drawn
 * @property {number} layer
 * @property {string} part
 */

const stateOf = remembering((parent) => {
  const root = make("div", "root stream");
  const way = make("div", "way");
  way.setAttribute("role", "toolbar");
  const readout = make("div", "readout");
  readout.setAttribute("role", "status");
  const legend = make("ul", "legend");
  root.append(way, readout, legend);
  parent.append(root);
  const state = { root, way, readout, legend, parts: [], width: 0 };
  way.onkeydown = (event) => press(state, event);
  way.onpointerover = ({ target }) => read(state, target.closest(".part"));
  way.onpointerleave = () => read(state, null);
  way.addEventListener("focusin", ({ target }) => read(state, target.closest(".part")));
  way.addEventListener("focusout", () => read(state, null));
  state.mark = markMore(way, []);
  new ResizeObserver(() => reveal(state)).observe(root);
  return state;
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  state.tell = (value) => setStateValue("open", value);
  drawAnew(state, data, parentElement, draw);
}

/** @param {StreamData} data */
function draw(state, data) {
  const lengths = decodeNumbers(data.lengths);
  const numbers = decodeShades(data.strips, 1, true);
  const size = numbers.length / lengths.length;
  const longest = Math.max(...lengths, data.between ?? 0);
  const n = lengths.length - 1;
  state.strips = (at) => stripsOf(numbers.subarray(at * size, (at + 1) * size), state.theme);
  state.thickness = (length) => length / longest;
  setAttribute(state.way, "aria-label", data.label);
  state.root.classList.toggle("alone", !data.feedForward);
  const tracks = Array.from({ length: n }, (_, layer) => (layer === data.layer ? "open" : "folded"));
  state.way.style.setProperty("--columns", ["start", ...tracks, "end"].map((name) => `var(--${name})`).join(" "));
  state.root.style.setProperty("--folded-layers", String(n - 1));
  const layers = tracks.map((_, layer) => layerOf(state, data, layer, lengths));
  state.way.replaceChildren(endOf(state, data, "embedding", data.begins), ...layers, outputOf(state, data, n, lengths[n]));
  state.parts = [...state.way.querySelectorAll(".part")];
  const current = state.parts.find((part) => part.getAttribute("aria-pressed") === "true") ?? state.parts[0];
  for (const part of state.parts) part.tabIndex = part === current ? 0 : -1;
  state.legend.replaceChildren(...legendOf(data));
  read(state, null);
  state.width = 0;
  reveal(state);
}

/** A layer: its input vector, the line, and the branches' additions. */
function layerOf(state, data, layer, lengths) {
  const isOpen = layer === data.layer;
  const element = make("div", isOpen ? "layer open" : "layer");
  const title = message("Layer {layer}", { layer: layer + 1 });
  const name = pressable(state, data, "block", layer, [title, lengthTold(lengths[layer + 1])].join(": "));
  name.classList.add("name");
  name.append(isOpen ? title : String(layer + 1));
  const line = make("div", "line");
  line.append(...state.strips(layer), flow(state, lengths[layer]));
  element.append(branchOf(state, data, layer, "attention", data.attention), line);
  if (isOpen) line.append(plus(), ...normTag(data.attention.norms.after));
  if (data.feedForward) {
    element.append(branchOf(state, data, layer, "feed-forward", data.feedForward));
    if (isOpen) line.append(flow(state, data.between), plus(), ...normTag(data.feedForward.norms.after));
  }
  element.append(name);
  return element;
}

const lengthTold = (length) => message("the vector leaves with norm {length}", { length: length.toFixed(2) });

/** What a branch adds, as a bar; in the unfolded layer with the branch itself. */
function branchOf(state, data, layer, part, added) {
  const [share, length, note] = [added.shares[layer], added.lengths[layer], added.notes[layer]];
  const where = message("Layer {layer}, {part}", { layer: layer + 1, part: added.title });
  const isCovered = !added.shares.length;
  const said = isCovered ? message("hidden until you answer") : message("adds a vector of norm {length}", { length });
  const button = pressable(state, data, part, layer, `${where}: ${[said, note].filter(Boolean).join(", ")}`);
  button.classList.add("branch", part);
  button.classList.toggle("covered", isCovered);
  if (layer === data.layer) {
    const box = make("span", "box");
    const ofNorm = added.norms.of && message("{norm} before ⊕", { norm: added.norms.of });
    const lines = isCovered ? ["?"] : [message("adds {length}", { length }), note];
    box.append(make("b", "", added.title), make("span", "reach", added.reach), ...[...lines, ofNorm].filter(Boolean).map((text) => make("span", "note", text)));
    const up = make("span", "up");
    up.append(...normTag(added.norms.before));
    button.append(box, up);
  }
  const sum = make("span", "sum");
  const bar = make("i", "bar");
  bar.style.setProperty("--share", String(isCovered ? 1 : share));
  sum.append(make("span", "number", isCovered ? "?" : shortened(length)), bar);
  button.append(sum);
  return button;
}

/** A norm with two or three digits. */
function shortened(length) {
  const [whole] = length.split(".");
  return whole.length > 2 ? whole : Number(length).toFixed(whole.length > 1 ? 1 : 2);
}

function endOf(state, data, part, end) {
  const element = make("div", `end ${part}`);
  const button = pressable(state, data, part, null, [end.title, ...end.lines].join(", "));
  button.classList.add("box");
  button.append(make("b", "", visible(end.title)), ...end.lines.map((line) => make("bdi", "note", line)));
  element.append(button);
  return element;
}

function outputOf(state, data, at, length) {
  const element = endOf(state, data, "output", data.ends);
  const line = make("div", "line");
  line.append(...state.strips(at), flow(state, length));
  element.prepend(line);
  return element;
}

/** A vector's numbers as colours, vertical and horizontal; the style shows the strip across the line. */
function stripsOf(numbers, theme) {
  return [
    ["upright", numbers.length, 1],
    ["lying", 1, numbers.length],
  ].map(([name, rows, columns]) => {
    const canvas = paintPixels(numbers, rows, columns, scaleOf(theme, "signed"), 1);
    canvas.className = `strip ${name}`;
    return canvas;
  });
}

/** The line, as thick as the vector's norm there. */
function flow(state, length) {
  const line = make("i", "flow");
  line.style.setProperty("--thickness", String(state.thickness(length)));
  return line;
}

/** @param {StreamData} data */
function legendOf(data) {
  const inks = [data.attention, ...(data.feedForward ? [data.feedForward] : [])];
  const named = inks.map(({ title }, place) => make("li", place ? "inactive" : "weight", message("{part} adds", { part: title })));
  const scale = message("numbers and bars: norms, up to {length}", { length: shortened(data.longest) });
  return [...named, ...[scale, ...data.told].map((text) => make("li", "", text))];
}

const plus = () => make("span", "plus", "⊕");
const normTag = (name) => (name ? [make("span", "norm", name)] : []);

/** A button that opens a part; arrow keys lead from one to the next. */
function pressable(state, data, part, layer, said) {
  const button = make("button", "part");
  button.type = "button";
  button.dataset.id = layer === null ? part : `${part}-${layer}`;
  button.setAttribute("aria-label", said);
  const isHere = part === data.part && (layer === null || layer === data.layer);
  button.setAttribute("aria-pressed", String(isHere));
  button.onclick = () => state.tell(layer === null ? { part } : { part, layer });
  return button;
}

function press(state, event) {
  const { parts } = state;
  const target = parts[alongRow(event, parts.indexOf(event.target), parts.length - 1, true)];
  if (!target) return;
  for (const part of parts) part.tabIndex = part === target ? 0 : -1;
  target.focus();
}

/** Describe a part or, by default, the open one. */
function read(state, part) {
  const told = part ?? state.parts.find((each) => each.getAttribute("aria-pressed") === "true");
  setText(state.readout, told?.getAttribute("aria-label") ?? "\u00a0");
}

/** If the path is wider than the page, keep the unfolded layer visible until the user scrolls. */
function reveal(state) {
  const { way } = state;
  state.mark();
  if (!way.clientWidth || way.clientWidth === state.width) return;
  state.width = way.clientWidth;
  const open = way.querySelector(".open");
  way.scrollLeft = open.offsetLeft - (way.clientWidth - open.offsetWidth) / 2;
}
