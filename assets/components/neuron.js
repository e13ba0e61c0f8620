// One query against every key: their products as strips of colour, the sums, and the weights.

/**
 * @typedef {object} NeuronData from attention.figures.neuron.Neuron.payload()
 * @property {string} title
 * @property {string} alt
 * @property {string[]} labels of the keys
 * @property {string[]} queryLabels of the queries: the same, except in cross-attention
 * @property {number} query its position
 * @property {number} key the position of the key in focus
 * @property {number} width of every vector
 * @property {string} queryVector little-endian float32 in base64, as all numbers here
 * @property {string} keys row by row
 * @property {string} products row by row
 * @property {string} scores
 * @property {string} maskedScores
 * @property {string} weights
 * @property {number} vectorLimit the number of q and k with the full colour
 * @property {number} productLimit
 * @property {string} divisor of the scores
 * @property {boolean} hasBias whether the scores include a position bias
 * @property {number[]} breaks the starts of new groups of tokens
 * @property {boolean} selectable whether query and key can be chosen
 */

const PITCH = 28; // from one token to the next
const LOW_PITCH = 20;
const MANY = 40; // tokens
const CELL = { least: 5, most: 22 }; // the width of one number
const NARROW = 560;
// The width that fits on A4 and letter paper, with a browser's margins.
const PAPER = 680;
const FAINTEST = 0.005; // smaller weights get no line
const WIDEST = 7; // the width of weight 1

const stateOf = remembering(build);

/** @param {Mount} mount */
export default function (mount) {
  const state = stateOf(mount.parentElement);
  state.setStateValue = mount.setStateValue;
  take(state, mount.data);
  state.observer.observe(state.root);
  draw(state);
  if (document.fonts.status === "loading") document.fonts.ready.then(() => draw(state));
  return whenGone(state, () => state.observer.disconnect());
}

/** The parts that outlive every redraw, with the keyboard focus and pressed buttons. */
function build(parent) {
  const root = make("div", "root neuron");
  const title = make("div", "title");
  const scroller = make("div", "scroller");
  const board = make("div", "board");
  const head = make("div", "head");
  const body = make("div", "body");
  const readout = make("div", "readout");
  const queries = list("queries", message("Queries: attending"));
  const keys = list("keys", message("Keys: attended to"));
  const fan = svg("svg", { class: "fan" });
  const markers = [make("div", "marker"), make("div", "marker"), make("div", "marker")];
  const strips = [make("canvas", "strip"), make("canvas", "strip"), make("canvas", "strip query")];
  for (const each of [fan, ...markers, ...strips]) each.setAttribute("aria-hidden", "true");
  readout.setAttribute("role", "status");
  board.setAttribute("role", "group");
  body.append(queries.element, fan, keys.element);
  board.append(head, body);
  scroller.append(board);
  // At the top, where it stays visible for every row.
  root.append(title, readout, scroller);
  parent.append(root);
  const state = {
    ...{ root, title, scroller, board, head, body, readout, queries, keys, fan, markers, strips },
    ...{ hovered: null, focused: null, dimension: null },
  };
  state.observer = new ResizeObserver(() => {
    if (root.clientWidth !== state.drawnWidth) draw(state);
  });
  listen(state);
  return state;
}

function list(name, label) {
  const element = make("div", `list ${name}`);
  const buttons = make("div", "buttons");
  buttons.setAttribute("role", "toolbar");
  buttons.setAttribute("aria-orientation", "vertical");
  buttons.setAttribute("aria-label", label);
  element.append(buttons);
  return { element, place: buttons, buttons: [], reached: 0 };
}

function take(state, given) {
  const before = state.data;
  if (before === given) return;
  state.data = given;
  state.query = given.query;
  state.key = given.key;
  const names = ["queryVector", "keys", "products", "scores", "maskedScores", "weights"];
  state.numbers = Object.fromEntries(names.map((name) => [name, decodeNumbers(given[name])]));
  if (before && given.width !== before.width) state.dimension = null;
  const tokens = JSON.stringify([given.labels, given.queryLabels, given.breaks]);
  if (state.tokensId === tokens) return;
  state.tokensId = tokens;
  state.hovered = state.focused = state.dimension = null;
  fill(state, state.queries, given.queryLabels, (label, index) => queryButton(label, index));
  fill(state, state.keys, given.labels, (label, index) => keyRow(label, index));
  reach(state.queries, given.query);
  reach(state.keys, given.key);
  state.isNew = true;
}

