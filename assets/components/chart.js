// A chart: bars side by side, bars under one another, or points over numbered places, and what each of them says.

/**
 * @typedef {object} Series what attention.figures.chart.Series.payload() gives
 * @property {string} name
 * @property {"signed" | "weight" | "value" | "plain" | "inactive"} ink
 * @property {string | null} places little-endian float32 in base64; null for 0, 1, 2, …
 * @property {string} values the same
 * @property {string} prefix what all labels begin with
 * @property {string[] | number} labels without it
 * @property {boolean} isLine whether a line leads through them
 * @property {boolean} isDashed whether that line is dashed
 * @property {boolean} areLevels whether each is a short line across its place, and no point
 * @property {number | null} current the one that stands out
 * @property {[number, number][]} heads the layer and the head for which each value stands; empty if for none
 *
 * @typedef {object} ChartData what attention.figures.chart.Chart.payload() gives
 * @property {"columns" | "rows" | "points"} kind
 * @property {string} title
 * @property {string} alt
 * @property {Series[]} series
 * @property {string[] | null} names at the places 0, 1, …; without them the places are numbers
 * @property {string} placeAxis
 * @property {string} valueAxis
 * @property {[number, number] | null} limits of the values
 * @property {number} decimals
 * @property {number} nPlaces how many numbered places there are at least
 * @property {boolean} isLog whether equal distances along the axis of the values are equal factors
 * @property {number} first the first of the numbered places
 * @property {boolean} selectable whether a press on a head chooses it
 */

const HEIGHTS = { columns: 150, points: 200 }; // of the marks, without names and numbers
const ROW = 26;
const SIZE = 12; // of letters
const GAP = 12; // between two numbers of an axis, at least
const POINT = 3.5;
const LEVEL = 0.36; // how far to each side of its place a level reaches, as a part of the distance of two places
// How names that do not fit beside one another are written, and how far they reach then, as shares of their width.
const SLANT = { degrees: 40, across: 0.77, down: 0.64 };
const MAX_BAR = 56; // a bar is at most so thick
const BEYOND = 1.5; // a factor
const REACH = 24; // so near to a point one points at it
const MINUS = "\u2212";

const stateOf = remembering((parent) => buildMarks(parent, "chart", { draw, markUnder, pointAt, stepOf, choose }));

/** @param {Mount} mount */
export default function (mount) {
  const state = stateOf(mount.parentElement);
  state.tell = mount.setStateValue;
  if (state.given !== mount.data) take(state, mount.data);
  state.observer.observe(state.root);
  draw(state);
  // Names measured before the page's own font is there are measured again.
  if (document.fonts.status === "loading") document.fonts.ready.then(() => draw(state));
  return whenGone(state, () => state.observer.disconnect());
}

function take(state, data) {
  state.given = data;
  state.series = data.series.map((each) => {
    const values = decodeNumbers(each.values);
    const places = each.places === null ? values.map((_, index) => index) : decodeNumbers(each.places);
    // On an axis of factors, nothing has no place.
    const shown = [...values.keys()].filter((index) => !data.isLog || values[index] > 0);
    return { ...each, places, values, shown, labels: namesOf(each.labels) };
  });
  // The marks in the order in which the arrow keys lead to them.
  state.marks = state.series
    .flatMap((each) => each.shown.map((index) => ({ series: each, index, value: each.values[index], place: each.places[index] })))
    .sort((one, other) => one.place - other.place);
  // Once a head is chosen, one still points at it.
  state.at = data.selectable && state.at < state.marks.length ? state.at : null;
}

function draw(state) {
  const { root, given: data, picture, title, legend } = state;
  const width = root.clientWidth;
  state.drawnWidth = width;
  if (!width) return; // in a closed tab: the observer calls when it opens
  state.font = getComputedStyle(root).fontFamily;
  state.layout = layOut(state, width);
  title.textContent = data.title;
  const named = state.series.filter((each) => state.series.length > 1 && each.name);
  legend.replaceChildren(...named.map((each) => make("span", `ink ${each.ink} ${strokeOf(each)}`, each.name)));
  const { width: wide, height } = state.layout;
  const drawing = svg("svg", { width: wide, height, viewBox: `0 0 ${wide} ${height}`, "aria-hidden": "true" });
  state.pointer = svg("g", { class: "pointer" });
  drawing.append(axes(state), ...state.series.map((each) => drawSeries(state, each)), state.pointer);
  picture.replaceChildren(drawing);
  const isPoints = data.kind === "points";
  const keys = isPoints ? message("Arrow keys move from point to point.") : message("Arrow keys move from bar to bar.");
  state.hint = state.marks.some((mark) => headOf(state, mark)) ? message("Press a head to choose it.") : "\u00a0";
  const enter = state.hint.trim() ? [message("Enter chooses a head.")] : [];
  setAttribute(picture, "aria-label", [data.alt, keys, ...enter].join(" "));
  pointAt(state, state.at);
}

