// How values add up to a head's output: each row of V shrinks by its weight, and falls into the sum of all rows, the last
// row of the matrix.

// When all rows have shrunk, when all have fallen, and how long each takes to fall.
const [SHRUNK, ALL_IN] = [0.4, 0.9];
const ONE_FALL = 0.16;
const READABLE = 0.5; // of a row's height, so that its numbers are legible

TURNS.share = { read: readShares, frame: sharesFrame, draw: drawShares };

/** @returns {Change & {weights: Float32Array}} "before" holds V's numbers, and none in the sum's row */
function readShares(data) {
  return { ...readCells(data), weights: decodeNumbers(data.change.parts.weights) };
}

/**
 * @returns {CellsFrame & {sizes: number[], fallen: number[], back: number}} for each row how much is left of it and how far
 *   it has fallen; at the end, all rows return
 */
function sharesFrame({ before, after, columns, weights }, moment) {
  const shrunk = part(moment, 0, SHRUNK);
  const back = part(moment, ALL_IN, 1 - ALL_IN);
  const last = Math.max(1, weights.length - 1);
  // The lowest row first, which is next to the sum.
  const start = (row) => SHRUNK + ((ALL_IN - SHRUNK - ONE_FALL) * (weights.length - 1 - row)) / last;
  const fallen = Array.from(weights, (_, row) => (back ? 0 : part(moment, start(row), ONE_FALL)));
  const sizes = Array.from(weights, (weight) => (back ? 1 : 1 + (weight - 1) * shrunk));
  const sums = sumsOf(after, columns, (row) => row < weights.length && fallen[row] === 1);
  const nIn = fallen.filter((far) => far === 1).length;
  const numbers = Float32Array.from(before, (value, cell) => {
    const row = Math.floor(cell / columns);
    if (back) return after[cell];
    if (row < weights.length) return value * sizes[row];
    return nIn === weights.length ? after[cell] : nIn ? sums[cell % columns] : NaN;
  });
  const side = shrunk < 1 ? "before" : "after";
  const told = tellShares(moment, shrunk, nIn, back);
  const blank = message("not computed yet");
  return { ...still(numbers, side, back ? "0" : ""), sizes, fallen, back, told, blank };
}

/** The sum of some rows; masked ones have no share. */
function sumsOf(numbers, columns, isIn) {
  const sums = new Array(columns).fill(0);
  numbers.forEach((value, cell) => {
    if (isIn(Math.floor(cell / columns)) && !hides(value)) sums[cell % columns] += value;
  });
  return sums;
}

function tellShares(moment, shrunk, nIn, back) {
  if (moment <= 0) return message("the values, each with its weight");
  if (shrunk < 1) return message("each row shrinks to its weight");
  if (back) return message("the sum of all rows: the head's output");
  if (!nIn) return message("the rows fall into the sum");
  return messages("{n} row is in the sum", "{n} rows are in the sum", nIn);
}

// ---- Drawing -----------------------------------------------------------------------------------

function drawShares(state, frame) {
  drawMovingCells(state, frame);
  const { layout, moving, turn } = state;
  const { weights } = turn.change;
  moving.bars ??= weightBars(state);
  const target = yOf(state, weights.length);
  weights.forEach((_, row) => {
    const [size, fall] = [frame.sizes[row], ease(frame.fallen[row])];
    const y = yOf(state, row);
    const down = (y + layout.pitchY) * (1 - size) + (target - y) * fall;
    const each = moving.rows[row];
    setAttribute(each, "transform", `translate(0 ${down}) scale(1 ${size})`);
    setAttribute(each, "opacity", frame.back || Number(fall < 1));
    each.classList.toggle("squeezed", size < READABLE);
  });
}

/** A bar for each row's weight, below its name. */
function weightBars(state) {
  const { turn, layout, theme, moving } = state;
  const fill = scaleOf(theme, "weights").fills.at(-1);
  const right = layout.left - 8;
  const bars = Array.from(turn.change.weights, (weight, row) => {
    const width = weight * (right - EDGE);
    return svg("rect", { x: right - width, y: yOf(state, row) + layout.pitchY - 4, width, height: 3, fill, class: "blank" });
  });
  moving.group.append(...bars);
  return bars;
}
