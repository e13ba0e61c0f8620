// Which token attends to which: two columns of tokens, and a line for every weight.

/**
 * @typedef {"query" | "key"} Side queries on the left, keys on the right
 * @typedef {{side: Side, positions: number[]}} Chosen some tokens of one side
 *
 * @typedef {object} HeadViewData from attention.figures.head_view.HeadView.payload()
 * @property {string} title
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} rowAxis
 * @property {string} columnAxis
 * @property {number[]} rowBreaks the starts of new groups
 * @property {number[]} columnBreaks
 * @property {number} rowStart the position of the first row
 * @property {number} columnStart
 * @property {{label: string, colours: [string, string]}[]} heads with colours for light and dark
 * @property {number[]} shown on at first
 * @property {string | Uint32Array} values for each head, row by row: little-endian uint16 in base64, or numbers
 * @property {number[] | null} [held] the heads with values, if not all
 * @property {{id: string, at: string} | null} [numbers] the ID and address of all heads' values
 * @property {number} levels the number that means weight 1
 * @property {string | null} hidden the mask of all heads, one bit per cell in base64
 * @property {number[]} thresholds in increasing order
 * @property {number} threshold the index of the initial one
 * @property {Chosen | null} pinned null: unchanged
 * @property {string} alt
 *
 * @typedef {object} Sums the weights between some tokens of one side and each token of the other
 * @property {Float64Array} totals the mean over the heads that are on
 * @property {Float64Array[]} parts each head's part of it
 * @property {boolean[]} hidden whether the mask separates them
 * @property {number} limit the value of a full bar
 *
 * @typedef {object} Stroke lines of one head and similar weight
 * @property {number} head
 * @property {number} weight
 * @property {number} width
 * @property {number[]} places indices of weights
 * @property {number} cost in hairlines
 */

const PITCH = 26; // from one token to the next
const MIN_PITCH = 14;
const MAX_HEIGHT = 1040; // tokens move closer to fit into this, while they stay legible
const GROUP_GAP = 12;
const BINS = 32; // lines of similar weight are drawn alike
const WIDEST = 6; // the width of weight 1
const FRAME_COST = 2_500; // hairlines drawn per frame
const CROWD = 1_000; // lines
const HAIRLINES = 250; // drawn in one call
const FAN = 0.6; // of the pitch: the lines of several heads start side by side
const MAX_PIXELS = 16_000; // the maximum height of a canvas
const SIDES = /** @type {Side[]} */ (["query", "key"]);

const stateOf = remembering(build);
const otherSide = (side) => (side === "query" ? "key" : "query");

/** @param {Mount} mount */
export default function (mount) {
  const state = stateOf(mount.parentElement);
  state.setStateValue = mount.setStateValue;
  state.ask = mount.ask;
  take(state, mount.data);
  state.observer.observe(state.root);
  state.observer.observe(state.lines); // the page's font changes the widths
  draw(state);
  return whenGone(state, () => {
    state.observer.disconnect();
    cancelAnimationFrame(state.frame);
  });
}

/** The parts that outlive every redraw, with the keyboard focus and pressed buttons. */
function build(parent) {
  const root = make("div", "root head-view");
  const title = make("div", "title");
  const legend = make("div", "legend");
  const [threshold, slider, shown] = buildThreshold();
  const clear = make("button", "plain", message("Unpin all"));
  const picture = make("div", "picture");
  const lines = make("div", "lines");
  const readout = make("div", "readout");
  const columns = { query: column("query"), key: column("key") };
  clear.type = "button";
  lines.setAttribute("aria-hidden", "true");
  picture.setAttribute("role", "group");
  legend.setAttribute("role", "toolbar");
  legend.setAttribute("aria-label", message("Heads"));
  readout.setAttribute("role", "status");
  const [back, front, few] = [make("canvas"), make("canvas"), make("canvas")];
  lines.append(back, front, few);
  picture.append(columns.query.element, lines, columns.key.element);
  const controls = make("div", "controls");
  controls.append(threshold, clear);
  // The readout stays visible beside the columns, and covers nothing.
  const seen = make("div");
  seen.append(picture, readout);
  root.append(title, legend, controls, seen);
  parent.append(root);
  const state = {
    ...{ root, title, slider, shown, clear, picture, lines, back, front, few, readout, columns },
    ...{ legend: { element: legend, buttons: [], reached: 0 } },
    asked: { heads: [], pin: [], threshold: [] },
    numbers: new Numbers(),
    ...{ on: new Set(), pins: { side: "query", positions: [] }, hovered: null, focused: null },
  };
  state.observer = new ResizeObserver(() => {
    if (root.clientWidth !== state.drawnWidth || lines.clientWidth !== state.drawnLines) draw(state);
  });
  listen(state);
  return state;
}

