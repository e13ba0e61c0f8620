// A matrix: numbers as coloured cells, labels at the sides, and a readout.

/**
 * @typedef {[number, number]} Place row and column, from 0
 *
 * @typedef {object} MatrixData from attention.figures.matrix.Matrix.payload(), and `selectable`
 * @property {string} name
 * @property {string} title
 * @property {"query" | "key" | "value" | "plain"} titleRole
 * @property {string} shape
 * @property {string} range
 * @property {string} beyond the note on cells beyond the colours' limit, which have a corner
 * @property {string[]} rows
 * @property {string[]} columns may be sent as a number, for indices from 0
 * @property {string} rowAxis
 * @property {string} columnAxis
 * @property {"query" | "key" | "value" | "plain"} rowRole
 * @property {"query" | "key" | "value" | "plain"} columnRole
 * @property {string} [values] little-endian float32 in base64, row by row; -Infinity is masked
 * @property {string} [shades] instead of values: one letter each, for drawing
 * @property {boolean} [areFew] whether there are fewer than usual
 * @property {{id: string, at: string} | null} [numbers] with shades: the ID and address of the numbers
 * @property {string | null} [selectedValue] with shades: the number of the selected cell, encoded like the values
 * @property {string} masked the text of a masked cell: −∞ before softmax, 0 after it
 * @property {"weights" | "signed"} palette
 * @property {number} limit the number with the full colour
 * @property {boolean} isPositive whether none of the numbers is negative
 * @property {number | null} focusRow
 * @property {number | null} focusColumn
 * @property {Place | null} selected
 * @property {number | null} blockWidth how many columns belong together
 * @property {boolean} hasTotalRow
 * @property {[string, number][]} rowGroups name and first row of each, such as two sentences
 * @property {[string, number][]} columnGroups
 * @property {string} blank the readout of a cell without a number
 * @property {boolean} showNumbers
 * @property {boolean} areCounts whether all numbers are integers
 * @property {string} later for cells right of the diagonal, drawn grey: what would hide them; empty if nothing
 * @property {string} hint
 * @property {string} alt
 * @property {StageChange | null} [change] how another matrix becomes this one
 * @property {boolean} selectable
 *
 * @typedef {object} Layout in CSS pixels
 * @property {boolean} isImage one picture instead of an element per cell
 * @property {number} left of the cells
 * @property {number} top of the cells
 * @property {number} pitchX from one column to the next
 * @property {number} pitchY from one row to the next
 * @property {number} gap between two cells
 * @property {number} totalGap above the row of totals
 * @property {number} width
 * @property {number} height
 * @property {boolean} isLong whether it scrolls in both directions
 * @property {number} labelSize
 * @property {"flat" | "slanted" | "upright"} columnStyle
 * @property {number} labelWidth the longest visible label
 * @property {{size: number, write: (value: number) => string} | null} numbers how they fit, or null
 */

const MAX_CELLS = 1200; // as elements; more would be slow
const MAX_PITCH = 56; // unless the page sets --matrix-pitch
const MAX_NUMBER = 14; // the largest font size of numbers, unless the page sets --matrix-number
const MIN_PITCH = 22; // of a cell with a number; a smaller picture scrolls
const SCROLLING_PITCH = 34;
const LOW_PITCH = 40;
const MIN_OF_BLOCKS = 3; // of a cell where columns belong together, on a phone: narrower ones look like a barcode
const MIN_SEEN = 10; // of a cell of a long text; a smaller picture scrolls in both directions
const MOST_OF_WINDOW = 0.6; // the height of a scrolling picture
const MIN_ABREAST = 10; // of a cell in one of several pictures side by side, which drops its numbers before it scrolls
const MAX_HEIGHT = 640;
const MAX_NUMBERED_HEIGHT = 760; // numbers need space
const EDGE = 5; // for the outlines
const TOTAL_GAP = 9;
const GROUP_ROOM = 24; // for the names of groups of rows and columns
const SLANT = 38;

const stateOf = remembering(build);

/** @param {Mount} mount */
export default function (mount) {
  const state = stateOf(mount.parentElement);
  state.setStateValue = mount.setStateValue;
  state.ask = mount.ask;
  take(state, mount.data);
  state.observer.observe(state.root);
  draw(state);
  revealSelected(state);
  whenLettersAreHere(state);
  const clean = whenGone(state, () => {
    state.observer.disconnect();
    halt(state);
  });
  return Object.assign(clean, { goBack: (names, done) => goBack(state, names, done) });
}

/** Measure labels again once the page's fonts are loaded (the bold one may be last). */
function whenLettersAreHere(state) {
  const faces = ["", "700 "].map((weight) => `${weight}15px ${state.font}`);
  if (!state.font || faces.every((face) => document.fonts.check(face))) return;
  Promise.all(faces.map((face) => document.fonts.load(face))).then(() => {
    state.measureId = null;
    state.cellsId = null;
    // By then, someone may have scrolled a long text.
    const { scrollLeft, scrollTop } = state.scroller;
    draw(state);
    state.scroller.scrollTo(scrollLeft, scrollTop);
  });
}

/** The parts that outlive every redraw, with the keyboard focus and pressed buttons. */
function build(parent) {
  const root = make("div", "root matrix");
  const title = make("div", "title");
  const later = make("div", "later");
  const scroller = make("div", "scroller");
  const picture = make("div", "picture");
  const readout = make("div", "readout");
  const caption = make("div", "caption");
  const tip = make("div", "tip");
  // The line below says the same.
  tip.setAttribute("aria-hidden", "true");
  tip.hidden = true;
  picture.tabIndex = 0;
  picture.setAttribute("role", "application");
  readout.setAttribute("role", "status");
  scroller.append(picture);
  const stage = buildStage({ canDraw: ({ drawnWidth }) => drawnWidth > 0, clear: uncoverCells, write: sayFrame });
  root.append(title, stage.root, later, scroller, readout, caption, tip);
  parent.append(root);
  const parts = { root, title, later, scroller, picture, stage, readout, caption, tip };
  const state = { ...parts, active: null, hovered: null, named: null, elsewhere: null };
  state.asked = new Numbers();
  state.observer = new ResizeObserver(() => {
    if (root.clientWidth !== state.drawnWidth) draw(state);
  });
  listen(state);
  onPointedElsewhere(parent, (place) => showElsewhere(state, place));
  listenToStage(state);
  markMore(scroller, [picture]);
  return state;
}

/** Take new data; a matrix of the same shape keeps the active cell. */
function take(state, given) {
  const before = state.data;
  const data = state.given === given ? before : dressed(given);
  state.given = given;
  if (data !== before && !haveSamePlaces(data, before)) state.hovered = null;
  state.asked.take(data.numbers ?? null);
  takeCells(state, data);
  if (!before || before.shape !== data.shape) state.active = null;
  if (data !== before) state.selected = data.selected;
  state.data = data;
  setAttribute(state.root, "data-name", data.name);
  takeTurn(state, before);
}

