// How a query and all keys make a row of scores: the query moves from key to key, and the products of their dimensions
// fall into the cell of the two. The keys hang in rows that are still empty.

/**
 * @typedef {object} ProductsChange
 * @property {number} row the query's
 * @property {Float32Array} query
 * @property {Float32Array} keys row by row
 * @property {Float32Array | null} biases one per key
 * @property {Float32Array} after the scores
 * @property {number} [onlyRow] of a matrix with too many cells, the only row sent
 * @property {string[]} names of the keys
 *
 * @typedef {object} ProductsFrame a Frame, and
 * @property {number} key at which the query is
 * @property {number} come how far it has come from the last key, from 0 to 1
 * @property {number} joined how far the two have become their products
 * @property {number} fallen how far the products have become the score
 * @property {number} others the opacity of the other rows
 */

// The first pair takes this fraction of the time; after all pairs, the other rows appear.
const [FIRST_PAIR, ALL_PAIRS] = [0.4, 0.88];
// Within a pair's time: when the query has arrived, when the products appear, and when they have fallen.
const [COME, JOINED, FALLEN] = [0.3, 0.55, 0.9];

TURNS.products = { read: readProducts, frame: productsFrame, draw: drawProducts };

/** @returns {ProductsChange} */
function readProducts({ values, columns, change }) {
  const { row, query, keys, biases, onlyRow, after } = change.parts;
  return {
    ...{ row, onlyRow, query: decodeNumbers(query), keys: decodeNumbers(keys), biases: biases && decodeNumbers(biases) },
    ...{ after: decodeNumbers(after ?? values), names: columns },
  };
}

/** The products of a query and a key by dimension, and their bias. */
function productsOf({ query, keys, biases }, key) {
  const products = Array.from(query, (value, dimension) => value * keys[key * query.length + dimension]);
  return biases ? [...products, biases[key]] : products;
}

/**
 * @param {ProductsChange} change
 * @param {number} moment from 0 to 1
 * @returns {ProductsFrame}
 */
function productsFrame(change, moment) {
  const { after, names } = change;
  const [key, time] = pairAt(moment, names.length);
  const others = part(moment, ALL_PAIRS, 1 - ALL_PAIRS);
  const frame = {
    ...{ side: moment <= 0 ? "before" : "after", masked: "\u2212∞", key, others },
    ...{ come: part(time, 0, COME), joined: part(time, COME, JOINED - COME), fallen: part(time, JOINED, FALLEN - JOINED) },
  };
  const start = startOf(change);
  const numbers = Float32Array.from(after, (value, cell) => {
    const isDone = cell >= start && cell < start + key + Number(frame.fallen === 1);
    return others || isDone ? value : NaN;
  });
  return { ...frame, numbers, blank: message("not computed yet"), told: tellProducts(change, frame, moment) };
}

/** The index of the query's first score. */
const startOf = ({ row, onlyRow, names }) => (onlyRow === undefined ? row * names.length : 0);

/** The query's current key, and the elapsed fraction of this pair's time. */
function pairAt(moment, count) {
  if (moment <= FIRST_PAIR || count === 1) return [0, part(moment, 0, count === 1 ? ALL_PAIRS : FIRST_PAIR)];
  const pairs = part(moment, FIRST_PAIR, ALL_PAIRS - FIRST_PAIR) * (count - 1);
  const key = Math.min(count - 1, 1 + Math.floor(pairs));
  return [key, Math.min(1, pairs + 1 - key)];
}

/** The number of the query and keys with the full colour. */
const largestOf = ({ query, keys }) => Math.max(...query.map(Math.abs), ...keys.map(Math.abs)) || 1;

function tellProducts(change, { key, fallen, others }, moment) {
  const { after, names, query, biases } = change;
  if (moment <= 0) return message("no score yet; full colour of Q and K is ±{limit}", { limit: fixed(largestOf(change), 2) });
  if (others) return message("the same for every query");
  const facts = { key: visible(names[key]), score: fixed(after[startOf(change) + key], 2) };
  if (fallen < 1) return messages("q · k of {key}: {n} product", "q · k of {key}: {n} products", query.length, facts);
  if (biases) return message("q · k of {key}, and the bias: {score}", facts);
  return message("q · k of {key}: the sum is {score}", facts);
}

// ---- Drawing -----------------------------------------------------------------------------------