function buildThreshold() {
  const label = make("label", "threshold", `${message("Lines from")} `);
  const slider = /** @type {HTMLInputElement} */ (make("input"));
  const shown = make("span", "count");
  slider.type = "range";
  slider.min = "0";
  slider.step = "1";
  label.append(slider, shown);
  return [label, slider, shown];
}

/** @param {Side} side */
function column(side) {
  const element = make("div", `column ${side}`);
  const name = make("div", "axis");
  const list = make("div", "tokens");
  list.setAttribute("role", "toolbar");
  list.setAttribute("aria-orientation", "vertical");
  element.append(name, list);
  return { side, element, name, list, buttons: [], reached: 0 };
}

/** Take new data; the user's switches and pins stay while the heads and tokens do. */
function take(state, given) {
  const before = state.data;
  if (before === given) return;
  state.data = given;
  const heads = JSON.stringify(given.heads);
  const sides = [given.rows, given.rowBreaks, given.rowStart, given.columns, given.columnBreaks, given.columnStart];
  const tokens = JSON.stringify(sides);
  const isNew = takeWeights(state, given);
  state.hidden = given.hidden === null ? null : decodeBytes(given.hidden);
  // Do not redraw unchanged lines: an answer to a click must not make them flicker.
  if (isNew || state.headsId !== heads || state.tokensId !== tokens) state.paintedId = null;
  const isAnswer = before && state.headsId === heads && !isNews(state.asked.heads, before.shown, given.shown);
  if (!isAnswer) state.on = new Set(given.shown);
  const hasNewPins = isNews(state.asked.pin, before?.pinned, given.pinned);
  if (given.pinned && (hasNewPins || state.tokensId !== tokens)) state.pins = given.pinned;
  else if (state.tokensId !== tokens) state.pins = { side: "query", positions: [] };
  if (state.tokensId !== tokens) {
    state.hovered = null;
    fillColumn(state, "query", given.rows, given.rowBreaks, given.rowStart);
    fillColumn(state, "key", given.columns, given.columnBreaks, given.columnStart);
  }
  state.headsId = heads;
  state.tokensId = tokens;
  if (!isNews(state.asked.threshold, before?.threshold, given.threshold)) return;
  state.slider.max = String(given.thresholds.length - 1);
  state.slider.value = String(given.threshold);
}

/**
 * Whether to take a value from Python: not if it is unchanged, or answers one press while others are pending.
 * @param {string[]} asked values sent and not yet answered
 */
function isNews(asked, before, said) {
  const [was, is] = [before, said].map((value) => JSON.stringify(value));
  const answered = asked.indexOf(is);
  if (answered >= 0) asked.splice(0, answered + 1);
  else if (is !== was) asked.length = 0;
  return is !== was && asked.length === 0;
}

/** Tell Python the user's choice, and remember it as pending. */
function tell(state, name, value) {
  state.asked[name].push(JSON.stringify(value));
  state.setStateValue(name, value);
}