/** Whether the cell under a resting pointer still exists: an answer to a click must not end pointing. */
const haveSamePlaces = (data, before) =>
  ["name", "rows", "columns"].every((key) => JSON.stringify(data[key]) === JSON.stringify(before?.[key]));

/** Take the numbers; fetched ones replace their shades. */
function takeCells(state, data) {
  const cells = state.asked.found ?? data.shades ?? data.values;
  if (state.cells === cells) return;
  state.cells = cells;
  state.cellsId = null;
  if (cells === data.values) state.numbers = decodeNumbers(cells);
  else if (cells === data.shades) state.numbers = decodeShades(cells, data.limit, data.palette === "signed");
  else state.numbers = new Float32Array(cells);
}

function dressed(given) {
  const data = { ...given, columns: namesOf(given.columns) };
  return { ...data, ...marksInside(data) };
}

/** Drop marks outside the matrix, as from a link to another sentence. */
function marksInside({ rows, columns, focusRow, focusColumn, selected }) {
  const inside = (index, count) => (index !== null && index >= 0 && index < count ? index : null);
  const place = [inside(selected?.[0] ?? null, rows.length), inside(selected?.[1] ?? null, columns.length)];
  return {
    focusRow: inside(focusRow, rows.length),
    focusColumn: inside(focusColumn, columns.length),
    selected: place.includes(null) ? null : place,
  };
}

function draw(state) {
  const { root, data } = state;
  const width = root.clientWidth;
  if (!width) {
    state.drawnWidth = 0; // in a closed tab: the observer calls when it opens
    return;
  }
  state.drawnWidth = width;
  state.theme = readTheme(root);
  const style = getComputedStyle(root);
  state.font = style.fontFamily;
  state.maxNumber = Number(style.getPropertyValue("--matrix-number")) || MAX_NUMBER;
  state.labelSize = Number(style.getPropertyValue("--matrix-label")) || (width < 480 ? 13 : 15);
  // Rows as high as the space allows, for any number of columns.
  state.fills = style.getPropertyValue("--matrix-rows").trim() === "high";
  state.isAbreast = style.getPropertyValue("--matrix-abreast").trim() === "many";
  root.classList.toggle("abreast", state.isAbreast);
  // Beside another picture, the cells of both begin at the same height unless a label is long.
  state.leastHead = Number(style.getPropertyValue("--matrix-head")) || 0;
  state.layout = layOutWhole(state, width, style);
  state.scroller.style.setProperty("--kept", `${state.layout.left - EDGE}px`);
  state.scroller.style.maxHeight = state.layout.isLong ? `${Math.round(window.innerHeight * MOST_OF_WINDOW)}px` : "";
  state.scroller.classList.toggle("long", state.layout.isLong);
  drawCells(state);
  drawMarks(state);
  drawStage(state);
  setAttribute(state.picture, "aria-label", describe(data));
}

function describe({ alt, later, selectable }) {
  const sentence = [alt.replace(/[^.!?]$/, "$&."), later].filter(Boolean).join(" ");
  const keys = selectable
    ? message("Arrow keys move between cells, Enter chooses one.")
    : message("Arrow keys move between cells.");
  return `${sentence} ${keys}`;
}

// ---- Layout ------------------------------------------------------------------------------------

/**
 * A layout that shows all rows at once, where the page reserves space for other things.
 * @returns {Layout}
 */
function layOutWhole(state, width, style) {
  const rows = state.data.rows.length;
  let [layout, around] = [null, 0];
  do {
    state.maxPitch = pitchOf(rows, style, around);
    layout = layOut(state, width);
    // Smaller cells may turn labels upright, which need more height; with more space they never grow.
    around = Math.max(around, layout.height - rows * layout.pitchY);
  } while (pitchOf(rows, style, around) < state.maxPitch);
  return layout;
}

/** The largest cell that the page allows, given the space around the cells. */
function pitchOf(rows, style, around) {
  const said = ["--matrix-pitch", "--matrix-rest", "--matrix-least"].map((name) => Number(style.getPropertyValue(name)));
  const [pitch, rest, least] = said;
  const largest = pitch || MAX_PITCH;
  const lowest = Math.min(largest, least || MAX_PITCH);
  return rest ? Math.max(lowest, Math.min(largest, (window.innerHeight - rest - around) / rows)) : largest;
}

/** @returns {Layout} */
function layOut(state, width) {
  const { data } = state;
  const rows = data.rows.length;
  const columns = data.columns.length;
  const isImage = rows * columns > MAX_CELLS;
  const { labelSize } = state;
  // On a wall, labels are larger, and nothing shows a cut one's full name.
  const narrow = width < 320 ? 60 : width < 480 && isOfTokens(data) ? 84 : 116;
  const labelWidth = labelSize > 15 ? Math.min(10 * labelSize, 0.45 * width) : narrow;
  const measure = measurer(state, `700 ${labelSize}px`, labelWidth);
  const left = EDGE + 8 + widest(data.rows, measure);
  const widestColumn = widest(data.columns, measure);
  const columnStyle = (pitch) => styleOfColumns(data.columns, pitch);
  const overhang = (pitch) =>
    columnStyle(pitch) === "slanted" ? Math.max(0, widestColumn * cosine(SLANT) - pitch / 2 + 6) : 0;

  let pitchX = (width - left - EDGE - (data.rowGroups.length ? GROUP_ROOM : 0)) / columns;
  const { maxPitch } = state;
  const isSquare = Math.abs(rows - columns) <= 1;
  // Cells are at most as wide as high, unless they are low: a number needs more width than height.
  const isLow = isSquare && maxPitch < Math.max(LOW_PITCH, 2 * state.maxNumber) && data.showNumbers && !isImage;
  const most = isLow ? 1.5 * maxPitch : maxPitch;
  pitchX = Math.min(most, pitchX, (width - left - EDGE - overhang(Math.min(pitchX, most))) / columns);
  const least = state.isAbreast ? MIN_ABREAST : MIN_PITCH;
  // A phone scrolls rather than drop the numbers.
  const isBare = pitchX < least || (width < 480 && !state.isAbreast && !fitNumbers(state, snap(pitchX) - 2, MAX_NUMBER));
  if (!isImage && data.showNumbers && isBare) pitchX = Math.max(pitchX, SCROLLING_PITCH);
  if (isImage && data.blockWidth && width < 480) pitchX = Math.max(pitchX, MIN_OF_BLOCKS);
  const isLong = isOfTokens(data) && !data.showNumbers && !state.isAbreast && pitchX < MIN_SEEN;
  if (isLong) pitchX = MIN_SEEN;
  let pitchY = isLong ? pitchX : state.fills ? maxPitch : rowPitch(data, Math.min(pitchX, maxPitch), isImage, maxPitch);
  if (isSquare) pitchX = Math.min(pitchX, isLow ? 1.5 * pitchY : pitchY);
  // High rows may have edges between device pixels, and lose no height.
  [pitchX, pitchY] = [snap(pitchX), state.fills && !isLong ? pitchY : snap(pitchY)];

  const style = columnStyle(pitchX);
  const top = EDGE + Math.max(state.leastHead, headHeight(style, widestColumn, labelSize));
  const totalGap = data.hasTotalRow ? TOTAL_GAP : 0;
  const gap = isImage ? 0 : pitchX >= 12 ? 2 : 1;
  const layout = { isImage, isLong, left, top, pitchX, pitchY, gap, totalGap, columnStyle: style, labelSize, labelWidth };
  const [beside, below] = [data.rowGroups, data.columnGroups].map((groups) => (groups.length ? GROUP_ROOM : 0));
  layout.width = Math.ceil(left + columns * pitchX + Math.max(EDGE + beside, overhang(pitchX)));
  layout.height = Math.ceil(top + rows * pitchY + totalGap + EDGE + below);
  layout.maxNumber = state.maxNumber;
  layout.numbers = numbersIn(layout, data, state.numbers, state.font);
  return layout;
}