// ---- Layout --------------------------------------------------------------------------------------

/** Where places and values lie, in CSS pixels. */
function layOut(state, width) {
  const { given: data } = state;
  const isRows = data.kind === "rows";
  const onAxis = data.isLog ? Math.log10 : Number;
  const [low, high] = extent(state).map(onAxis);
  const values = data.isLog ? factorsBetween(low, high) : ticksOf(low, high, isRows ? 5 : 4);
  const places = placesOf(state);
  const widths = (ticks) => Math.max(0, ...ticks.map(({ text }) => textWidth(state, text)));
  const names = placeTicks(data, places, width, widths([{ text: String(places.count) }]));
  // Half of the last number lies beyond.
  const beyond = isRows ? 12 : data.kind === "points" && data.names === null ? Math.max(6, widths(names) / 2) : 6;
  const across = 8 + (isRows ? widths(names) : widths(values.map((value) => ({ text: written(value, values, data.isLog) }))));
  const slotFrom = (left) => (isRows ? ROW : (width - left - beyond) / places.count);
  const apart = names.length > 1 ? names[1].place - names[0].place : 1;
  const isSlanted = !isRows && data.names !== null && widths(names) > apart * slotFrom(across) - 4;
  // A name that is slanted ends under its place, and begins further left.
  const begins = ({ place, text }) => SLANT.across * textWidth(state, text) + SLANT.down * SIZE - (place - places.low) * slotFrom(across);
  const beside = isSlanted ? Math.max(across, ...names.map(begins)) : across;
  const room = width - beside - beyond;
  const length = isRows ? ROW * places.count : HEIGHTS[data.kind];
  const slot = slotFrom(beside);
  const below = (isSlanted ? widths(names) * SLANT.down : 0) + SIZE + 12 + (data.placeAxis ? SIZE + 4 : 0);
  const top = 8;
  const alongPlaces = (place) =>
    isRows ? top + (place - places.low) * (length / places.span) : beside + (place - places.low) * (room / places.span);
  const alongValues = (value) => {
    const share = (onAxis(value) - low) / (high - low);
    return isRows ? beside + share * room : top + (1 - share) * length;
  };
  const size = { width, height: top + length + below, beside, room, top, length };
  return { ...size, isRows, isSlanted, values, names, slot, unit: places.unit, alongPlaces, alongValues };
}

/** The ends of the axis of the values: from 0, and a little beyond the largest; of factors, a little beyond both. */
function extent({ given: data, marks }) {
  if (data.limits) return data.limits;
  const all = marks.map(({ value }) => value).filter(Number.isFinite);
  if (data.isLog) return [Math.min(...all) / BEYOND, Math.max(...all) * BEYOND];
  const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
  if (low === high) return [0, 1];
  const rest = 0.06 * (high - low);
  return [low < 0 ? low - rest : 0, high > 0 ? high + rest : 0];
}

/** The places there are, as a range with half a step on each side. */
function placesOf({ given: data, marks }) {
  const all = marks.map(({ place }) => place);
  if (data.kind === "points") {
    const first = data.names ? 0 : data.first;
    const count = Math.max(Math.round(Math.max(...all)) + 1 - first, data.nPlaces);
    return { low: first - 0.5, span: count, count, unit: 1 };
  }
  const distinct = [...new Set(all)];
  const unit = distinct.length > 1 ? (distinct.at(-1) - distinct[0]) / (distinct.length - 1) : 1;
  const low = (distinct[0] ?? 0) - unit / 2;
  return { low, span: unit * Math.max(distinct.length, 1), count: Math.max(distinct.length, 1), unit };
}

