// The map of the model: a stack of layers from the input at the bottom to the output at the top, one layer unfolded, and
// a ring around the current step. Its parts are buttons that go there.

/**
 * @typedef {object} Dot
 * @property {string} key
 * @property {number} number
 * @property {string} name
 *
 * @typedef {object} Box attention.figures.model_map.Box
 * @property {string} title
 * @property {string} part
 * @property {string[]} notes
 * @property {string} norm_before
 * @property {string} norm_after
 * @property {string[]} head_labels
 * @property {number | null} head
 * @property {number} group_size
 * @property {Dot[]} dots
 * @property {Dot[]} sum_dots
 * @property {boolean} is_fed
 *
 * @typedef {object} Column attention.figures.model_map.Column
 * @property {string} title
 * @property {string} part
 * @property {number} n_layers
 * @property {string[]} base
 * @property {string[]} top
 * @property {number | null} layer
 * @property {Box[]} boxes
 * @property {Dot[]} base_dots
 * @property {Dot[]} entry_dots
 * @property {boolean} is_fed
 * @property {Cut | null} picture
 *
 * @typedef {object} Cut a square picture: pixels row by row as bytes in base64, and the numbers of pixels and of patches
 * per side
 * @property {string} shades
 * @property {number} side
 * @property {number} across
 *
 * @typedef {object} MapData
 * @property {string} label
 * @property {Column[]} columns
 * @property {string} part
 * @property {string} step
 * @property {string} place
 * @property {string} here the place in a sentence
 * @property {Record<string, string>} leads the targets of the feed-forward network and of the output
 * @property {boolean} isOpen
 * @property {{rows: number, columns: number, shades: string, descriptions: string[]} | null} heads thumbnails of their
 * weights, one after the other as bytes in base64, and a sentence about each
 */

const FEW = 8; // layers, one per row; more stand side by side
const BEND = 5; // px below a layer's number, where its arrow bends up
const TIP = 3.5; // px, half of an arrowhead