function drawProducts(state, frame) {
  const { turn, layout, theme } = state;
  coverCells(state, hangingKeys);
  const { cells, query, keys, products, zone, target } = state.moving;
  const scale = scaleOf(theme, "signed");
  const { row, onlyRow, names } = turn.change;
  if (onlyRow !== undefined) state.drawing.querySelector(".cells").style.opacity = String(frame.others);
  cells.forEach((parts, index) => {
    const isOther = onlyRow === undefined && Math.floor(index / names.length) !== row;
    const opacity = Number.isNaN(frame.numbers[index]) ? 0 : isOther ? frame.others : 1;
    for (const each of parts) setAttribute(each, "opacity", opacity);
  });
  const { pitchX } = layout;
  const width = pitchX * STRIP;
  const at = Math.max(0, frame.key - 1 + ease(frame.come));
  const together = ease(frame.joined) * (pitchX / 2 - width);
  keys.forEach((strip, key) => {
    const isMet = key === frame.key;
    const left = key < frame.key || frame.others ? 0.15 : isMet ? 1 - frame.joined : 1;
    setAttribute(strip, "opacity", left * (1 - frame.others));
    setAttribute(strip, "transform", isMet ? `translate(${-together} 0)` : "");
  });
  setAttribute(query, "transform", `translate(${at * pitchX + together} 0)`);
  setAttribute(query, "opacity", frame.others ? 0 : (frame.key ? 1 : frame.come) * (1 - frame.joined));
  products.forEach((strip, key) => {
    setAttribute(strip, "visibility", key === frame.key && frame.joined && frame.fallen < 1 ? "visible" : "hidden");
  });
  const strip = products[frame.key];
  const fall = ease(frame.fallen);
  const [y, height] = [zone.y + (target.y - zone.y) * fall, zone.height + (target.height - zone.height) * fall];
  setAttribute(strip, "opacity", frame.joined);
  setAttribute(strip, "transform", `translate(0 ${y - (zone.y * height) / zone.height}) scale(1 ${height / zone.height})`);
}

const STRIP = 0.4; // of a column's width, so that two fit

/** The query, each key in its column, their products, and the cells into which these fall. */
function hangingKeys(state, group) {
  const { turn, layout } = state;
  const { row, query, keys, names } = turn.change;
  const count = turn.after.rows.length;
  // Use the larger empty part, above or below.
  const isAbove = row >= count / 2;
  const [from, to] = isAbove ? [0, row - 1] : [row + 1, count - 1];
  const [top, bottom] = [yOf(state, from) + 2, yOf(state, to) + layout.pitchY - 4];
  const zone = { y: top, height: bottom - top };
  const target = { y: yOf(state, row), height: layout.pitchY };
  const limit = largestOf(turn.change);
  const width = layout.pitchX * STRIP;
  const margin = (layout.pitchX / 2 - width) / 2;
  const place = (key, isLeft) => xOf(layout, key) + margin + (isLeft ? 0 : layout.pitchX / 2);
  const made = {
    keys: names.map((_, key) => {
      const numbers = keys.subarray(key * query.length, (key + 1) * query.length);
      return upright(state, numbers, { ...zone, x: place(key, false), width }, limit, "key");
    }),
    products: names.map((_, key) => {
      const numbers = Float32Array.from(productsOf(turn.change, key));
      const box = { ...zone, x: xOf(layout, key) + margin, width: layout.pitchX - 2 * margin };
      return upright(state, numbers, box, turn.after.limit, "plain");
    }),
    query: upright(state, query, { ...zone, x: place(0, true), width }, limit, "query"),
  };
  const cells = turn.change.onlyRow === undefined ? copiedCells(state, group) : cellsOfRow(state, group);
  group.append(...made.keys, made.query, ...made.products);
  return { ...made, cells, zone, target };
}

/** The query's scores as cells, for a matrix without any. */
function cellsOfRow(state, group) {
  const { turn, layout, theme } = state;
  const scale = scaleOf(theme, turn.after.palette);
  const { pitchX, pitchY } = layout;
  return Array.from(turn.change.after, (value, column) => {
    const place = { x: xOf(layout, column), y: yOf(state, turn.change.row), width: pitchX, height: pitchY };
    const cell = svg("rect", { ...place, fill: scale.fills[scale.index(value, turn.after.limit)] });
    group.append(cell);
    return [cell];
  });
}