/** The next of 1, 2, 3, 5 and ten times as much, and so on: a step by which one counts. */
function roundStep(least) {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 3, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

/** What is written at the places: names, all of them but where they count, or numbers at even distances. */
function placeTicks(data, places, width, widest) {
  const step = roundStep(((widest + GAP) * places.count) / width);
  if (data.names) {
    const names = data.names.map((name, place) => ({ place, text: shortened(name) }));
    const areCounted = data.kind !== "rows" && data.names.every((name, index) => Number(name) === Number(data.names[0]) + index);
    return areCounted ? names.filter(({ text }) => Number(text) % step === 0) : names;
  }
  const ticks =
    data.kind === "points"
      ? [...(data.first ? [] : [0]), ...everyNth(places.count - 1 + data.first, step)]
      : ticksOf(places.low, places.low + places.span, Math.max(2, Math.floor(width / 60)));
  return ticks.map((place) => ({ place, text: written(place, ticks) }));
}

/** The numbers n, 2n, 3n, … up to a last one. */
const everyNth = (last, n) => Array.from({ length: Math.floor(last / n) }, (_, index) => n * (index + 1));

/** Round numbers between two ends, about so many. */
function ticksOf(low, high, about) {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** Round numbers between two powers of ten, given by their exponents: more of them where there are few powers. */
function factorsBetween(low, high) {
  const factors = high - low < 2 ? [1, 2, 5] : [1];
  const powers = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, index) => 10 ** (Math.floor(low) + index));
  const all = powers.flatMap((power) => factors.map((factor) => factor * power));
  return all.filter((value) => Math.log10(value) >= low && Math.log10(value) <= high);
}

/** A tick with as many decimals as its neighbours need; of factors, as many as it needs itself. */
function written(value, ticks, isLog = false) {
  if (isLog) return String(Number(value.toPrecision(1)));
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : 1;
  const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
  return fixed(value, decimals);
}

