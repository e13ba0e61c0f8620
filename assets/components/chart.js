// A Plotly chart in the page's colours, with its own readout and choices. Python puts before it TEMPLATES (light and
// dark), WORDS (Plotly's texts in the page's language), and PLOTLY, the address of Plotly's script (null in a file, which
// contains the script).

/**
 * @typedef {object} ChartData from attention.figures.charts.Chart.payload()
 * @property {string} title
 * @property {string} alt
 * @property {string} axis what a readout calls the horizontal axis; empty if that is its title
 * @property {any[]} data Plotly's traces; customdata of heads is layer and head, from 1
 * @property {any} layout Plotly's layout without its template
 * @property {boolean} selectable whether a press on a head chooses it
 */

const SCALE = 2; // of a saved PNG, relative to the page
// Plotly's names of number types.
const KINDS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array, i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array };
// The only buttons: one of Plotly's own would send the numbers to its makers' server.
const BUTTONS = [["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]];

let loading = null;

/** Plotly's script, fetched once for all charts of a page, and again after a failure. */
function plotly() {
  if (globalThis.Plotly) return Promise.resolve(globalThis.Plotly);
  loading ??= new Promise((take, fail) => {
    const script = make("script");
    script.src = new URL(PLOTLY, document.baseURI).href;
    script.onload = () => take(globalThis.Plotly);
    script.onerror = () => {
      loading = null;
      script.remove();
      fail();
    };
    document.head.append(script);
  });
  return loading;
}

let line = Promise.resolve();

/** Draw charts one at a time, so that the first is usable before the last is there. */
function turn() {
  line = line.then(() => new Promise((go) => setTimeout(go)));
  return line;
}

const stateOf = remembering((parent) => {
  const root = make("div", "root chart");
  const [title, picture, hint, readout] = ["title", "picture", "hint", "unseen"].map((name) => make("div", name));
  readout.setAttribute("role", "status");
  picture.tabIndex = 0;
  picture.setAttribute("role", "application");
  // Plotly's styles go into the document, not into the shadow root: draw outside, and show through a slot.
  const plot = make("div", "plot");
  parent.host.append(plot);
  picture.append(make("slot"));
  root.append(title, picture, hint, readout);
  parent.append(root);
  const state = { root, title, picture, hint, readout, plot, at: null, points: [], isOwn: false, elsewhere: null };
  state.observer = new ResizeObserver(() => show(state));
  picture.onkeydown = (event) => steer(state, event);
  picture.onblur = () => point(state, null);
  onPointedElsewhere(parent, (place) => {
    if (String(place) === String(state.elsewhere)) return;
    state.elsewhere = place;
    showElsewhere(state);
  });
  return state;
});

/** @param {Mount} mount */
export default function (mount) {
  const state = stateOf(mount.parentElement);
  const { data } = mount;
  Object.assign(state, { tell: mount.setStateValue, given: data, theme: readTheme(state.root) });
  if (!state.plot.isConnected) mount.parentElement.host.append(state.plot);
  state.points = pointsOf(data);
  if (state.at >= state.points.length) state.at = null;
  state.title.textContent = data.title;
  // Reserve the height, so that nothing moves when the script arrives.
  state.plot.style.minHeight = `${heightOf(state, data.layout)}px`;
  state.hint.textContent = data.selectable ? message("Press a head to choose it.") : "";
  const keys = [message("Arrow keys read the numbers."), data.selectable && message("Enter chooses a head.")];
  setAttribute(state.picture, "aria-label", [data.alt, ...keys.filter(Boolean)].join(" "));
  state.width = null;
  show(state);
  state.observer.observe(state.root);
  return whenGone(state, () => {
    state.observer.disconnect();
    globalThis.Plotly?.purge(state.plot);
    state.plot.remove();
  });
}

/** Draw the chart unless it already has this width; in a closed tab it has none, and the observer calls when it opens. */
async function show(state) {
  const { root, plot, given } = state;
  const width = root.clientWidth;
  if (!width || width === state.width) return;
  state.width = width;
  let Plotly;
  try {
    Plotly = await plotly();
    await turn();
  } catch {
    plot.textContent = message("Couldn't load the chart's script. Reload the page; the numbers are in the table.");
    state.width = null;
    return;
  }
  // The data may have changed meanwhile.
  if (state.given !== given || state.width !== width || !plot.isConnected) return;
  if (!plot.classList.contains("js-plotly-plot")) plot.textContent = "";
  const isNew = !plot.on;
  // Other settings would make Plotly start over.
  state.settings ??= settings(Plotly, state);
  const { data, layout } = structuredClone({ data: given.data, layout: given.layout });
  await Plotly.react(plot, data, dressed(state, layout), state.settings);
  if (isNew) listen(state);
  if (state.elsewhere) showElsewhere(state);
}

/** The chart's own height, unless the page sets --chart-height, a percentage of the screen's. */
function heightOf({ root }, { height }) {
  const share = Number(getComputedStyle(root).getPropertyValue("--chart-height"));
  return share ? (share / 100) * window.innerHeight : height;
}

/** The template in the page's font and, if it sets one (--chart-letters, in px), its size of letters. */
function templateOf({ theme, root }) {
  const { layout } = TEMPLATES[theme.isDark ? "dark" : "light"];
  const style = getComputedStyle(root);
  const size = Number(style.getPropertyValue("--chart-letters")) || layout.font.size;
  const [xaxis, yaxis] = [layout.xaxis, layout.yaxis].map((axis) => ({ ...axis, title: { ...axis.title, font: { size } } }));
  return { layout: { ...layout, font: { ...layout.font, family: style.fontFamily, size }, xaxis, yaxis } };
}

/** The layout for this page. A touch scrolls the page instead of zooming; the buttons zoom. */
function dressed(state, layout) {
  const template = templateOf(state);
  const margin = { ...template.layout.margin, t: 30 }; // the title stands above the chart
  const isTouch = matchMedia("(hover: none)").matches;
  return { ...layout, template, margin, width: state.width, height: heightOf(state, layout), dragmode: isTouch ? false : "zoom" };
}

function settings(Plotly, state) {
  const { camera, disk } = Plotly.Icons;
  const save = (format, title, icon) => ({ name: format, title, icon, click: () => saveAs(state, format) });
  const saving = [save("png", message("Save as PNG"), camera), save("svg", message("Save as SVG"), disk)];
  return {
    displaylogo: false,
    doubleClick: "reset",
    displayModeBar: matchMedia("(hover: none)").matches || "hover",
    modeBarButtons: [...BUTTONS, saving],
    locale: "page",
    locales: { page: { dictionary: WORDS, format: {} } },
  };
}

/** Save the visible chart with its title. */
function saveAs({ plot, given }, format) {
  const { width, height } = plot.getBoundingClientRect();
  const filename = given.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "chart";
  const size = { width: Math.round(width), height: Math.round(height), scale: magnified(format) };
  const layout = { ...plot.layout, title: { text: escaped(given.title) }, margin: { ...plot.layout.margin, t: 44 } };
  return globalThis.Plotly.downloadImage({ data: plot.data, layout }, { format, filename, ...size });
}

/** Only pixels need a scale. */
const magnified = (format) => (format === "png" ? SCALE : 1);

/** Save a figure at an address, in Plotly's JSON, in the format of the file's name. */
async function saveFrom(address, file) {
  const [Plotly, answer] = await Promise.all([plotly(), fetch(new URL(address, document.baseURI))]);
  const { data, layout } = await answer.json();
  const { width, height } = layout;
  const [filename, format] = file.split(".");
  await Plotly.downloadImage({ data, layout }, { format, filename, width, height, scale: magnified(format) });
}

Object.assign(document, { [Symbol.for("attention.save")]: saveFrom });

/** Escape a text for Plotly. */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function listen(state) {
  const { plot } = state;
  plot.on("plotly_click", ({ points }) => choose(state, points[0]));
  plot.on("plotly_hover", ({ points }) => {
    state.isOwn = true;
    state.elsewhere = null;
    setText(state.readout, told(state, points));
    tellPointed(state.root, placeOf(points[0]));
    plot.classList.toggle("pressable", headOf(state, points[0]) !== null);
  });
  plot.on("plotly_unhover", () => {
    state.isOwn = false;
    plot.classList.remove("pressable");
    tellPointed(state.root, null);
  });
  plot.on("plotly_afterplot", () => finish(plot));
  finish(plot);
}

function finish(plot) {
  // Drawn smaller on paper.
  for (const drawing of plot.querySelectorAll(".main-svg")) {
    drawing.setAttribute("viewBox", `0 0 ${drawing.getAttribute("width")} ${drawing.getAttribute("height")}`);
  }
  thin(plot);
}

/** Of overlapping names, show the first in full; zooming in makes space for more. */
function thin(plot) {
  const names = [...plot.querySelectorAll(".textpoint > text")];
  if (!names.length) return;
  const room = plot.querySelector(".nsewdrag").getBoundingClientRect();
  const taken = [];
  for (const name of names) {
    name.style.transform = "";
    const box = name.getBoundingClientRect();
    const across = Math.max(0, room.left - box.left) - Math.max(0, box.right - room.right);
    const down = Math.max(0, room.top - box.top) - Math.max(0, box.bottom - room.bottom);
    const isIn = Math.abs(across) <= box.width && Math.abs(down) <= box.height;
    const own = new DOMRect(box.x + across, box.y + down, box.width, box.height);
    const isFree = isIn && taken.every((other) => own.right < other.left || other.right < own.left || own.bottom < other.top || other.bottom < own.top);
    name.style.visibility = isFree ? "" : "hidden";
    name.style.transform = `translate(${across}px, ${down}px)`;
    if (isFree) taken.push(own);
  }
}

// ---- What is pointed at, and pressed -------------------------------------------------------------

/** Decode numbers from Python's Plotly: plain, or base64 with their type. */
function numbersOf(sent) {
  if (!sent?.bdata) return Array.from(sent ?? []);
  const bytes = decodeBytes(sent.bdata);
  return Array.from(new KINDS[sent.dtype](bytes.buffer));
}

/** Whether all series are pointed at together. */
const isUnified = ({ hovermode }) => hovermode === "x unified";

/** All points, or all groups of points at one place, in keyboard order. */
function pointsOf({ data, layout }) {
  const all = data.flatMap((trace, curveNumber) => {
    if (trace.hoverinfo === "skip") return [];
    // An arrow's point is its head.
    const [xs, ys, sizes] = [trace.x, trace.y, trace.marker?.size?.bdata && trace.marker.size].map(numbersOf);
    return xs
      .map((x, pointNumber) => ({ curveNumber, pointNumber, place: trace.orientation === "h" ? ys[pointNumber] : x, x, y: ys[pointNumber] }))
      .filter(({ x, y, pointNumber }) => Number.isFinite(x) && Number.isFinite(y) && sizes[pointNumber] !== 0);
  });
  all.sort((one, other) => one.place - other.place);
  if (!isUnified(layout)) return all.map((point) => [point]);
  const places = new Map();
  for (const point of all) places.set(point.place, [...(places.get(point.place) ?? []), point]);
  return [...places.values()];
}

function steer(state, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Enter" && state.at !== null) {
    const [{ curveNumber, pointNumber }] = state.points[state.at];
    choose(state, { customdata: customOf(state.given.data[curveNumber], pointNumber) });
    return;
  }
  const place = alongRow(event, state.at ?? -1, state.points.length - 1, true);
  if (place !== null) point(state, place);
}

function point(state, at) {
  state.at = at;
  const { points } = state;
  setText(state.readout, at === null ? "" : told(state, points[at]));
  tellPointed(state.root, at === null ? null : placeOf(points[at][0]));
  mark(state, points[at]);
}

/** The indices of the series and the point. */
const placeOf = ({ curveNumber, pointNumber }) => [curveNumber, pointNumber];

/** Have Plotly highlight points at one place, or none. */
function mark({ plot, given }, points) {
  if (!plot.on) return;
  if (!points) globalThis.Plotly.Fx.unhover(plot);
  else if (isUnified(given.layout)) globalThis.Plotly.Fx.hover(plot, { xval: points[0].place });
  else globalThis.Plotly.Fx.hover(plot, points.map(({ curveNumber, pointNumber }) => ({ curveNumber, pointNumber })));
}

/** Highlight the target of another screen's pointer, unless something is pointed at here. */
function showElsewhere(state) {
  if (state.isOwn || state.at !== null) return;
  const place = String(state.elsewhere);
  mark(state, state.points.find((points) => points.some((point) => String(placeOf(point)) === place)));
}

/** A point's layer and head, from 1, if its trace has them. */
function customOf(trace, pointNumber) {
  const both = numbersOf(trace.customdata);
  return both.length ? both.flat().slice(2 * pointNumber, 2 * pointNumber + 2) : undefined;
}

function headOf({ given }, point) {
  const [layer, head] = point?.customdata ?? [];
  return given.selectable && layer ? { layer: layer - 1, head: head - 1 } : null;
}

function choose(state, point) {
  const head = headOf(state, point);
  if (head) state.tell("choose", head);
}

/** The name and number of each highlighted point. */
function told({ given }, points) {
  return [...points]
    .sort((one, other) => one.curveNumber - other.curveNumber)
    .map((point) => {
      const trace = given.data[point.curveNumber];
      if (trace.type === "heatmap") return toldOfCell(given, trace, point);
      const value = trace.orientation === "h" ? point.x : point.y;
      const name = trace.hovertext ? trace.hovertext[point.pointNumber] : `${given.axis || (given.layout.xaxis.title?.text ?? "")} ${tickOf(given, point.x)}, ${trace.name}`;
      if (!/%\{[xy]\}/.test(trace.hovertemplate ?? "%{y}")) return plain(name);
      return `${plain(name)}: ${written(value)}`;
    })
    .join("; ");
}

/** A weight, with the tokens of its row and column. */
function toldOfCell(given, trace, { x, y, z, customdata }) {
  const [row, column] = trace.customdata ? customdata : [tickOf(given, y, "yaxis"), tickOf(given, x)];
  return `${plain(row)} → ${plain(column)}: ${written(z)}`;
}

const written = (value) => String(Number(value.toPrecision(4))).replace("-", "\u2212");

function tickOf({ layout }, place, axis = "xaxis") {
  const { tickvals, ticktext } = layout[axis];
  const at = numbersOf(tickvals).indexOf(place);
  return at < 0 ? place : ticktext[at];
}

/** Unescape a text for Plotly. */
function plain(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