/** Whether both rows and columns are tokens. */
const isOfTokens = ({ rowRole, columnRole }) => rowRole !== "plain" && columnRole !== "plain";

/** The most precise number format that fits into the cells. */
function numbersIn({ isImage, pitchX, pitchY, gap, maxNumber }, data, numbers, font) {
  if (!data.showNumbers || isImage) return null;
  return fitNumbers({ data, numbers, font, maxNumber }, pitchX - gap, pitchY - gap - 4);
}

/** As high as wide, but high enough for labels if there is space, and never higher than a screen. */
function rowPitch(data, pitchX, isImage, maxPitch) {
  const rows = data.rows.length;
  const readableRow = Math.min(maxPitch, rows <= 16 ? 26 : rows <= 40 ? 15 : 0);
  const isNumbered = data.showNumbers && !isImage;
  const lowest = isNumbered ? Math.max(readableRow, Math.min(MIN_PITCH, Math.max(MIN_ABREAST, maxPitch))) : readableRow;
  return Math.max(lowest, Math.min(pitchX, (isNumbered ? MAX_NUMBERED_HEIGHT : MAX_HEIGHT) / rows));
}

/** Round to whole device pixels, which look even; very small cells cannot afford that. */
function snap(pitch) {
  const ratio = window.devicePixelRatio || 1;
  return pitch * ratio >= 4 ? Math.floor(pitch * ratio) / ratio : pitch;
}

function styleOfColumns(labels, pitch) {
  if (labels.every((label) => /^\d{1,4}$/.test(label))) return "flat";
  return pitch >= 24 ? "slanted" : "upright";
}

function headHeight(style, widestColumn, labelSize) {
  if (style === "flat") return labelSize + 9;
  const tilt = style === "slanted" ? SLANT : 90;
  return widestColumn * sine(tilt) + labelSize * cosine(tilt) + 9;
}

const sine = (degrees) => Math.sin((degrees * Math.PI) / 180);
const cosine = (degrees) => Math.cos((degrees * Math.PI) / 180);

/** The most precise number format that fits into every cell, or null. */
function fitNumbers(state, room, height) {
  const { data, numbers, font, maxNumber } = state;
  const context = pen();
  const fitting = waysOf(data).find(({ size, write }) => {
    if (size > Math.min(height, maxNumber)) return false;
    context.font = `${size}px ${font}`;
    // More space between numbers than between digits: a row of numbers must not look like one.
    const most = room - APART * size;
    return numbers.every((value) => Number.isNaN(value) || context.measureText(written(data, value, write)).width <= most);
  });
  return fitting ?? null;
}

/** The text in a cell. */
const written = ({ masked }, value, write) => (value === -Infinity ? masked : write(value));

/** The short form of a number between −1 and 1: .04 */
function bare(value, decimals = 2) {
  return Math.abs(value) < 0.995 ? fixed(value, decimals).replace("0.", ".") : fixed(value, 1);
}

/** At least two significant digits, for numbers on both sides of ten: −24, 8.3 */
const twoDigits = (value) => fixed(value, Math.abs(value) < 9.95 ? 1 : 0);

const APART = 0.45; // of the font size: the space between two numbers, besides the gap between their cells

const ways = (sizes, write) => sizes.map((size) => ({ size, write }));
const decimals = (count) => (value) => fixed(value, count);
const [LARGE, MIDDLE, SMALL] = [[28, 24, 22, 21, 20], [18, 16, 14, 13, 12], [13, 12, 11, 10]];
const COUNT_WAYS = ways([...LARGE, ...MIDDLE, 11, 10], decimals(0));
// All numbers with the same decimals if possible.
const SIGNED_WAYS = [
  // Large before precise: these must be legible from the back of a room.
  ...ways(LARGE, decimals(2)),
  ...ways(LARGE, decimals(1)),
  ...ways(MIDDLE, decimals(2)),
  ...ways(SMALL, decimals(1)),
  ...ways(SMALL, twoDigits),
];

/** The number formats for a matrix, best first; each gives the largest at least two digits. */
function waysOf({ areCounts, palette, limit }) {
  if (areCounts) return COUNT_WAYS;
  if (palette === "signed" && limit >= 1) return SIGNED_WAYS;
  const [count, short] = [decimalsOf(limit), (value) => bare(value, decimalsOf(limit))];
  return [...ways(LARGE, decimals(count)), ...ways(LARGE, short), ...ways(MIDDLE, decimals(count)), ...ways(SMALL, short)];
}

// ---- Labels ------------------------------------------------------------------------------------

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** @returns {(label: string) => {text: string, width: number}} shortens a label to fit, and caches the result */
function measurer(state, style, limit) {
  const id = `${style} ${state.font} ${limit}`;
  if (state.measureId !== id) {
    state.measureId = id;
    state.fitted = new Map();
  }
  const { fitted, font } = state;
  return (label) => {
    if (!fitted.has(label)) {
      const context = pen();
      context.font = `${style} ${font}`;
      fitted.set(label, shorten(context, visible(label), limit));
    }
    return fitted.get(label);
  };
}

/** Shorten a label to 16 letters and the width; emoji and accents are never split. */
function shorten(context, label, limit) {
  const width = (text) => context.measureText(text).width;
  let text = label;
  if (label.length > 6) {
    const letters = Array.from(graphemes.segment(label.slice(0, 200)), ({ segment }) => segment);
    let kept = Math.min(letters.length, 16);
    const cut = () => (kept < letters.length ? `${letters.slice(0, kept - 1).join("")}…` : label);
    while (kept > 2 && width(cut()) > limit) kept -= 1;
    text = cut();
  }
  return { text, width: Math.min(limit, width(text)) };
}