/** A number with a true minus sign; zero has none. */
function fixed(value, decimals) {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

function textWidth({ font }, text) {
  const context = pen();
  context.font = `${SIZE}px ${font}`;
  return context.measureText(text).width;
}

// ---- Drawing -------------------------------------------------------------------------------------

function axes(state) {
  const { layout, given: data } = state;
  const { isRows, isSlanted, beside, room, top, length, values, names, alongPlaces, alongValues } = layout;
  const group = svg("g", { class: "axes", "font-size": SIZE });
  for (const value of values) {
    const at = alongValues(value);
    const line = isRows ? { x1: at, x2: at, y1: top, y2: top + length } : { x1: beside, x2: beside + room, y1: at, y2: at };
    group.append(svg("line", { ...line, class: value === 0 ? "zero" : "grid" }));
    const place = isRows
      ? { x: at, y: top + length + SIZE + 4, "text-anchor": "middle" }
      : { x: beside - 6, y: at + 4, "text-anchor": "end" };
    group.append(svg("text", place, written(value, values, data.isLog)));
  }
  for (const { place, text } of names) group.append(nameAt(layout, alongPlaces(place), text, isSlanted));
  const corner = { x: beside + room, y: layout.height - 2, "text-anchor": "end", class: "axis" };
  if (data.placeAxis) group.append(svg("text", corner, data.placeAxis));
  if (data.valueAxis) group.append(svg("text", { x: beside + 4, y: top + 2, class: "axis" }, data.valueAxis));
  return group;
}

function nameAt({ isRows, beside, top, length }, at, text, isSlanted) {
  if (isRows) return svg("text", { x: beside - 6, y: at + 4, "text-anchor": "end", class: "name" }, text);
  const y = top + length + SIZE + 4;
  const place = isSlanted
    ? { transform: `translate(${at + 4} ${y - 4}) rotate(${-SLANT.degrees})`, "text-anchor": "end" }
    : { x: at, y, "text-anchor": "middle" };
  return svg("text", { ...place, class: "name" }, text);
}

function drawSeries(state, each) {
  const isOver = state.given.kind !== "points" && each !== state.series[0];
  const group = svg("g", { class: `marks ${state.given.kind}${isOver ? " over" : ""}` });
  if (each.isLine) group.append(lineThrough(state, each));
  group.append(...each.shown.map((index) => markOf(state, each, index, each.values[index])));
  return group;
}

function lineThrough({ layout }, each) {
  const points = each.shown.map((index) => [layout.alongPlaces(each.places[index]), layout.alongValues(each.values[index])]);
  return svg("polyline", { points: points.map((point) => point.join()).join(" "), class: `line ${each.ink} ${strokeOf(each)}` });
}

/** The class of what is not drawn through or in one piece. */
const strokeOf = ({ isDashed, areLevels }) => (isDashed ? "dashed" : areLevels ? "level" : "");

function markOf({ layout, given: data }, each, index, value) {
  const ink = each.ink === "signed" ? (value < 0 ? "negative" : "positive") : each.ink;
  const [place, end] = [layout.alongPlaces(each.places[index]), layout.alongValues(value)];
  if (each.areLevels) {
    const [x1, x2] = [place - LEVEL * layout.slot, place + LEVEL * layout.slot];
    return svg("line", { x1, x2, y1: end, y2: end, class: `mark ink ${ink} level` });
  }
  if (data.kind === "points") {
    const isCurrent = each.current === index;
    const shape = { cx: place, cy: end, r: isCurrent ? 2 * POINT : POINT };
    return svg("circle", { ...shape, class: `mark ink ${ink}${isCurrent ? " current" : ""}` });
  }
  const zero = layout.alongValues(0);
  const current = each.current === index ? " current" : "";
  const thick = Math.min(MAX_BAR, Math.max(1, layout.slot * 0.85));
  const [from, to] = [Math.min(zero, end), Math.max(zero, end)];
  const box = layout.isRows
    ? { x: from, width: to - from, y: place - thick / 2, height: thick }
    : { x: place - thick / 2, width: thick, y: from, height: to - from };
  return svg("rect", { ...box, class: `mark ink ${ink}${current}` });
}

// ---- What is pointed at --------------------------------------------------------------------------

/** The index of the mark that is pointed at; of bars, everything above and below counts, however low they are. */
function markUnder(state, event) {
  const { layout, marks, given: data } = state;
  const [x, y] = placeUnder(state, event);
  const distance = ({ place, value }) => {
    const along = layout.alongPlaces(place) - (layout.isRows ? y : x);
    return data.kind === "points" ? Math.hypot(along, layout.alongValues(value) - y) : Math.abs(along);
  };
  const nearest = marks.reduce((best, mark, index) => (distance(mark) < distance(marks[best]) ? index : best), 0);
  const reach = data.kind === "points" ? REACH : layout.slot / 2 + 1;
  return marks.length && distance(marks[nearest]) <= reach ? nearest : null;
}

function pointAt(state, at) {
  const { layout, marks, given: data, pointer, readout, picture } = state;
  state.at = at;
  picture.classList.toggle("pressable", at !== null && headOf(state, marks[at]) !== undefined);
  if (!pointer) return;
  pointer.replaceChildren();
  readout.textContent = at === null ? state.hint : told(state, marks[at]);
  if (at === null) return;
  const { place, value } = marks[at];
  if (data.kind === "points") {
    pointer.append(svg("circle", { cx: layout.alongPlaces(place), cy: layout.alongValues(value), r: 3 * POINT }));
    return;
  }
  const start = layout.alongPlaces(place) - layout.slot / 2;
  const box = layout.isRows
    ? { x: layout.beside, width: layout.room, y: start, height: layout.slot }
    : { x: start, width: layout.slot, y: layout.top, height: layout.length };
  pointer.append(svg("rect", { ...box, rx: 3 }));
}

/** The layer and the head for which a mark stands, if a press on it chooses one. */
function headOf({ given: data }, { series, index }) {
  return data.selectable ? series.heads[index] : undefined;
}

function choose(state, at) {
  const head = headOf(state, state.marks[at]);
  if (head) send(state.tell, "choose", { layer: head[0], head: head[1] });
}

/** What a mark says, and what the others at its place say: before and after, for one. */
function told({ series, given: data }, { series: own, index, place }) {
  const write = (value) => fixed(value, data.decimals);
  const label = own.prefix + own.labels[index];
  if (data.kind === "points" || series.length === 1) return `${visible(label)}: ${write(own.values[index])}`;
  const parts = series.map((each) => `${each.name} ${write(each.values[each.places.indexOf(place)])}`);
  return `${visible(label)}: ${parts.join(", ")}`;
}

/** Of bars at the same place, a key goes to one: it says what the others are. */
function stepOf({ series, given: data }) {
  return series.length > 1 && data.kind !== "points" ? series.length : 1;
}
