// Turns between two matrices of the same shape: pure functions from a moment (0 to 1) to a frame, and drawing over the
// cells.

/**
 * @typedef {object} Change from attention.figures.matrix.Change
 * @property {"divide" | "mask" | "softmax" | "share"} operation
 * @property {number} divisor
 * @property {ArrayLike<number>} before row by row; -Infinity is masked
 * @property {ArrayLike<number>} after
 * @property {number} columns
 * @property {number} [onlyRow] of a matrix with too many cells, the only row sent
 *
 * @typedef {object} CellsFrame
 * @property {ArrayLike<number>} numbers shown in the cells; at 0 and 1 those of the matrices
 * @property {ArrayLike<number>} shades colour the cells
 * @property {"before" | "after"} side whose title, colours and number format apply
 * @property {number} filled the opacity of the colours, from 0 to 1
 * @property {ArrayLike<number> | null} bars heights, 1 for a full cell
 * @property {ArrayLike<number>} hatched how much of each cell is hatched, from the top
 * @property {string} masked the text of a masked cell
 * @property {string} told what the numbers are now; empty at both ends
 */

// When softmax begins to exponentiate the scores, to divide by the sums, and to fill the cells.
const [RAISE, SQUEEZE, FILL] = [0.12, 0.5, 0.85];
// The fraction of the time in which the hatching falls over one row.
const FALL = 0.4;

const OPERATIONS = { divide: dividing, mask: masking, softmax: weighing };
for (const operation of Object.keys(OPERATIONS)) TURNS[operation] = { read: readCells, frame: frameOf, draw: drawMovingCells };

/** @returns {Change} */
function readCells({ values, before, columns, change }) {
  const [from, to] = [before.values, change.parts.after ?? values].map(decodeNumbers);
  return { operation: change.operation, ...change.parts, before: from, after: to, columns: columns.length };
}

/**
 * @param {Change} change
 * @param {number} moment from 0 to 1
 * @returns {CellsFrame}
 */
function frameOf(change, moment) {
  const others = change.onlyRow === undefined ? {} : { blank: message("only the row in focus is shown") };
  return { ...cellsFrame(change, moment), ...others };
}

function cellsFrame(change, moment) {
  if (moment <= 0) return still(change.before, "before", "\u2212∞");
  if (moment >= 1) return still(change.after, "after", change.operation === "softmax" ? "0" : "\u2212∞");
  return OPERATIONS[change.operation](change, moment);
}

function still(numbers, side, masked) {
  const hatched = Float32Array.from(numbers, hides);
  return { numbers, shades: numbers, side, filled: 1, bars: null, hatched, masked, told: "" };
}

/** Each number is the score divided by a number that grows to the divisor; the colour scale shrinks with it. */
function dividing({ before, after, divisor }, moment) {
  const by = divisor ** moment;
  const numbers = Float32Array.from(before, (value) => value / by);
  const told = message("each number ÷ {divisor}", { divisor: by.toFixed(2) });
  const [side, shades] = moment < 0.5 ? ["before", before] : ["after", after];
  return { ...still(numbers, side, "\u2212∞"), shades, told };
}

/** The hatching falls row by row; a number is hidden once its middle is. */
function masking({ before, after, columns }, moment) {
  const lastRow = before.length / columns - 1;
  const start = (row) => (lastRow ? ((1 - FALL) * row) / lastRow : 0);
  const fallen = Float32Array.from(before, (_, cell) => part(moment, start(Math.floor(cell / columns)), FALL));
  const hatched = Float32Array.from(after, (value, cell) => hides(value) * Math.max(fallen[cell], hides(before[cell])));
  const numbers = Float32Array.from(after, (value, cell) => (fallen[cell] >= 0.5 ? value : before[cell]));
  const told = messages("{n} cell hidden", "{n} cells hidden", numbers.filter(hides).length);
  return { ...still(numbers, moment < 0.5 ? "before" : "after", "\u2212∞"), shades: before, hatched, told };
}

/** The colours of the scores fade, bars grow to eˣ relative to the row's largest, and are divided by their sum. */
function weighing({ before, after, columns }, moment) {
  const { raised, sums } = raise(before, columns);
  const first = still(before, "before", "\u2212∞");
  if (moment < RAISE) return { ...first, told: message("the scores x") };
  const hatched = first.hatched;
  if (moment < SQUEEZE) {
    const grown = part(moment, RAISE, SQUEEZE - RAISE);
    const bars = raised.map((value) => value * grown);
    const numbers = raised.map((value, cell) => (hides(before[cell]) ? -Infinity : value));
    const told = message("eˣ, with the largest x of each row set to 0");
    return { numbers, shades: before, side: "before", filled: 1 - grown, bars, hatched, masked: "0", told };
  }
  if (moment < FILL) {
    const squeezed = part(moment, SQUEEZE, FILL - SQUEEZE);
    const bars = raised.map((value, cell) => value / sums[Math.floor(cell / columns)] ** squeezed || 0);
    const numbers = bars.map((value, cell) => (hides(before[cell]) ? -Infinity : value));
    const told = message("eˣ, divided by a growing part of its row's sum");
    return { numbers, shades: after, side: "after", filled: 0, bars, hatched, masked: "0", told };
  }
  const bars = Float32Array.from(after, (value) => Math.max(0, value));
  const told = message("the weights: each row sums to 1");
  return { ...still(after, "after", "0"), filled: part(moment, FILL, 1 - FILL), bars, told };
}