function widest(labels, measure) {
  return labels.reduce((most, label) => Math.max(most, measure(label).width), 0);
}

/**
 * Which labels fit: every n-th, with priority for those pointed at.
 * @param {number} count
 * @param {number} pitch
 * @param {number} room that one label needs
 * @param {number[]} pointedAt
 */
function shownLabels(count, pitch, room, pointedAt) {
  let every = 1;
  while (every * pitch < room) every *= 2;
  const isFree = (index, others) => others.every((other) => Math.abs(other - index) * pitch >= room);
  const shown = [];
  for (const index of pointedAt) if (isFree(index, shown)) shown.push(index);
  const regular = [];
  for (let index = 0; index < count; index += every) if (isFree(index, shown)) regular.push(index);
  return regular.concat(shown);
}

// ---- Drawing -----------------------------------------------------------------------------------

const xOf = (layout, column) => layout.left + column * layout.pitchX;
const yOf = (state, row) =>
  state.layout.top + row * state.layout.pitchY + (isTotal(state.data, row) ? state.layout.totalGap : 0);
const isTotal = (data, row) => data.hasTotalRow && row === data.rows.length - 1;
const valueAt = (state, [row, column]) => state.numbers[row * state.data.columns.length + column];

/** The texts around the picture, for the matrix or the current frame of its turn. */
function writeFrame(state) {
  const { layout, title, later, caption, theme } = state;
  const { data, frame } = seen(state);
  setText(later, data.later);
  later.hidden = !data.later;
  title.style.maxWidth = `${Math.max(layout.width, 280)}px`;
  if (frame) holdTitle(state);
  else title.style.minHeight = "";
  title.replaceChildren(...titleOf(data, theme));
  const range = make("span", "range", frame?.told || data.range);
  const axes = { rows: data.rowAxis, columns: data.columnAxis };
  // A frame's cells have no corners.
  const beyond = data.beyond && !frame ? [" · ", make("span", "beyond", data.beyond)] : [];
  const sketch = toldOfSketch(data.areFew && !state.asked.found);
  const few = sketch ? [" · ", sketch] : [];
  // There, neighbouring columns are drawn as their mean.
  const narrow = layout.isImage && layout.pitchX < 1 ? [" · ", message("cells narrower than a pixel are blended")] : [];
  caption.replaceChildren(`${message("rows: {rows} · columns: {columns}", axes)} · `, range, ...beyond, ...narrow, ...few);
}

function titleOf(data, theme) {
  return [make("bdi", `name ${data.titleRole}`, data.title), make("span", "shape", data.shape), legend(data, theme)];
}

/** During a turn, reserve the title's final height, so that nothing below jumps. */
function holdTitle({ title, data, theme }) {
  if (title.style.minHeight) return;
  title.replaceChildren(...titleOf(data, theme));
  title.style.minHeight = `${title.offsetHeight}px`;
}

/** The legend: a strip of colours with its limits. */
function legend(data, theme) {
  const { fills } = scaleOf(theme, data.palette);
  const strip = make("span", "strip");
  const isWeights = data.palette === "weights";
  // Of a signed scale, only the half in use.
  const first = data.isPositive && !isWeights ? Math.floor(fills.length / 2) : 0;
  const stops = Array.from({ length: 17 }, (_, i) => fills[first + Math.round((i / 16) * (fills.length - 1 - first))]);
  strip.style.background = `linear-gradient(to right, ${stops.join()})`;
  const count = data.limit < 1 ? decimalsOf(data.limit) : 1;
  const highest = isWeights && data.limit === 1 ? "1" : fixed(data.limit, count);
  const [least, most] = data.beyond ? ["≤ ", "≥ "] : ["", ""];
  const lowest = data.isPositive || isWeights ? "0" : least + fixed(-data.limit, count);
  const ends = [lowest, isWeights ? highest : most + highest];
  const element = make("span", "legend");
  element.setAttribute("aria-hidden", "true");
  element.append(make("span", "", ends[0]), strip, make("span", "", ends[1]));
  return element;
}

/** Draw the cells unless they are unchanged: a cell being pressed must not be replaced by the answer to the press before. */
function drawCells(state) {
  const { data, layout, theme, picture } = state;
  const id = JSON.stringify([data.later, data.palette, data.limit, theme.id, data.shape, data.hasTotalRow, layout]);
  if (state.cellsId === id) return;
  state.cellsId = id;
  const { width, height } = layout;
  // The viewBox lets the printed picture shrink.
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  state.hatchId ??= `hatch-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
  drawing.append(hatching(state.hatchId));
  drawing.append(layout.isImage ? cellsAsImage(state) : cellsAsElements(state));
  if (data.later && layout.isImage) drawing.append(laterCells(state));
  state.marks = svg("g", { class: "marks" });
  state.pointer = svg("rect", { class: "pointer", rx: 3, visibility: "hidden" });
  state.activeMark = svg("rect", { class: "active", rx: 6, visibility: "hidden" });
  state.columnLabels = svg("g", { class: "heads" });
  state.rowLabels = svg("g", { class: "labels" });
  // When both slide, labels must not be visible beside the corner.
  state.corner = svg("rect", { class: "ground", width: layout.left - 4, height: layout.top - 4 });
  drawing.append(state.marks, state.columnLabels, state.rowLabels, state.corner, state.pointer, state.activeMark);
  picture.replaceChildren(drawing);
  state.drawing = drawing;
}

/** The fill of masked cells, with a unique id, because a page has many drawings. */
function hatching(id) {
  const pattern = svg("pattern", {
    ...{ id, width: 5, height: 5 },
    ...{ patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  });
  pattern.append(svg("rect", { class: "hatch-ground", width: 5, height: 5 }));
  pattern.append(svg("rect", { class: "hatch-line", width: 1.2, height: 5 }));
  const definitions = svg("defs", {});
  definitions.append(pattern);
  return definitions;
}

function cellsAsElements(state) {
  const { data, layout } = state;
  const group = svg("g", { class: "cells", "font-size": layout.numbers?.size ?? 10 });
  data.rows.forEach((_, row) => {
    data.columns.forEach((_, column) => group.append(...cell(state, row, column)));
  });
  return group;
}

function cell(state, row, column) {
  const { data, layout, theme } = state;
  const { pitchX, pitchY, gap } = layout;
  const value = valueAt(state, [row, column]);
  const scale = scaleOf(theme, data.palette);
  const isLater = Boolean(data.later) && column > row;
  const step = scale.index(isLater ? PALE * value : value, data.limit);
  const isMasked = !Number.isFinite(value);
  const isBlank = Number.isNaN(value);
  const [x, y] = [xOf(layout, column), yOf(state, row)];
  const box = svg("rect", {
    ...{ x: x + gap / 2, y: y + gap / 2, width: pitchX - gap, height: pitchY - gap, rx: cornerRadius(layout) },
    ...{ fill: isBlank ? "none" : isMasked ? `url(#${state.hatchId})` : scale.fills[step], class: isBlank ? "blank" : "" },
    ...{ "data-row": row, "data-column": column },
  });
  const ink = isMasked ? theme.ink : scale.inks[step];
  const parts = isLater ? [hatchedBelow(state, box), box] : [box];
  if (layout.numbers && !isBlank) {
    const middle = { x: x + pitchX / 2, y: y + pitchY / 2, fill: ink };
    parts.push(svg("text", middle, written(data, value, layout.numbers.write)));
  }
  if (isBeyond(data, value)) parts.push(svg("path", { class: "corner", d: cornerOf(state, row, column), fill: ink }));
  return parts;
}