const stateOf = remembering((parent) => {
  const root = make("div", "root map");
  parent.append(root);
  // On a narrow screen, the map is a sheet that opens over the page.
  const state = { root, isSheet: false, width: 0 };
  new ResizeObserver(() => {
    revealHead(state);
    drawFeeds(state);
  }).observe(root);
  return state;
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  state.tell = (act, value) => {
    setSheet(state, false);
    setStateValue(act, value);
  };
  drawAnew(state, data, parentElement, draw);
}

/** @param {MapData} data */
function draw(state, data) {
  const nav = make("nav");
  nav.setAttribute("aria-label", data.label);
  const body = make("div", "body");
  body.append(...data.columns.map((column) => columnOf(state, data, column)));
  if (data.columns.some((column) => column.is_fed)) body.append(feeds());
  nav.append(foldButton(state, data), make("div", "you", data.here), sheetButton(state, data), body);
  state.root.replaceChildren(nav);
  state.root.classList.toggle("folded", !data.isOpen);
  setSheet(state, state.isSheet);
  state.width = 0;
  revealHead(state);
  drawFeeds(state);
  nav.onkeydown = (event) => {
    if (event.key === "Escape" && state.isSheet) setSheet(state, false);
  };
}

function foldButton(state, data) {
  const text = data.isOpen ? message("Fold the map") : message("Unfold the map");
  const button = pressable("fold", "fold", "", () => state.tell("open", !data.isOpen));
  button.append(make("span", "", data.isOpen ? "◂" : "▸"), " ", make("span", "word", message("Map")));
  button.title = text;
  button.setAttribute("aria-label", text);
  button.setAttribute("aria-expanded", String(data.isOpen));
  return button;
}

/** A line with the current place, which opens the sheet. */
function sheetButton(state, data) {
  const button = pressable("sheet", "sheet", "", () => setSheet(state, !state.isSheet));
  button.append(make("bdi", "", data.place));
  return button;
}

function setSheet(state, isSheet) {
  state.isSheet = isSheet;
  state.root.classList.toggle("opened", isSheet);
  state.root.querySelector(".sheet").setAttribute("aria-expanded", String(isSheet));
}

/** @param {Column} column */
function columnOf(state, data, column) {
  const section = make("section", "column");
  section.classList.toggle("aside", column.layer === null);
  section.classList.toggle("fed", column.is_fed);
  if (column.title) section.append(make("h3", "", column.title));
  const stack = make("ol", "stack");
  const [from, to] = column.layer === null ? [column.n_layers, column.n_layers] : [column.layer, column.layer + 1];
  const read = column.picture ? [cutOf(column.picture, state.theme)] : [];
  stack.append(item("base", ...read, dots(state, data, column.base_dots), linesOf(column.base)));
  if (from > 0) stack.append(layers(state, data, column, 0, from));
  if (column.layer !== null) stack.append(unfolded(state, data, column));
  if (to < column.n_layers) stack.append(layers(state, data, column, to, column.n_layers));
  stack.append(topOf(state, data, column));
  section.append(stack);
  return section;
}

/** Notes on a part of the model, one per line, or in sequence where there is little space. */
function linesOf(texts) {
  const lines = make("div", "lines");
  lines.append(...texts.map((text) => make("bdi", "line", text)));
  return lines;
}

/** A column's output, after a norm if there is one; the model's output leads to its use. */
function topOf(state, data, column) {
  const told = data.leads.output;
  if (!told || column.layer === null) return item("top", linesOf(column.top));
  const button = pressable("output", "other", "", () => state.tell("lead", "output"));
  button.append(make("bdi", "title", column.top.at(-1)));
  name(button, `${column.top.at(-1)}: ${told}`);
  return item("top", linesOf(column.top.slice(0, -1)), button);
}

/** The folded layers of a column in [from, to). */
function layers(state, data, column, from, to) {
  const row = item("layers");
  const areFew = column.n_layers <= FEW;
  row.classList.toggle("rows", areFew);
  if (!areFew) row.append(make("span", "what", message("Layers")));
  for (let layer = from; layer < to; layer++) {
    const place = column.part === data.part ? { layer } : { part: column.part, layer };
    const said = message("Layer {layer}", { layer: layer + 1 });
    const text = areFew ? said : String(layer + 1);
    const button = pressable(`${column.part}-layer-${layer}`, "chip", text, () => state.tell("go", place));
    name(button, [column.title, said].filter(Boolean).join(", "));
    row.append(button);
  }
  return row;
}

/** The unfolded layer: the residual stream as a line, with its branches. */
function unfolded(state, data, column) {
  const layer = item("layer");
  layer.setAttribute("aria-current", "true");
  const parts = make("ol", "parts");
  if (column.entry_dots.length) parts.append(item("entry", dots(state, data, column.entry_dots)));
  for (const box of column.boxes) {
    if (box.norm_before) parts.append(item("norm", make("bdi", "", box.norm_before)));
    parts.append(boxOf(state, data, box));
    parts.append(item("sum", make("span", "plus", "⊕"), dots(state, data, box.sum_dots)));
    if (!box.norm_after) continue;
    const after = item("norm", make("bdi", "", box.norm_after));
    after.classList.add("stream");
    parts.append(after);
  }
  const facts = { layer: column.layer + 1, layers: column.n_layers };
  layer.append(make("div", "name", message("Layer {layer} of {layers}", facts)), parts);
  return layer;
}

/** @param {Box} box */
function boxOf(state, data, box) {
  const isHere = box.part === data.part;
  const element = item("box");
  element.classList.toggle("here", isHere);
  element.classList.toggle("fed", box.is_fed);
  const title = make("div", "title", box.title);
  const notes = linesOf(box.notes);
  const told = data.leads["feed-forward"];
  if (isHere || (!box.part && !told)) {
    element.append(title, notes, heads(state, box, data.heads), dots(state, data, box.dots));
    return element;
  }
  const go = () => (box.part ? state.tell("go", { part: box.part }) : state.tell("lead", "feed-forward"));
  const button = pressable(`part-${box.part}`, "other", "", go);
  button.append(title, notes);
  if (!box.part) name(button, `${box.title}: ${told}`);
  element.append(button);
  return element;
}

/**
 * A button for each head, with its picture if there is one; those that share keys and values are grouped. All are one tab
 * stop, with arrow keys between them.
 */
function heads(state, box, drawn) {
  const thumbs = drawn ? thumbsOf(drawn, state.theme) : [];
  const row = make("div", "heads");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", message("Heads of this layer"));
  row.classList.toggle("pictured", thumbs.length > 0);
  box.head_labels.forEach((label, head) => {
    if (head % box.group_size === 0) row.append(make("div", box.group_size > 1 ? "group" : "lone"));
    const button = pressable(`head-${head}`, "chip", "", () => state.tell("go", { head }));
    button.classList.add("head");
    button.append(...thumbs.slice(head, head + 1), make("span", "number", String(head + 1)));
    name(button, label);
    if (drawn) button.title = `${label}: ${drawn.descriptions[head]}`;
    if (head === box.head) button.setAttribute("aria-current", "true");
    button.tabIndex = head === box.head ? 0 : -1;
    row.lastChild.append(button);
  });
  row.onkeydown = (event) => rove(row, event);
  markMore(row, row.children);
  return row;
}

/** The thumbnail of each head. */
function thumbsOf(drawn, theme) {
  const numbers = decodeShades(drawn.shades, 1, false);
  const size = drawn.rows * drawn.columns;
  return drawn.descriptions.map((_, head) => paintThumb(numbers.subarray(head * size, (head + 1) * size), drawn, theme));
}

/** In a narrow strip, keep the current head visible until the user scrolls. */
function revealHead(state) {
  const row = state.root.querySelector(".heads");
  if (!row || row.clientWidth === state.width) return;
  state.width = row.clientWidth;
  const current = row.querySelector("[aria-current]");
  if (current) row.scrollLeft = current.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
}

/** Move between heads as in a toolbar. */
function rove(row, event) {
  const buttons = [...row.querySelectorAll("button")];
  const target = buttons[alongRow(event, buttons.indexOf(event.target), buttons.length - 1, true)];
  if (!target) return;
  buttons.forEach((button) => (button.tabIndex = button === target ? 0 : -1));
  target.focus();
}

const allDots = ({ columns }) =>
  columns.flatMap(({ base_dots, entry_dots, boxes }) => [
    ...base_dots,
    ...entry_dots,
    ...boxes.flatMap(({ dots, sum_dots }) => [...dots, ...sum_dots]),
  ]);

/** @param {Dot[]} steps */
function dots(state, data, steps) {
  const row = make("div", "dots");
  const at = allDots(data).find(({ key }) => key === data.step)?.number;
  for (const { key, number, name: text } of steps) {
    const button = pressable(`step-${key}`, "dot", String(number), () => state.tell("go", { step: key }));
    name(button, message("Step {number}: {name}", { number, name: text }));
    if (key === data.step) button.setAttribute("aria-current", "step");
    button.classList.toggle("done", number < at);
    row.append(button);
  }
  return row;
}

/** The input picture, cut into patches. */
function cutOf({ shades, side, across }, theme) {
  const greys = decodeShades(shades, 1, false);
  const size = side / across;
  const board = make("div", "patches");
  board.setAttribute("role", "img");
  board.setAttribute("aria-label", message("The picture, cut into {n} patches", { n: across * across }));
  board.style.setProperty("--across", String(across));
  for (let patch = 0; patch < across * across; patch++) {
    const corner = Math.floor(patch / across) * size * side + (patch % across) * size;
    const pixels = Float32Array.from({ length: size * size }, (_, at) => greys[corner + Math.floor(at / size) * side + (at % size)]);
    board.append(paintThumb(pixels, { rows: size, columns: size, isPicture: true }, theme));
  }
  return board;
}

/** The layer for arrows from the encoder's output; presses pass through it. */
function feeds() {
  const label = message("From the encoder's output to the cross-attention of every layer");
  return svg("svg", { class: "feeds", role: "img", "aria-label": label });
}

/** Draw the arrows from the encoder's output to the unfolded layer's cross-attention, and to the other layers. */
function drawFeeds({ root }) {
  const drawing = root.querySelector(".feeds");
  const body = drawing?.parentNode;
  if (!body?.offsetWidth) return;
  const at = placesIn(body);
  const from = at(root.querySelector(".column:not(.fed) .top"));
  const between = (from.right + at(root.querySelector(".column.fed")).left) / 2;
  const start = `M${from.right} ${(from.top + from.bottom) / 2}H${between}`;
  const into = [...root.querySelectorAll(".fed .layers .chip, .box.fed")];
  drawing.replaceChildren(
    ...into.flatMap((element) => {
      const to = at(element);
      const isBox = element.matches(".box");
      const middle = isBox ? to.top + 2 * BEND : (to.left + to.right) / 2;
      const way = isBox ? `V${middle}H${to.left}` : `V${to.bottom + BEND}H${middle}V${to.bottom}`;
      const tip = isBox
        ? `M${to.left - TIP} ${middle - TIP}l${TIP} ${TIP}l${-TIP} ${TIP}`
        : `M${middle - TIP} ${to.bottom + TIP}l${TIP} ${-TIP}l${TIP} ${TIP}`;
      return [svg("path", { class: "feed", d: start + way }), svg("path", { d: tip })];
    }),
  );
}

/** The places of elements in another one, in its own pixels, at any zoom of the page. */
function placesIn(body) {
  const frame = body.getBoundingClientRect();
  const scale = body.currentCSSZoom ?? 1;
  return (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const [x, y] = [(place) => (place - frame.left) / scale, (place) => (place - frame.top) / scale];
    return { left: x(left), right: x(right), top: y(top), bottom: y(bottom) };
  };
}

function item(className, ...children) {
  const element = make("li", className);
  element.append(...children);
  return element;
}

function pressable(id, className, text, act) {
  const button = make("button", className, text);
  button.type = "button";
  button.dataset.id = id;
  button.onclick = act;
  return button;
}

function name(button, text) {
  button.title = text;
  button.setAttribute("aria-label", text);
}