/** If no choice is possible, a query is plain text, and keys only show their numbers. */
function allow({ root, queries, keys, data }) {
  root.classList.toggle("still", !data.selectable);
  for (const button of queries.buttons) button.disabled = !data.selectable;
  for (const button of keys.buttons) setAttribute(button, "aria-disabled", data.selectable ? null : "true");
}

function fill({ data, root }, own, labels, create) {
  const hadFocus = own.place.contains(root.getRootNode().activeElement);
  own.buttons = labels.map((label, index) => {
    const button = create(label, index);
    button.type = "button";
    button.dataset.index = String(index);
    button.classList.toggle("break", data.breaks.includes(index));
    return button;
  });
  own.place.replaceChildren(...own.buttons);
  if (hadFocus) own.buttons[Math.min(own.reached, own.buttons.length - 1)]?.focus({ preventScroll: true });
}

function queryButton(label, index) {
  const button = make("button", "token");
  button.title = named(label, index);
  button.append(make("bdi", "text", visible(label)));
  return button;
}

function keyRow(label, index) {
  const button = make("button", "row");
  button.title = named(label, index);
  const weight = make("span", "weight");
  weight.append(make("span", "number"), make("span", "bar"));
  const room = () => make("span", "room"); // for the strips
  button.append(make("bdi", "text", visible(label)), room(), room());
  button.append(make("span", "number score"), make("span", "number scaled"), weight);
  return button;
}

// ---- Drawing -----------------------------------------------------------------------------------

function draw(state) {
  const { root, data } = state;
  const width = root.clientWidth;
  if (!width) return; // in a closed tab: the observer calls when it opens
  state.drawnWidth = width;
  state.theme = readTheme(root);
  state.layout = layOut(state, width);
  setAttribute(state.board, "aria-label", data.alt);
  allow(state);
  writeTitle(state);
  writeHead(state);
  writeRows(state);
  paintStrips(state);
  drawFan(state);
  show(state);
  if (state.isNew) reveal(state);
  state.isNew = false;
}

/** The widths in CSS pixels: the strips get the space beside words and numbers. */
function layOut({ root, data }, width) {
  const isNarrow = width < NARROW;
  const context = pen();
  context.font = `700 15px ${getComputedStyle(root).fontFamily}`;
  const widest = [...data.labels, ...data.queryLabels].reduce((most, label) => Math.max(most, context.measureText(label).width), 0);
  const names = Math.round(Math.min(isNarrow ? 76 : 132, Math.max(44, widest + 18)));
  const [fan, number, bar, gap] = isNarrow ? [16, 52, 74, 8] : [64, 66, 132, 14];
  const others = 2 * names + fan + 2 * number + bar + 5 * gap + 16;
  const cell = Math.min(CELL.most, Math.max(CELL.least, Math.floor((width - others) / (2 * data.width))));
  const rows = Math.max(data.labels.length, data.queryLabels.length);
  const pitch = rows > MANY ? LOW_PITCH : PITCH;
  const layout = { names, fan, number, bar, gap, cell, pitch, strip: cell * data.width };
  for (const name of ["names", "fan", "number", "bar", "gap", "pitch", "strip"]) {
    root.style.setProperty(`--${name}`, `${layout[name]}px`);
  }
  // Scripts do not know the width of the paper.
  root.style.setProperty("--on-paper", String(Math.min(1, PAPER / (others + 2 * layout.strip))));
  return layout;
}

/** The title and the legend: queries and keys share a scale, products have their own. */
function writeTitle({ title, data, theme }) {
  const { fills } = scaleOf(theme, "signed");
  const stops = Array.from({ length: 17 }, (_, i) => fills[Math.round((i / 16) * (fills.length - 1))]);
  const legend = (name, limit) => {
    const element = make("span", "legend");
    const strip = make("span", "ramp");
    strip.style.background = `linear-gradient(to right, ${stops.join()})`;
    element.setAttribute("aria-hidden", "true");
    element.append(make("span", "", `${name} ${fixed(-limit, 1)}`), strip, make("span", "", fixed(limit, 1)));
    return element;
  };
  const legends = make("span", "legends");
  legends.append(legend("q, k:", data.vectorLimit), legend("q ∘ k:", data.productLimit));
  const hint = data.selectable ? [make("span", "hint", message("Choose a query on the left and a key in the table."))] : [];
  title.replaceChildren(make("bdi", "name", data.title), ...hint, legends);
}