const PALE = 0.35; // the opacity of a cell that would be hidden

/** The hatching of a cell that would be hidden, seen through its pale colour. */
function hatchedBelow(state, box) {
  const hatched = box.cloneNode();
  for (const name of ["data-row", "data-column"]) hatched.removeAttribute(name);
  hatched.setAttribute("fill", `url(#${state.hatchId})`);
  box.classList.add("later");
  return hatched;
}

/** The cells that would be hidden right of the diagonal, as one element. */
function laterCells(state) {
  const { data, layout } = state;
  const right = xOf(layout, data.columns.length);
  const rows = data.rows.map((_, row) => {
    const left = xOf(layout, row + 1);
    return left < right ? `M${left} ${yOf(state, row)}H${right}v${layout.pitchY}H${left}z` : "";
  });
  return svg("path", { class: "later", d: rows.join(""), fill: `url(#${state.hatchId})` });
}

/** Small cells have small radii. */
const cornerRadius = ({ pitchX, pitchY }) => Math.min(3, Math.min(pitchX, pitchY) / 8);

/** Whether a number exceeds the limit of the colours. */
const isBeyond = (data, value) => data.palette === "signed" && Number.isFinite(value) && Math.abs(value) > data.limit;

/** A triangle in a cell's upper right corner; if the cell is too narrow, it extends to the left. */
function cornerOf(state, row, column) {
  const { layout } = state;
  const size = Math.min(7, Math.max(3, layout.pitchX / 4), Math.max(1.5, layout.pitchY));
  const [right, top] = [xOf(layout, column + 1) - layout.gap / 2, yOf(state, row) + layout.gap / 2];
  return `M${right - size} ${top}h${size}v${size}z`;
}

/** The corners of all cells of a picture, as one element. */
function cornersOfAll(state) {
  const { data, numbers } = state;
  const columns = data.columns.length;
  const marks = [];
  numbers.forEach((value, index) => {
    if (isBeyond(data, value)) marks.push(cornerOf(state, Math.floor(index / columns), index % columns));
  });
  return svg("path", { class: "corner", d: marks.join(""), fill: state.theme.ink });
}

/** One pixel per cell, enlarged: as fast for 512 × 512 as for 8 × 384. */
function cellsAsImage(state) {
  const { data, layout, theme, numbers } = state;
  const columns = data.columns.length;
  const body = data.rows.length - (data.hasTotalRow ? 1 : 0);
  const group = svg("g", { class: "cells" });
  for (const [from, to] of [[0, body], [body, data.rows.length]]) {
    if (from === to) continue;
    const isShrunk = Math.min(layout.pitchX, layout.pitchY) * devicePixelRatio < 1;
    // Shrinking should smooth columns, but not rows that have space: repeat those.
    const times = isShrunk ? Math.min(MOST_REPEATS, Math.max(1, Math.round(layout.pitchY))) : 1;
    const part = repeatRows(numbers.subarray(from * columns, to * columns), columns, times);
    const canvas = paintPixels(part, times * (to - from), columns, scaleOf(theme, data.palette), data.limit);
    const box = {
      ...{ x: layout.left, y: yOf(state, from) },
      ...{ width: columns * layout.pitchX, height: (to - from) * layout.pitchY },
    };
    if (part.includes(-Infinity)) group.append(svg("rect", { ...box, fill: `url(#${state.hatchId})` }));
    group.append(svg("image", {
      ...{ ...box, href: canvas.toDataURL(), preserveAspectRatio: "none" },
      // Without smoothing, shrinking would drop whole rows.
      ...{ class: isShrunk ? "" : "pixels" },
    }));
    group.append(svg("rect", { ...box, class: "frame" }));
  }
  if (data.beyond) group.append(cornersOfAll(state));
  return group;
}

const MOST_REPEATS = 16; // of a row: sharp enough then

/** Repeat each row. */
function repeatRows(numbers, columns, times) {
  if (times === 1) return numbers;
  const repeated = new Float32Array(numbers.length * times);
  for (let row = 0; row < repeated.length / columns; row++) {
    const start = Math.floor(row / times) * columns;
    repeated.set(numbers.subarray(start, start + columns), row * columns);
  }
  return repeated;
}

/** Labels, separators and outlines, which change with the selection. */
function drawMarks(state) {
  const { data, marks, rowLabels } = state;
  const pointedAt = (focus, axis) => {
    const named = state.named?.axis === axis ? state.named.index : null;
    const places = [named, cellPointedAt(state)?.[axis], state.selected?.[axis], focus];
    return [...new Set(places.filter((index) => index !== null && index !== undefined))];
  };
  const rows = pointedAt(data.focusRow, 0);
  if (data.hasTotalRow && !rows.includes(data.rows.length - 1)) rows.push(data.rows.length - 1);
  marks.replaceChildren(...separators(state), ...outlines(state));
  state.columnLabels.replaceChildren(...labelsOfColumns(state, pointedAt(data.focusColumn, 1)));
  rowLabels.replaceChildren(...labelsOfRows(state, rows));
  slideLabels(state);
  showPointer(state);
  showActive(state);
  writeReadout(state);
  tellPointed(state.root, ownPointedAt(state));
}

function labelsOfColumns(state, pointedAt) {
  const { data, layout } = state;
  const ground = svg("rect", { class: "ground", width: layout.width, height: layout.top - 4 });
  const lit = litAt(state, 1);
  const measure = measurer(state, `700 ${layout.labelSize}px`, layout.labelWidth);
  const isFlat = layout.columnStyle === "flat";
  const room = isFlat ? widest(data.columns, measure) + 8 : layout.labelSize + 1;
  const labels = shownLabels(data.columns.length, layout.pitchX, room, pointedAt).map((column) => {
    const middle = xOf(layout, column) + layout.pitchX / 2;
    const y = layout.top - 7;
    const look = lookOf(pointedAt.includes(column), column === lit);
    if (isFlat) {
      const place = { x: middle, y, "text-anchor": "middle" };
      return label(state, data.columns[column], data.columnRole, look, place);
    }
    const isSlanted = layout.columnStyle === "slanted";
    const x = middle + (isSlanted ? -2 : layout.labelSize * 0.34);
    const transform = `translate(${x} ${y}) rotate(${isSlanted ? -SLANT : -90})`;
    return label(state, data.columns[column], data.columnRole, look, { transform });
  });
  return [ground, ...labels];
}