/** Take the weights, and return whether they have changed; weights already fetched stay. */
function takeWeights(state, { values, held, numbers, heads, rows, columns }) {
  state.numbers.take(numbers ?? null);
  const { found } = state.numbers;
  const newest = found ?? values;
  if (state.values === newest) return false;
  state.values = newest;
  state.held = new Set(found ? heads.keys() : (held ?? heads.keys()));
  state.weights = found || !held ? decodeWeights(newest) : inPlace(decodeWeights(newest), held, heads.length, rows.length * columns.length);
  return true;
}

function decodeWeights(values) {
  if (typeof values === "string") return new Uint16Array(decodeBytes(values).buffer);
  return values instanceof ArrayBuffer ? new Uint16Array(values) : values;
}

/** Place the weights of some heads among those of all. */
function inPlace(weights, held, n, size) {
  const all = new Uint16Array(n * size);
  held.forEach((head, order) => all.set(weights.subarray(order * size, (order + 1) * size), head * size));
  return all;
}

/** Draw the fetched lines, or say that they are unavailable. */
function showFound(state) {
  if (takeWeights(state, state.data)) state.paintedId = null;
  refresh(state);
}

/** @param {Side} side */
function fillColumn(state, side, labels, breaks, start) {
  const own = state.columns[side];
  const hadFocus = own.list.contains(state.root.getRootNode().activeElement);
  own.labels = labels;
  own.repeats = new Set(labels.filter((label, index) => labels.indexOf(label) < index));
  own.breaks = breaks;
  own.start = start;
  own.buttons = labels.map((label, index) => token(label, index, start, breaks.includes(index)));
  own.list.replaceChildren(...own.buttons);
  reach(own, Math.max(0, Math.min(own.reached, labels.length - 1)));
  state.focused = null;
  if (hadFocus) own.buttons[own.reached]?.focus({ preventScroll: true });
}

function token(label, index, start, isBreak) {
  const button = make("button", isBreak ? "token break" : "token");
  button.type = "button";
  button.dataset.index = String(index);
  button.title = message("{token}, position {position}", { token: label, position: start + index });
  const weight = make("span", "weight");
  weight.append(make("span", "number"), make("span", "bar"));
  button.append(make("bdi", "text", visible(label)), weight);
  return button;
}

// ---- Drawing -----------------------------------------------------------------------------------

function draw(state) {
  const { root, data } = state;
  const width = root.clientWidth;
  if (!width) return; // in a closed tab: the observer calls when it opens
  state.drawnWidth = width;
  state.theme = readTheme(root);
  state.pitch = pitchOf(Math.max(data.rows.length, data.columns.length));
  root.style.setProperty("--pitch", `${state.pitch}px`);
  root.style.setProperty("--gap", `${GROUP_GAP}px`);
  root.style.setProperty("--size", `${state.pitch >= 24 ? 15 : state.pitch - 3}px`);
  state.title.textContent = data.title;
  state.columns.query.name.textContent = data.rowAxis;
  state.columns.key.name.textContent = data.columnAxis;
  setAttribute(state.columns.query.list, "aria-label", data.rowAxis);
  setAttribute(state.columns.key.list, "aria-label", data.columnAxis);
  setAttribute(state.picture, "aria-label", data.alt);
  drawLegend(state);
  refresh(state);
}

const pitchOf = (count) => (count <= 40 ? PITCH : Math.max(MIN_PITCH, Math.floor(MAX_HEIGHT / count)));

/** A button for each head, if there are several. */
function drawLegend(state) {
  const { data, theme, legend } = state;
  const count = data.heads.length > 1 ? data.heads.length : 0;
  while (legend.buttons.length < count) {
    const button = make("button", "head");
    button.type = "button";
    button.dataset.index = String(legend.buttons.length);
    button.title = message("On or off. Shift or double click: only this one, or all again");
    button.append(make("span", "swatch"), make("bdi", "name"));
    legend.buttons.push(button);
    legend.element.append(button);
  }
  legend.buttons.splice(count).forEach((button) => button.remove());
  legend.element.hidden = count === 0;
  state.colours = data.heads.map(({ colours }) => colours[theme.isDark ? 1 : 0]);
  legend.buttons.forEach((button, index) => {
    button.style.setProperty("--head", state.colours[index]);
    button.lastChild.textContent = visible(data.heads[index].label);
  });
  reach(legend, Math.max(0, Math.min(legend.reached, count - 1)));
}