/** exp(score − the row's largest), and each row's sum; masked scores give 0. */
function raise(scores, columns) {
  const raised = new Float32Array(scores.length);
  const sums = [];
  for (let start = 0; start < scores.length; start += columns) {
    const row = Array.from({ length: columns }, (_, column) => scores[start + column]);
    const highest = Math.max(...row);
    const powers = row.map((score) => (score === -Infinity ? 0 : Math.exp(score - highest)));
    raised.set(powers, start);
    sums.push(powers.reduce((total, power) => total + power, 0));
  }
  return { raised, sums };
}

const hides = (value) => Number(value === -Infinity);

// ---- Drawing -----------------------------------------------------------------------------------

function drawMovingCells(state, frame) {
  const { turn, theme } = state;
  coverCells(state, movingCells);
  const { palette, limit } = turn[frame.side];
  const scale = scaleOf(theme, palette);
  // Once masked cells are 0, the numbers are weights.
  const way = state.moving.ways[frame.masked === "0" ? "after" : frame.side];
  state.moving.group.setAttribute("font-size", way?.size ?? 10);
  state.moving.cells.forEach((cell, index) => {
    const step = scale.index(frame.shades[index], limit);
    const { height } = cell;
    const bar = frame.bars?.[index] ?? 0;
    setAttribute(cell.box, "fill", Number.isFinite(frame.shades[index]) ? scale.fills[step] : "none");
    setAttribute(cell.box, "fill-opacity", frame.filled);
    setAttribute(cell.bar, "y", cell.bottom - bar * height);
    setAttribute(cell.bar, "height", bar * height);
    setAttribute(cell.bar, "fill-opacity", frame.side === "after" ? 1 - frame.filled : 1);
    setAttribute(cell.cover, "height", frame.hatched[index] * height);
    setAttribute(cell.cover, "visibility", frame.hatched[index] ? "visible" : "hidden");
    if (!way) return;
    const value = frame.numbers[index];
    const text = Number.isNaN(value) ? "" : written({ masked: frame.masked }, value, way.write);
    if (cell.text.textContent !== text) cell.text.textContent = text;
    const isOnBox = frame.hatched[index] < 0.5 && frame.filled >= 0.5;
    const isOnBar = bar >= 0.5 && !isOnBox;
    setAttribute(cell.text, "fill", isOnBox && text ? scale.inks[step] : isOnBar ? state.moving.barInk : theme.ink);
  });
}

/** Elements for the parts of each cell, in the places of the cells below. */
function movingCells(state, group) {
  const { turn, layout, theme, font } = state;
  const weights = scaleOf(theme, "weights");
  const step = weights.index(0.5, 1);
  const { onlyRow, after, columns } = turn.change;
  const rows = Array.from({ length: after.length / columns }, () => svg("g", {}));
  const cells = Array.from(after, (_, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const cell = movingCell(state, onlyRow ?? row, column, weights.fills[step]);
    rows[row].append(cell.box, cell.bar, cell.cover, cell.text);
    return cell;
  });
  group.append(...rows);
  const ways = {
    before: numbersIn(layout, turn.before, turn.change.before, font),
    after: numbersIn(layout, turn.after, turn.change.after, font),
  };
  return { rows, cells, ways, barInk: weights.inks[step] };
}

const BAND = 44; // the height of a row that moves alone

/** The place and height of a moving row. */
function bandOf(state, row) {
  const { layout, turn } = state;
  if (turn.change.onlyRow === undefined) return [yOf(state, row), layout.pitchY];
  const height = Math.max(layout.pitchY, BAND);
  const y = yOf(state, row) + (layout.pitchY - height) / 2;
  return [Math.max(layout.top, Math.min(layout.height - EDGE - height, y)), height];
}

function movingCell(state, row, column, barFill) {
  const { layout } = state;
  const { pitchX, gap } = layout;
  const x = xOf(layout, column);
  const [y, pitchY] = bandOf(state, row);
  const box = { x: x + gap / 2, y: y + gap / 2, width: pitchX - gap, height: pitchY - gap, rx: cornerRadius(layout) };
  return {
    bottom: box.y + box.height,
    height: box.height,
    box: svg("rect", box),
    bar: svg("rect", { ...box, class: "blank", fill: barFill }),
    cover: svg("rect", { ...box, class: "blank", fill: `url(#${state.hatchId})` }),
    text: svg("text", { x: x + pitchX / 2, y: y + pitchY / 2 }),
  };
}