/** The row (axis 0) or column (axis 1) pointed at, by a cell or by its label. */
const litAt = (state, axis) => (state.named?.axis === axis ? state.named.index : cellPointedAt(state)?.[axis]);

function labelsOfRows(state, pointedAt) {
  const { data, layout } = state;
  const ground = svg("rect", { class: "ground", width: layout.left - 4, height: layout.height });
  const rows = shownLabels(data.rows.length, layout.pitchY, layout.labelSize, pointedAt);
  const labels = rows.map((row) => {
    const y = yOf(state, row) + layout.pitchY / 2;
    const place = { x: layout.left - 8, y, "text-anchor": "end", "dominant-baseline": "central" };
    const look = lookOf(pointedAt.includes(row), row === litAt(state, 0));
    return label(state, data.rows[row], data.rowRole, look, place);
  });
  return [ground, ...labels];
}

const lookOf = (isMarked, isLit) => (isMarked ? " bold" : "") + (isLit ? " lit" : "");

function label(state, whole, role, look, place) {
  const { layout } = state;
  const { text } = measurer(state, `700 ${layout.labelSize}px`, layout.labelWidth)(whole);
  return svg("text", { ...place, class: `label ${role}${look}`, "font-size": layout.labelSize }, text);
}

/** A label in full, with its position if it repeats. */
function fullName(labels, index) {
  const name = visible(labels[index]);
  return labels.indexOf(labels[index]) === labels.lastIndexOf(labels[index]) ? name : `${name} (${index})`;
}

function separators(state) {
  const { data, layout } = state;
  const bottom = yOf(state, data.rows.length - 1) + layout.pitchY;
  const lines = [];
  for (let column = data.blockWidth ?? Infinity; column < data.columns.length; column += data.blockWidth) {
    const x = xOf(layout, column);
    lines.push(svg("line", { class: "separator", x1: x, x2: x, y1: layout.top, y2: bottom }));
  }
  if (data.hasTotalRow) {
    const y = yOf(state, data.rows.length - 1) - layout.totalGap / 2;
    const right = xOf(layout, data.columns.length);
    lines.push(svg("line", { class: "separator", x1: layout.left, x2: right, y1: y, y2: y }));
  }
  return lines.concat(groupMarks(state));
}

/** Rules between groups of rows and columns, and the groups' names beyond the last cell. */
function groupMarks(state) {
  const { data, layout } = state;
  const [left, top] = [layout.left, layout.top];
  const right = xOf(layout, data.columns.length);
  const bottom = yOf(state, data.rows.length - 1) + layout.pitchY;
  const rule = (x1, y1, x2, y2) => svg("line", { class: "separator", x1, y1, x2, y2 });
  const name = (text, x, y) => svg("text", { class: "group", x, y, "font-size": layout.labelSize }, text);
  const marks = [];
  for (const [text, from, to] of spans(data.rowGroups, data.rows.length)) {
    const [start, end] = [top + from * layout.pitchY, top + to * layout.pitchY];
    if (from > 0) marks.push(rule(left, start, right, start));
    marks.push(rule(right + 6, start + 2, right + 6, end - 2), name(text, right + 17, (start + end) / 2));
  }
  for (const [text, from, to] of spans(data.columnGroups, data.columns.length)) {
    const [start, end] = [xOf(layout, from), xOf(layout, to)];
    if (from > 0) marks.push(rule(start, top, start, bottom));
    marks.push(rule(start + 2, bottom + 6, end - 2, bottom + 6), name(text, (start + end) / 2, bottom + 18));
  }
  return marks;
}

/** @returns {[string, number, number][]} name, first index, and end */
const spans = (groups, count) => groups.map(([name, from], index) => [name, from, groups[index + 1]?.[1] ?? count]);

function outlines(state) {
  const { data, selected } = state;
  const { focusRow: row, focusColumn: column } = data;
  const [lastRow, lastColumn] = [data.rows.length - 1, data.columns.length - 1];
  const marks = [];
  if (row !== null) {
    marks.push(outline(state, [row, 0], [row, lastColumn], `focus ${data.rowRole}`, 1.5));
  }
  if (column !== null) {
    marks.push(outline(state, [0, column], [lastRow, column], `focus thin ${data.columnRole}`, 1.5));
  }
  if (isInside(data, selected)) marks.push(outline(state, selected, selected, "selected", 0));
  return marks;
}

/** A rectangle around cells, with a margin. */
function outline(state, from, to, className, outside) {
  return svg("rect", { ...boxOf(state, from, to, outside), class: `outline ${className}`, rx: 4 });
}

function boxOf(state, [fromRow, fromColumn], [toRow, toColumn], outside) {
  const { layout } = state;
  const [x, y] = [xOf(layout, fromColumn), yOf(state, fromRow)];
  const width = xOf(layout, toColumn + 1) - x;
  const height = yOf(state, toRow) + layout.pitchY - y;
  // Cells of a pixel or two would vanish inside their outline.
  const [growX, growY] = [width, height].map((size) => outside + Math.max(0, (6 - size) / 2));
  return { x: x - growX, y: y - growY, width: width + 2 * growX, height: height + 2 * growY };
}

const isInside = (data, place) =>
  place !== null && place !== undefined && place[0] < data.rows.length && place[1] < data.columns.length;

// ---- The readout -------------------------------------------------------------------------------

/**
 * A cell's number; undefined if only its shade is known (which does tell masked and missing cells).
 * @param {Place} place
 */
function numberAt(state, place) {
  const { data, asked } = state;
  const { frame } = seen(state);
  if (frame?.numbers) return numberOfFrame(state, frame, place);
  const drawn = valueAt(state, place);
  if (!data.shades || asked.found || !Number.isFinite(drawn)) return drawn;
  return String(place) === String(data.selected) ? decodeNumbers(data.selectedValue)[0] : undefined;
}

function numberOfFrame({ data, turn }, { numbers }, [row, column]) {
  const { onlyRow } = turn.change;
  if (onlyRow === undefined) return numbers[row * data.columns.length + column];
  return row === onlyRow ? numbers[column] : NaN;
}

/** Request the numbers of a picture that came as shades. */
function askNumbers(state) {
  state.asked.again(state.ask, () => showFound(state));
}

function showFound(state) {
  takeCells(state, state.data);
  draw(state);
  writeReadout(state);
}

function exact(value, { blank, masked }) {
  if (value === -Infinity) return message("{number} (masked)", { number: masked });
  if (!Number.isFinite(value)) return blank;
  return precise(value);
}