/** Update everything that depends on the heads that are on and on the threshold. */
function refresh(state) {
  const { legend, on, columns, held } = state;
  state.heads = [...on].filter((head) => held.has(head)).sort((a, b) => a - b);
  // Heads that are off arrive without weights.
  state.isWaiting = state.heads.length < on.size;
  if (state.isWaiting) state.numbers.get(state.ask, () => showFound(state));
  legend.buttons.forEach((button, index) => setAttribute(button, "aria-pressed", on.has(index)));
  for (const side of SIDES) {
    columns[side].buttons.forEach((button, index) => {
      setAttribute(button, "aria-label", describe(state, side, index));
    });
  }
  paintAll(state);
  show(state);
}

/** Update the parts that depend on the token pointed at, focused or pinned. */
function show(state) {
  const { pins, columns, clear } = state;
  const chosen = chosenOf(state);
  const sums = chosen && sumUp(state, chosen);
  for (const side of SIDES) {
    const isSource = chosen?.side === side;
    columns[side].buttons.forEach((button, index) => {
      const isPinned = pins.side === side && pins.positions.includes(index);
      setAttribute(button, "aria-pressed", isPinned);
      button.classList.toggle("chosen", isSource && chosen.positions.includes(index));
      writeWeight(state, button, chosen && !isSource ? sums : null, index);
    });
  }
  state.back.hidden = state.front.hidden = chosen !== null;
  state.few.hidden = chosen === null;
  if (chosen) paintFew(state, chosen);
  clear.classList.toggle("gone", pins.positions.length === 0);
  writeReadout(state, chosen, sums);
}

/**
 * The tokens whose lines are drawn: the one pointed at or focused (if pinned, all pinned ones), or null for all.
 * @returns {Chosen | null}
 */
function chosenOf({ hovered, focused, pins }) {
  const pointed = hovered ?? focused;
  const isPinned = pointed && pointed.side === pins.side && pins.positions.includes(pointed.index);
  if (pointed && !isPinned) return { side: pointed.side, positions: [pointed.index] };
  return pins.positions.length ? pins : null;
}

/** The number beside a token, and its bar with a piece for each head. */
function writeWeight({ heads, colours }, button, sums, index) {
  const [number, bar] = button.lastChild.children;
  button.classList.toggle("told", sums !== null);
  const isHidden = sums !== null && sums.hidden[index];
  number.textContent = isHidden ? "0" : sums ? sums.totals[index].toFixed(2) : "";
  button.classList.toggle("hidden", isHidden);
  button.classList.toggle("nothing", sums !== null && sums.totals[index] < 0.005);
  const stops = [];
  let end = 0;
  if (sums) {
    heads.forEach((head, order) => {
      const start = end;
      end += (100 * sums.parts[order][index]) / sums.limit;
      stops.push(`${colours[head]} ${start.toFixed(1)}% ${end.toFixed(1)}%`);
    });
    stops.push(`transparent ${end.toFixed(1)}%`);
  }
  const towards = button.parentNode.parentNode.classList.contains("query") ? "left" : "right";
  bar.style.background = stops.length > 1 && !isHidden ? `linear-gradient(to ${towards}, ${stops.join()})` : "";
}

/**
 * @param {Chosen} chosen
 * @returns {Sums}
 */