/** The column headings, and the query's numbers above those that they multiply. */
function writeHead(state) {
  const { head, data, numbers, strips, markers } = state;
  const isMasked = numbers.maskedScores.includes(-Infinity);
  const line = (className, ...texts) => {
    const element = make("div", `line ${className}`);
    texts.forEach((text, column) => {
      const place = make("span", `column c${column}`);
      place.append(...(Array.isArray(text) ? text : [text]));
      element.append(place);
    });
    return element;
  };
  const scaled = `÷ ${data.divisor}${isMasked ? " + M" : ""}`;
  const name = make("bdi", "", `q(${visible(data.queryLabels[data.query])})`);
  head.replaceChildren(
    line("names", message("query"), message("key"), "k", "q ∘ k", scoreOf(data), scaled, message("weight")),
    line("own", "", [name], [strips[2], markers[2]], "", "", "", ""),
  );
}

function writeRows(state) {
  const { data, numbers, queries, keys } = state;
  keys.buttons.forEach((button, index) => {
    const [, , , score, scaled, weight] = button.children;
    const value = numbers.weights[index];
    score.textContent = fixed(numbers.scores[index], 2);
    scaled.textContent = fixed(numbers.maskedScores[index], 2);
    weight.firstChild.textContent = isHidden(state, index) ? "0" : fixed(value, 2);
    button.classList.toggle("hidden", isHidden(state, index));
    weight.lastChild.style.setProperty("--part", String(value));
    setAttribute(button, "aria-label", `${named(data.labels[index], index)}: ${told(state, index)}`);
  });
  queries.buttons.forEach((button, index) => {
    setAttribute(button, "aria-label", named(data.queryLabels[index], index));
  });
}

/** A token as read aloud. */
function named(token, position) {
  return message("{token}, position {position}", { token, position });
}

/** The formula of a score. */
function scoreOf({ hasBias }) {
  return hasBias ? "q · k + b" : "q · k";
}

/** A key's numbers in words. */
function told(state, index) {
  const { numbers, data } = state;
  const start = `${scoreOf(data)} = ${fixed(numbers.scores[index], 2)}`;
  const weight = isHidden(state, index) ? "0" : fixed(numbers.weights[index], 2);
  const last = message("weight {weight}", { weight });
  if (isHidden(state, index)) return `${start}; ${message("masked")}; ${last}`;
  const scaled = `÷ ${data.divisor} = ${fixed(numbers.maskedScores[index], 2)}`;
  return `${start}; ${scaled}; ${last}`;
}

/** Whether the mask hides a key from the query. */
function isHidden({ numbers }, index) {
  return numbers.maskedScores[index] === -Infinity;
}

/** Each strip is a picture with one pixel per number, enlarged: as fast for 512 keys as for 8. */
function paintStrips(state) {
  const { data, numbers, theme, strips, markers, keys } = state;
  const scale = scaleOf(theme, "signed");
  const rows = data.labels.length;
  const parts = [
    [numbers.keys, rows, data.vectorLimit],
    [numbers.products, rows, data.productLimit],
    [numbers.queryVector, 1, data.vectorLimit],
  ];
  parts.forEach(([values, height, limit], index) => {
    const canvas = strips[index];
    [canvas.width, canvas.height] = [data.width, height];
    canvas.getContext("2d").drawImage(paintPixels(values, height, data.width, scale, limit), 0, 0);
  });
  strips[0].classList.add("first");
  strips[1].classList.add("second");
  markers[0].classList.add("first");
  markers[1].classList.add("second");
  if (strips[0].parentNode !== keys.element) keys.element.append(strips[0], strips[1], markers[0], markers[1]);
}

/** Draw a line from the query to each key, as thick as its weight. */
function drawFan({ fan, data, numbers, layout, theme }) {
  const { pitch } = layout;
  const middle = (index) => (index + 0.5) * pitch;
  fan.setAttribute("width", layout.fan);
  fan.setAttribute("height", pitch * Math.max(data.labels.length, data.queryLabels.length));
  const colour = scaleOf(theme, "weights").fills.at(-1);
  const lines = [];
  numbers.weights.forEach((weight, index) => {
    if (weight < FAINTEST) return;
    const ends = { x1: 0, y1: middle(data.query), x2: layout.fan, y2: middle(index) };
    const look = { "stroke-width": Math.max(1, WIDEST * weight), "stroke-opacity": Math.min(1, 0.2 + weight) };
    lines.push(svg("line", { ...ends, stroke: colour, ...look }));
  });
  fan.replaceChildren(...lines);
}

// ---- What is pointed at and chosen -------------------------------------------------------------