/** Update the texts around the picture and the readout for the current frame. */
function sayFrame(state) {
  writeFrame(state);
  writeReadout(state);
}

function writeReadout(state) {
  const { data, readout } = state;
  const place = state.hovered ?? (isFocused(state) ? state.active : null) ?? elsewhere(state) ?? state.selected;
  const isHint = !isInside(data, place);
  showTip(state);
  readout.classList.toggle("hint", isHint);
  if (isHint) {
    readout.replaceChildren(data.hint);
    return;
  }
  readout.title = `${data.rows[place[0]]} ${data.columns[place[1]]}`;
  readout.replaceChildren(...told(state, place));
}

/** A cell in words. A class's screens do not request numbers because one person points. */
function told(state, place) {
  const { data } = state;
  const hasNumber = place !== state.elsewhere || numberAt(state, place) !== undefined;
  return [
    make("bdi", data.rowRole, fullName(data.rows, place[0])),
    isOfTokens(data) ? " → " : " · ",
    make("bdi", data.columnRole, fullName(data.columns, place[1])),
    ...(hasNumber ? [": ", spoken(state, place)] : []),
  ];
}

/** The cell pointed at, here or elsewhere. */
const cellPointedAt = (state) => ownPointedAt(state) ?? elsewhere(state);

/** The cell pointed at here: with the pointer, the keyboard or the last touch. */
function ownPointedAt(state) {
  const isActive = isKeyed(state) || (state.isTouched && isFocused(state));
  const place = state.hovered ?? (isActive ? state.active : null);
  return isInside(state.data, place) ? place : null;
}

/** The cell that someone points at on another screen. */
const elsewhere = (state) => (isInside(state.data, state.elsewhere) ? state.elsewhere : null);

function showElsewhere(state, place) {
  if (String(place) === String(state.elsewhere)) return;
  state.elsewhere = place;
  // An undrawn picture will show it when drawn.
  if (state.drawnWidth) drawMarks(state);
}

/** Show the number of the cell pointed at beside it, where it hides neither the cell nor its labels. */
function showTip(state) {
  const { tip, root, drawing, layout } = state;
  if (state.named) return showName(state);
  const place = cellPointedAt(state);
  tip.hidden = !place;
  if (!place) return;
  tip.replaceChildren(...told(state, place));
  const [origin, frame] = [root.getBoundingClientRect(), drawing.getBoundingClientRect()];
  const cell = boxOf(state, place, place, 0);
  const size = { width: tip.offsetWidth, height: tip.offsetHeight };
  const { x, y } = besideOf(
    { left: frame.left + cell.x, top: frame.top + cell.y, width: cell.width, height: cell.height },
    size,
    { left: state.scroller.getBoundingClientRect().left + layout.left, top: frame.top + layout.top },
  );
  tip.style.transform = `translate(${Math.round(x - origin.left)}px, ${Math.round(y - origin.top)}px)`;
}

/** Show the full name of the label pointed at, beside its first visible cell. */
function showName(state) {
  const { tip, root, data, layout, scroller, named } = state;
  const [labels, role] = named.axis ? [data.columns, data.columnRole] : [data.rows, data.rowRole];
  tip.hidden = false;
  tip.replaceChildren(make("bdi", role, fullName(labels, named.index)));
  const [origin, frame] = [root.getBoundingClientRect(), state.drawing.getBoundingClientRect()];
  const box = scroller.getBoundingClientRect();
  const [left, top] = [box.left + layout.left + TIP_GAP, box.top + layout.top + TIP_GAP];
  const x = named.axis ? frame.left + xOf(layout, named.index) + layout.pitchX + TIP_GAP : left;
  const y = named.axis ? top : frame.top + yOf(state, named.index) + (layout.pitchY - tip.offsetHeight) / 2;
  const most = document.documentElement.clientWidth - 4 - tip.offsetWidth;
  tip.style.transform = `translate(${Math.round(Math.min(most, x) - origin.left)}px, ${Math.round(y - origin.top)}px)`;
}

const TIP_GAP = 8; // between a cell and its tooltip

/** The place of a box beside a cell: right, left, below or above, the first that fits and leaves the labels visible. */
function besideOf(cell, { width, height }, cells) {
  const [right, bottom] = [cell.left + cell.width + TIP_GAP, cell.top + cell.height + TIP_GAP];
  const [widest, lowest] = [document.documentElement.clientWidth - 4 - width, innerHeight - 4 - height];
  const x = Math.max(cells.left, Math.min(widest, cell.left));
  const y = Math.max(cells.top, Math.min(lowest, cell.top + (cell.height - height) / 2));
  const places = [
    { x: right, y, fits: right <= widest },
    { x: cell.left - TIP_GAP - width, y, fits: cell.left - TIP_GAP - width >= cells.left },
    { x, y: bottom, fits: bottom <= lowest },
    { x, y: cell.top - TIP_GAP - height, fits: cell.top - TIP_GAP - height >= cells.top },
  ];
  return places.find(({ fits }) => fits) ?? places[2];
}

/** A cell's number, or the text shown until it is there. */
function spoken(state, place) {
  const value = numberAt(state, place);
  if (value !== undefined) return make("b", "", exact(value, saidOf(state)));
  state.asked.get(state.ask, () => showFound(state));
  return state.asked.isLost ? message("Couldn't read this number. Reload the page.") : "…";
}

/** The readout of cells without numbers of their own. */
function saidOf(state) {
  const { frame, masked } = seen(state);
  return { blank: frame?.blank ?? state.data.blank, masked };
}

function showPointer(state) {
  const place = isInside(state.data, state.hovered) ? state.hovered : ownPointedAt(state) ? null : elsewhere(state);
  setAttribute(state.pointer, "visibility", place ? "visible" : "hidden");
  if (place) move(state.pointer, boxOf(state, place, place, 0));
}

function showActive(state) {
  const isShown = isKeyed(state) && isInside(state.data, state.active);
  setAttribute(state.activeMark, "visibility", isShown ? "visible" : "hidden");
  if (isShown) move(state.activeMark, boxOf(state, state.active, state.active, 3));
}

function move(mark, box) {
  for (const [name, value] of Object.entries(box)) mark.setAttribute(name, value);
}

const isFocused = ({ picture }) => picture.matches(":focus");
const isKeyed = ({ picture }) => picture.matches(":focus-visible");

// ---- Pointer and keyboard ----------------------------------------------------------------------