function sumUp({ data, weights, heads, hidden }, { side, positions }) {
  const [rows, columns] = [data.rows.length, data.columns.length];
  const isQuery = side === "query";
  const parts = heads.map((head) => {
    const part = new Float64Array(isQuery ? columns : rows);
    for (const position of positions) {
      for (let other = 0; other < part.length; other++) {
        const [row, key] = isQuery ? [position, other] : [other, position];
        part[other] += weights[(head * rows + row) * columns + key] / data.levels / heads.length;
      }
    }
    return part;
  });
  const totals = new Float64Array(isQuery ? columns : rows);
  for (const part of parts) part.forEach((value, other) => (totals[other] += value));
  const isHidden = (row, key) => hidden !== null && isSet(hidden, row * columns + key);
  const apart = Array.from(totals, (_, other) =>
    positions.every((position) => (isQuery ? isHidden(position, other) : isHidden(other, position))),
  );
  // The weights from several queries can sum to more than 1.
  return { totals, parts, hidden: apart, limit: Math.max(1, Math.ceil(Math.max(...totals) - 1e-3)) };
}

/** Whether a bit is set, counting from each byte's highest. */
const isSet = (bytes, index) => ((bytes[index >> 3] >> (7 - (index & 7))) & 1) === 1;

// ---- Lines -------------------------------------------------------------------------------------

function paintAll(state) {
  const { data, slider, heads, weights, theme, lines } = state;
  state.drawnLines = lines.clientWidth;
  const id = [heads, slider.value, theme.id, lines.clientWidth, devicePixelRatio].join();
  if (state.paintedId === id) return;
  state.paintedId = id;
  const bins = linesOf(state, null);
  paintMany(state, bins);
  const drawn = countOf(bins);
  const total = (heads.length * weights.length) / data.heads.length;
  const level = String(data.thresholds[slider.value]);
  const count = { drawn: whole(drawn), total: whole(total) };
  state.shown.replaceChildren(make("b", "", level), ` · ${message("{drawn} of {total}", count)}`);
  setAttribute(slider, "aria-valuetext", `${level}: ${message("{drawn} of {total} lines", count)}`);
}

const whole = (count) => count.toLocaleString(LANGUAGE);

/**
 * The lines to draw, as indices of weights, in bins of increasing weight.
 * @param {Chosen | null} chosen
 * @returns {number[][]}
 */
function linesOf({ data, weights, heads, slider }, chosen) {
  const [rows, columns] = [data.rows.length, data.columns.length];
  const lowest = Math.max(1, Math.ceil(data.thresholds[slider.value] * data.levels));
  const bins = Array.from({ length: BINS }, () => []);
  const every = (count) => Array.from({ length: count }, (_, index) => index);
  const wantedRows = chosen?.side === "query" ? chosen.positions : every(rows);
  const wantedColumns = chosen?.side === "key" ? chosen.positions : every(columns);
  for (const head of heads) {
    for (const row of wantedRows) {
      const start = (head * rows + row) * columns;
      for (const key of wantedColumns) {
        const weight = weights[start + key];
        if (weight >= lowest) bins[binOf(weight / data.levels)].push(start + key);
      }
    }
  }
  return bins;
}

// Finer for small weights, which are more common.
const binOf = (weight) => Math.min(BINS - 1, Math.floor(Math.sqrt(weight) * BINS));
const countOf = (bins) => bins.reduce((count, bin) => count + bin.length, 0);
const isCrowd = (bins) => countOf(bins) > CROWD;
const weightOf = (bin) => ((bin + 0.5) / BINS) ** 2;