function show(state) {
  const { queries, keys, markers, dimension, layout } = state;
  queries.buttons.forEach((button, index) => setAttribute(button, "aria-pressed", index === state.query));
  keys.buttons.forEach((button, index) => setAttribute(button, "aria-pressed", index === state.key));
  for (const marker of markers) {
    marker.hidden = dimension === null;
    marker.style.setProperty("--shift", `${(dimension ?? 0) * layout.cell}px`);
    marker.style.width = `${layout.cell}px`;
  }
  writeReadout(state);
}

function writeReadout(state) {
  const { readout, data, numbers, dimension } = state;
  const key = state.hovered ?? state.focused ?? state.key;
  const label = (role, text) => make("bdi", role, visible(text));
  const start = [label("query", data.queryLabels[data.query]), " → ", label("key", data.labels[key])];
  if (dimension === null) {
    readout.replaceChildren(...start, `: ${told(state, key)}`);
    return;
  }
  const place = key * data.width + dimension;
  const where = message("dimension {dimension}", { dimension });
  const [q, k, product] = [numbers.queryVector[dimension], numbers.keys[place], numbers.products[place]];
  readout.replaceChildren(
    ...[...start, `, ${where}: q `, make("b", "", precise(q)), " × k ", make("b", "", precise(k))],
    ...[" = ", make("b", "", precise(product))],
  );
}

function choose(state, query, key) {
  if (!state.data.selectable) return;
  [state.query, state.key] = [query, key];
  show(state);
  state.setStateValue("choose", { query, key });
}

function reach(own, index) {
  if (index < 0) return;
  own.reached = Math.min(index, own.buttons.length - 1);
  own.buttons.forEach((button, other) => (button.tabIndex = other === own.reached ? 0 : -1));
}

/** In a long text, scroll to the query. */
function reveal({ scroller, layout, query }) {
  const middle = (query + 0.5) * layout.pitch;
  if (middle > scroller.clientHeight - 2 * PITCH) scroller.scrollTop = middle - scroller.clientHeight / 2;
}

// ---- Pointer and keyboard ----------------------------------------------------------------------

function listen(state) {
  const { queries, keys } = state;
  const indexIn = (own, event) => own.buttons.indexOf(event.target.closest("[data-index]"));
  for (const own of [queries, keys]) {
    own.place.addEventListener("focusin", (event) => reach(own, indexIn(own, event)));
    own.place.onkeydown = (event) => press(state, own, event);
  }
  queries.place.onclick = (event) => {
    const index = indexIn(queries, event);
    if (index >= 0) choose(state, index, state.key);
  };
  keys.place.onclick = (event) => {
    const index = indexIn(keys, event);
    if (index >= 0) choose(state, state.query, index);
  };
  keys.place.addEventListener("focusin", (event) => {
    state.focused = event.target.matches(":focus-visible") ? indexIn(keys, event) : null;
    show(state);
  });
  keys.place.addEventListener("focusout", () => point(state, "focused", null, null));
  keys.place.onpointermove = (event) => {
    const index = indexIn(keys, event);
    point(state, "hovered", index < 0 ? null : index, dimensionUnder(state, event));
  };
  keys.place.onpointerleave = () => point(state, "hovered", null, null);
}

function point(state, kind, index, dimension) {
  if (state[kind] === index && state.dimension === dimension) return;
  state[kind] = index;
  state.dimension = dimension;
  show(state);
}

/** The dimension under the pointer, in either strip. */
function dimensionUnder({ keys, layout, data }, event) {
  const x = event.clientX - keys.element.getBoundingClientRect().left;
  const first = layout.names + layout.gap;
  for (const left of [first, first + layout.strip + layout.gap]) {
    const dimension = Math.floor((x - left) / layout.cell);
    if (dimension >= 0 && dimension < data.width) return dimension;
  }
  return null;
}

function press(state, own, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const last = own.buttons.length - 1;
  const at = own.reached;
  const to = {
    ...{ ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last, PageUp: at - 10, PageDown: at + 10 },
  }[event.key];
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (to === undefined && !step && event.key !== "Escape") return;
  // Elsewhere on the page, the arrows change the step.
  event.preventDefault();
  event.stopPropagation();
  if (to !== undefined) own.buttons[Math.max(0, Math.min(last, to))].focus();
  else if (own === state.keys) moveDimension(state, step);
}

/** Move between the numbers of the focused row; Escape ends that. */
function moveDimension(state, step) {
  const { data, dimension } = state;
  const start = step > 0 ? -1 : data.width;
  const next = Math.max(0, Math.min(data.width - 1, (dimension ?? start) + step));
  state.focused = state.keys.reached;
  state.dimension = step ? next : null;
  show(state);
}