function listen(state) {
  const { picture, scroller } = state;
  picture.onpointerenter = () => askNumbers(state);
  picture.onpointermove = (event) => hover(state, placeUnder(state, event), labelUnder(state, event));
  picture.onpointerdown = (event) => {
    state.isTouched = event.pointerType === "touch";
  };
  picture.onpointerleave = () => hover(state, null);
  picture.onclick = (event) => {
    const place = placeUnder(state, event);
    if (place === null) return;
    state.active = place;
    select(state, place);
  };
  picture.onkeydown = (event) => press(state, event);
  picture.onfocus = () => {
    askNumbers(state);
    state.active ??= state.selected ?? [state.data.focusRow ?? 0, state.data.focusColumn ?? 0];
    drawMarks(state);
  };
  picture.onblur = () => drawMarks(state);
  scroller.onscroll = () => {
    slideLabels(state);
    showTip(state);
  };
}

/** @returns {Place | null} */
function placeUnder(state, event) {
  const { data, layout, drawing } = state;
  if (labelUnder(state, event)) return null;
  const box = drawing.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left - layout.left) / layout.pitchX);
  const y = event.clientY - box.top;
  const last = data.rows.length - 1;
  const isOnTotal = data.hasTotalRow && y >= yOf(state, last);
  const row = isOnTotal ? last : Math.floor((y - layout.top) / layout.pitchY);
  const isOnCell = row >= 0 && column >= 0 && y < yOf(state, row) + layout.pitchY;
  return isOnCell && isInside(data, [row, column]) ? [row, column] : null;
}

/**
 * The label under the pointer, of a row (axis 0) or a column (axis 1), wherever they have scrolled.
 * @returns {{axis: 0 | 1, index: number} | null}
 */
function labelUnder(state, event) {
  const { data, layout, drawing, scroller } = state;
  const [frame, box] = [drawing.getBoundingClientRect(), scroller.getBoundingClientRect()];
  const above = box.top + layout.top - event.clientY;
  const isBeside = event.clientX < box.left + layout.left;
  if (isBeside === above > 0) return null;
  // A slanted label leans to the right.
  const lean = isBeside || layout.columnStyle !== "slanted" ? 0 : above / Math.tan((SLANT * Math.PI) / 180);
  const column = Math.floor((event.clientX - lean - frame.left - layout.left) / layout.pitchX);
  const isOnTotal = data.hasTotalRow && event.clientY - frame.top >= yOf(state, data.rows.length - 1);
  const row = isOnTotal ? data.rows.length - 1 : Math.floor((event.clientY - frame.top - layout.top) / layout.pitchY);
  const [axis, index] = isBeside ? [0, row] : [1, column];
  const isThere = index >= 0 && index < (axis ? data.columns : data.rows).length;
  return isThere ? { axis, index } : null;
}

function hover(state, place, named = null) {
  if (String(place) === String(state.hovered) && JSON.stringify(named) === JSON.stringify(state.named)) return;
  state.hovered = place;
  state.named = named;
  if (place) state.elsewhere = null;
  drawMarks(state);
}

/** Mark the cell immediately, and notify Python. */
function select(state, place) {
  const { data } = state;
  if (data.selectable) {
    state.selected = place;
    state.setStateValue("select", { matrix: data.name, row: place[0], column: place[1] });
  }
  drawMarks(state);
}

function press(state, event) {
  if (event.altKey || event.metaKey) return;
  const { data } = state;
  const [row, column] = state.active ?? [0, 0];
  const isChoice = event.key === "Enter" || event.key === " ";
  const last = [data.rows.length - 1, data.columns.length - 1];
  const target = isChoice ? [row, column] : destination(event, row, column, ...last);
  if (target === null) return;
  // Elsewhere on the page, the arrows change the step.
  event.preventDefault();
  event.stopPropagation();
  state.hovered = null;
  state.active = target;
  if (isChoice && !event.repeat) return select(state, target);
  drawMarks(state);
  reveal(state, state.active);
}

/** The cell that a key leads to, as in an ARIA grid; null for other keys. */
function destination(event, row, column, lastRow, lastColumn) {
  const page = 10;
  switch (event.key) {
    case "ArrowLeft": return [row, Math.max(0, column - 1)];
    case "ArrowRight": return [row, Math.min(lastColumn, column + 1)];
    case "ArrowUp": return [Math.max(0, row - 1), column];
    case "ArrowDown": return [Math.min(lastRow, row + 1), column];
    case "Home": return [event.ctrlKey ? 0 : row, 0];
    case "End": return [event.ctrlKey ? lastRow : row, lastColumn];
    case "PageUp": return [Math.max(0, row - page), column];
    case "PageDown": return [Math.min(lastRow, row + page), column];
    default: return null;
  }
}

// ---- Scrolling ----------------------------------------------------------------------------------

/** Keep the labels of rows and columns visible. */
function slideLabels({ scroller, rowLabels, columnLabels, corner }) {
  const { scrollLeft: x, scrollTop: y } = scroller;
  rowLabels.setAttribute("transform", `translate(${x} 0)`);
  columnLabels.setAttribute("transform", `translate(0 ${y})`);
  corner.setAttribute("transform", `translate(${x} ${y})`);
  // Cover cells that slide under the labels; before scrolling, an outline may extend to the left or up.
  rowLabels.firstChild.setAttribute("visibility", x > 0 ? "visible" : "hidden");
  columnLabels.firstChild.setAttribute("visibility", y > 0 ? "visible" : "hidden");
  corner.setAttribute("visibility", y > 0 ? "visible" : "hidden");
}

/** Scroll to the selected cell at first; later the scroll position is the user's. */
function revealSelected(state) {
  const { selected, focusRow, shape } = state.data;
  const cell = selected ?? (focusRow === null ? null : [focusRow, 0]);
  const id = JSON.stringify([cell, shape]);
  if (!cell || !state.layout || state.revealedId === id) return;
  state.revealedId = id;
  const { scroller, layout } = state;
  if (layout.isLong) {
    scroller.scrollTop = yOf(state, cell[0]) - (scroller.clientHeight + layout.top) / 2;
    scroller.scrollLeft = xOf(layout, cell[1]) - (scroller.clientWidth + layout.left) / 2;
  }
  reveal(state, cell);
}

function reveal(state, cell) {
  const { scroller, layout, data } = state;
  const y = yOf(state, cell[0]);
  const [above, below] = [scroller.scrollTop + layout.top, scroller.scrollTop + scroller.clientHeight];
  if (y < above) scroller.scrollTop -= above - y;
  else if (y + layout.pitchY + EDGE > below) scroller.scrollTop += y + layout.pitchY + EDGE - below;
  const x = xOf(layout, cell[1]);
  if (cell[1] === data.columns.length - 1) {
    scroller.scrollLeft = scroller.scrollWidth; // its label leans to the right
    return;
  }
  const [from, to] = [scroller.scrollLeft + layout.left, scroller.scrollLeft + scroller.clientWidth];
  if (x < from) scroller.scrollLeft -= from - x;
  else if (x + layout.pitchX + EDGE > to) scroller.scrollLeft += x + layout.pitchX + EDGE - to;
}