/** Make a canvas as large as its place, and clear it. */
function clean({ lines }, canvas, { width, height, ratio }) {
  const size = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  canvas.style.height = lines.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** @param {Stroke[]} strokes the last one on top */
function paint(state, context, strokes, fade) {
  const { columns, heads, pitch, colours } = state;
  const across = state.lines.clientWidth;
  const [left, right] = SIDES.map((side) => middles(columns[side], pitch));
  const offsets = offsetsOf(heads, pitch);
  const cells = left.length * right.length;
  for (const { head, weight, width, places } of strokes) {
    context.globalAlpha = Math.min(1, 0.03 + weight ** fade);
    context.lineWidth = width;
    context.strokeStyle = colours[head];
    context.beginPath();
    for (const line of places) {
      const row = Math.floor((line - head * cells) / right.length);
      const key = line - head * cells - row * right.length;
      context.moveTo(0, left[row] + offsets[head]);
      context.lineTo(across, right[key] + offsets[head]);
    }
    context.stroke();
  }
}

/** Draw the lines of some tokens: alone, even small weights are visible. */
function paintFew(state, chosen) {
  const size = sizeOf(state);
  paint(state, clean(state, state.few, size), strokesOf(state, linesOf(state, chosen), size.ratio), 0.55);
}

/** Draw the strongest lines first, and the rest below them frame by frame, so that the page stays responsive. */
function paintMany(state, bins) {
  const size = sizeOf(state);
  const [front, back] = [clean(state, state.front, size), clean(state, state.back, size)];
  const waiting = strokesOf(state, bins, size.ratio);
  const next = () => waiting.splice(howMany(waiting));
  // Among thousands, small weights must not hide the others.
  const fade = isCrowd(bins) ? 1 : 0.75;
  paint(state, front, next(), fade);
  const work = () => {
    if (!waiting.length) return;
    paint(state, back, next(), fade);
    state.frame = requestAnimationFrame(work);
  };
  cancelAnimationFrame(state.frame);
  state.frame = requestAnimationFrame(work);
}

/** The index of the first stroke to draw in this frame, the last one always being drawn. */
function howMany(strokes) {
  let left = FRAME_COST;
  let start = strokes.length;
  while (start > 0 && left > 0) left -= strokes[--start].cost;
  return start;
}

/**
 * Strokes in order of weight; hairlines are drawn many at a time, which is much faster.
 * @returns {Stroke[]}
 */
function strokesOf({ data }, bins, ratio) {
  const thinnest = isCrowd(bins) ? 1 / ratio : 1;
  const cells = data.rows.length * data.columns.length;
  const strokes = [];
  bins.forEach((bin, index) => {
    const weight = weightOf(index);
    const width = Math.max(thinnest, WIDEST * weight);
    const isThin = width * ratio <= 1;
    let last = null;
    for (const line of bin) {
      const head = Math.floor(line / cells);
      if (last?.head !== head || !isThin || last.places.length === HAIRLINES) {
        strokes.push((last = { head, weight, width, places: [], cost: 0 }));
      }
      last.places.push(line);
      last.cost += isThin ? 1 : 5;
    }
  });
  return strokes;
}

function sizeOf({ lines, columns, pitch }) {
  const width = lines.clientWidth;
  const height = Math.max(
    ...SIDES.map((side) => columns[side].labels.length * pitch + columns[side].breaks.length * GROUP_GAP),
  );
  return { width, height, ratio: Math.min(window.devicePixelRatio || 1, MAX_PIXELS / height) };
}

/** The y positions at which each token's lines begin. */
function middles({ labels, breaks }, pitch) {
  let gaps = 0;
  return labels.map((_, index) => {
    if (breaks.includes(index)) gaps += GROUP_GAP;
    return gaps + (index + 0.5) * pitch;
  });
}

function offsetsOf(heads, pitch) {
  const step = Math.min(2.5, (FAN * pitch) / heads.length);
  return Object.fromEntries(heads.map((head, order) => [head, (order - (heads.length - 1) / 2) * step]));
}

// ---- Words -------------------------------------------------------------------------------------

/** A token's lines in words, for screen readers. */
function describe(state, side, index) {
  const { columns, heads } = state;
  const { labels, start: first } = columns[side];
  const start = message("{token}, position {position}", { token: labels[index], position: first + index });
  if (!heads.length) return start;
  const { totals } = sumUp(state, { side, positions: [index] });
  const top = totals.reduce((best, value, other) => (value > totals[best] ? other : best), 0);
  const isQuery = side === "query";
  if (!(totals[top] > 0)) return `${start}: ${isQuery ? message("attends to nothing") : message("nothing attends to it")}`;
  const found = { token: nameOf(columns[otherSide(side)], top), weight: totals[top].toFixed(2) };
  const most = isQuery ? message("attends most to {token} {weight}", found) : message("most attention from {token} {weight}", found);
  return `${start}: ${most}`;
}

/** A token's name, with its position if the name repeats. */
function nameOf({ labels, repeats, start }, index) {
  return repeats.has(labels[index]) ? `${visible(labels[index])} (${start + index})` : visible(labels[index]);
}

/** @param {Chosen | null} chosen */
function writeReadout(state, chosen, sums) {
  const { readout, columns, heads, drawnWidth, numbers } = state;
  const isHint = state.isWaiting || chosen === null || heads.length === 0;
  readout.classList.toggle("hint", isHint);
  if (state.isWaiting) {
    readout.replaceChildren(numbers.isLost ? message("Couldn't load these lines. Reload the page.") : "…");
    return;
  }
  if (isHint) {
    readout.replaceChildren(heads.length ? HINT : message("No head is on."));
    return;
  }
  const [own, other] = [columns[chosen.side], columns[otherSide(chosen.side)]];
  const isQuery = chosen.side === "query";
  const isOne = chosen.positions.length === 1;
  const give = isOne ? message("gives") : message("together give");
  const get = isOne ? message("gets") : message("together get");
  const verb = ` ${isQuery ? give : get} `;
  const order = Array.from(sums.totals.keys()).sort((a, b) => sums.totals[b] - sums.totals[a] || a - b);
  const top = order.slice(0, drawnWidth < 480 ? 3 : 6).filter((index) => sums.totals[index] >= 0.005);
  const said = top.map((index) => {
    const [name, number] = [word(other, index), make("b", "", sums.totals[index].toFixed(2))];
    return isQuery ? [name, " ", number] : [number, ` ${message("from")} `, name];
  });
  const rest = order.length - top.length;
  if (rest > 0) {
    const left = order.slice(top.length).reduce((sum, index) => sum + sums.totals[index], 0);
    const others = top.length ? messages("{n} other", "{n} others", rest) : message("any");
    const number = make("b", "", left.toFixed(2));
    said.push(isQuery ? [`${others} `, number] : [number, ` ${message("from")} ${others}`]);
  }
  const mean = heads.length > 1 ? `${messages("Mean of {n} head:", "Mean of {n} heads:", heads.length)} ` : "";
  readout.replaceChildren(mean, ...enumerate(own, chosen.positions), verb, ...joined(said), ".");
}

const HINT = message(
  "Point at a token to isolate its lines. Press to pin it.",
);

function word(column, index) {
  return make("bdi", column.side, nameOf(column, index));
}

function enumerate(column, positions) {
  const named = positions.slice(0, positions.length > 4 ? 3 : 4).map((index) => [word(column, index)]);
  if (positions.length > 4) named.push([messages("{n} more", "{n} more", positions.length - 3)]);
  return joined(named);
}

/** "a, b and c" */
function joined(parts) {
  return parts.flatMap((part, index) => {
    const before = index === 0 ? "" : index === parts.length - 1 ? ` ${message("and")} ` : ", ";
    return [before, ...part];
  });
}

// ---- Pointer and keyboard ----------------------------------------------------------------------

function listen(state) {
  const { root, columns, slider, clear, legend } = state;
  for (const side of SIDES) listenTo(state, columns[side]);
  root.onkeydown = (event) => press(state, event);
  slider.oninput = () => refresh(state);
  slider.onchange = () => tell(state, "threshold", Number(slider.value));
  clear.onclick = () => {
    const { buttons, reached } = columns[state.pins.side];
    buttons[reached].focus({ preventScroll: true }); // this button is removed, the focus stays
    pin(state, { side: state.pins.side, positions: [] });
  };
  legend.element.onclick = (event) => {
    const button = event.target.closest("[data-index]");
    if (button) toggleHead(state, Number(button.dataset.index), event);
  };
  legend.element.addEventListener("focusin", (event) => reach(legend, legend.buttons.indexOf(event.target)));
}

function listenTo(state, own) {
  const { list, side } = own;
  const indexOf = (event) => own.buttons.indexOf(event.target.closest("[data-index]"));
  const place = (index) => (index < 0 ? null : { side, index });
  list.onpointerover = (event) => {
    if (event.pointerType !== "touch") point(state, "hovered", place(indexOf(event)));
  };
  list.onpointerleave = () => point(state, "hovered", null);
  list.addEventListener("focusin", (event) => {
    reach(own, indexOf(event));
    point(state, "focused", event.target.matches(":focus-visible") ? place(indexOf(event)) : null);
  });
  list.addEventListener("focusout", () => point(state, "focused", null));
  list.onclick = (event) => {
    const index = indexOf(event);
    if (index >= 0) pin(state, { side, positions: toggled(state.pins, side, index) });
  };
}

function point(state, kind, place) {
  if (state[kind]?.side === place?.side && state[kind]?.index === place?.index) return;
  state[kind] = place;
  show(state);
}

/** The pins with one added or removed; those of the other column are dropped. */
function toggled(pins, side, index) {
  const before = pins.side === side ? pins.positions : [];
  const without = before.filter((position) => position !== index);
  return without.length < before.length ? without : [...before, index].sort((a, b) => a - b);
}

/** Mark the tokens immediately, and notify Python. */
function pin(state, pins) {
  if (!pins.positions.length && !state.pins.positions.length) return;
  state.pins = pins;
  show(state);
  tell(state, "pin", pins);
}

/** Switch a head on or off, or show it alone; if it already is alone, show all. */
function toggleHead(state, index, { shiftKey, detail }) {
  const isDouble = detail === 2; // the first click has already switched the head
  const before = isDouble ? state.before : new Set(state.on);
  state.before = before;
  if (shiftKey || isDouble) {
    const wasAlone = before.size === 1 && before.has(index);
    state.on = new Set(wasAlone ? state.data.heads.keys() : [index]);
  } else if (!state.on.delete(index)) {
    state.on.add(index);
  }
  refresh(state);
  if (state.isWaiting) state.numbers.again(state.ask, () => showFound(state));
  tell(state, "heads", [...state.on].sort((a, b) => a - b));
}

function reach(list, index) {
  if (index < 0) return;
  list.reached = index;
  list.buttons.forEach((button, other) => (button.tabIndex = other === index ? 0 : -1));
}

function press(state, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape" && state.pins.positions.length) {
    event.stopPropagation();
    return pin(state, { side: state.pins.side, positions: [] });
  }
  // Elsewhere on the page, the arrows change the step.
  if (/^(Arrow|Home|End|Page)/.test(event.key)) event.stopPropagation();
  const target = destination(state, event);
  if (!target) return;
  event.preventDefault();
  target.focus();
}

/** The button that a key leads to: within a column or the heads, and from one column to the other. */
function destination({ columns, legend }, { key, target }) {
  const lists = [columns.query, columns.key, legend];
  const list = lists.find(({ buttons }) => buttons.includes(target));
  if (!list) return null;
  const at = list.buttons.indexOf(target);
  const isColumn = list !== legend;
  const across = { ArrowLeft: columns.query, ArrowRight: columns.key }[key];
  if (isColumn && across) return across.buttons[Math.min(at, across.buttons.length - 1)];
  const last = list.buttons.length - 1;
  const to = {
    ...{ ArrowUp: at - 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowRight: at + 1 },
    ...{ Home: 0, End: last, PageUp: at - 10, PageDown: at + 10 },
  }[key];
  return to === undefined ? null : list.buttons[Math.max(0, Math.min(last, to))];
}
