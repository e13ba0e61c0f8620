// How heads become one vector: their outputs for the word in focus dock side by side, pass W_O, and the result is added
// to the residual stream. It covers a matrix of the same step, and has its own numbers, as shades.

/**
 * @typedef {object} JoinChange
 * @property {number} count of heads
 * @property {number} head the head in focus, from 0
 * @property {Strip} joined the heads' outputs side by side
 * @property {Strip | null} change W_O's output, if known
 * @property {Strip | null} stream the vector to add to, if recorded
 * @property {Strip | null} summed
 * @property {number[]} lengths norms of change, stream and summed
 *
 * @typedef {{numbers: Float32Array, limit: number}} Strip
 *
 * @typedef {object} JoinFrame a Frame, and
 * @property {number} docked how far the heads have joined, from 0 to 1
 * @property {number} mixed how far they have passed W_O
 * @property {number} dropped how far the result has fallen onto the stream
 */

// When the heads are side by side, when they have passed W_O, and when the result has fallen.
const [DOCKED, MIXED, DROPPED] = [0.42, 0.68, 0.92];
const LINES = 7; // of strips, one below the other, that fit
const [MIN_LINE, MAX_LINE] = [11, 34]; // pixels

TURNS.join = { read: readJoin, frame: joinFrame, draw: drawJoin };

/** @returns {JoinChange} */
function readJoin({ change }) {
  const { joined, change: made, stream, ...others } = change.parts;
  const strip = (sent) => sent && { ...sent, numbers: decodeShades(sent.shades, sent.limit, true) };
  const found = { ...others, joined: strip(joined), change: strip(made), stream: strip(stream) };
  return { ...found, summed: found.stream && sumOf(found.change, found.stream) };
}

/** The sum of two vectors, with the same colour scale. */
const sumOf = (one, other) => ({ ...one, numbers: one.numbers.map((value, index) => value + other.numbers[index]) });

/** @returns {JoinFrame} */
function joinFrame(change, moment) {
  const docked = part(moment, 0, DOCKED);
  const mixed = change.change ? part(moment, DOCKED, MIXED - DOCKED) : 0;
  const dropped = change.stream ? part(moment, MIXED, DROPPED - MIXED) : 0;
  const side = moment <= 0 ? "before" : "after";
  return { side, masked: "", numbers: null, docked, mixed, dropped, told: tellJoin(change, docked, mixed, dropped) };
}

function tellJoin({ count, lengths, change: made }, docked, mixed, dropped) {
  if (docked < 1) return messages("the output of {n} head", "the outputs of {n} heads", count);
  const [change, stream, summed] = lengths.map((length) => fixed(length, 2));
  if (!mixed) return message("side by side");
  if (mixed < 1) return message("W_O mixes them; full colour is now ±{limit}", { limit: fixed(made.limit, 2) });
  if (!dropped) return message("ΔE has norm {change}", { change });
  if (dropped < 1) return message("ΔE, norm {change}, is added to x, norm {stream}", { change, stream });
  return message("x + ΔE has norm {summed}", { summed });
}

// ---- Drawing -----------------------------------------------------------------------------------

function drawJoin(state, frame) {
  coverCells(state, joinedStrips);
  const { heads, mixer, change, stream, summed, plus, lines, line } = state.moving;
  const [docked, mixed, dropped] = [frame.docked, frame.mixed, frame.dropped].map(ease);
  // W_O's input fades in the first half of that time, its output appears in the second.
  const [into, out] = [part(mixed, 0, 0.5), part(mixed, 0.5, 0.5)];
  heads.forEach(({ strip, away }) => {
    const down = away * (1 - docked) + (lines.mixer - lines.heads) * into;
    setAttribute(strip, "transform", `translate(0 ${down})`);
    setAttribute(strip, "opacity", 1 - into);
  });
  if (mixer) setAttribute(mixer, "opacity", frame.docked);
  if (change) {
    const down = (lines.mixer - lines.change) * (1 - out) + (lines.stream - line - lines.change) * dropped;
    setAttribute(change, "transform", `translate(0 ${down})`);
    setAttribute(change, "opacity", out);
  }
  for (const each of [stream, plus]) if (each) setAttribute(each, "opacity", part(frame.dropped, 0, 0.3));
  if (summed) setAttribute(summed, "opacity", part(frame.dropped, 0.9, 0.1));
}

/** The heads on several lines above their common one, W_O, and below it its output. */
function joinedStrips(state, group) {
  const { turn, layout, marks, rowLabels } = state;
  const { joined, change, stream, summed, count, head } = turn.change;
  // The row labels do not apply to these lines.
  state.stage.hidden = [marks, rowLabels];
  for (const each of state.stage.hidden) each.style.visibility = "hidden";
  const height = Math.max(layout.pitchY * turn.after.rows.length, LINES * MIN_LINE);
  const line = Math.min(MAX_LINE, height / LINES);
  const lineAt = (number) => layout.top + number * line;
  const lines = { heads: lineAt(1.5), mixer: lineAt(2.5), change: lineAt(3.5), stream: lineAt(5), summed: lineAt(6) };
  const whole = { x: layout.left, width: layout.pitchX * turn.after.columns.length, height: line * 0.8 };
  const flat = (strip, y, role, name) => strip && flatStrip(state, strip, { ...whole, y }, role, name);
  const width = whole.width / count;
  const size = joined.numbers.length / count;
  const heads = Array.from({ length: count }, (_, index) => {
    const own = { ...joined, numbers: joined.numbers.subarray(index * size, (index + 1) * size) };
    const box = { ...whole, x: layout.left + index * width, width, y: lines.heads };
    const strip = flatStrip(state, own, box, index === head ? "value" : "plain", "");
    // Four heights, so that neighbours do not touch.
    return { strip, away: ((index % 4) - 1.5) * line };
  });
  const made = {
    ...{ heads, line, lines },
    mixer: change && mixerBox(state, { ...whole, y: lines.mixer }),
    change: flat(change, lines.change, "plain", "ΔE"),
    stream: flat(stream, lines.stream, "plain", "x"),
    summed: flat(summed, lines.summed, "plain", "x + ΔE"),
    plus: stream && plusSign(state, { x: whole.x + whole.width / 2, y: lines.stream - line * 0.1 }, line * 0.7),
  };
  const { mixer, plus } = made;
  group.append(...[...heads.map(({ strip }) => strip), made.stream, made.change, made.summed, mixer, plus].filter(Boolean));
  return made;
}

/** A horizontal vector with its name beside it. */
function flatStrip(state, { numbers, limit }, box, role, name) {
  const { theme, layout } = state;
  const strip = svg("g", {});
  const href = paintPixels(numbers, 1, numbers.length, scaleOf(theme, "signed"), limit).toDataURL();
  strip.append(svg("image", { ...box, href, preserveAspectRatio: "none", class: "pixels" }));
  strip.append(svg("rect", { ...box, class: `outline ${role}` }));
  const room = layout.left - 8;
  const place = { x: room, y: box.y + box.height / 2, fill: theme.ink, class: "side" };
  if (name) strip.append(svg("text", { ...place, "font-size": sizeOf(state, name, room) }, name));
  return strip;
}

/** The font size at which a name fits. */
function sizeOf({ layout, font }, name, room) {
  const context = pen();
  context.font = `${layout.labelSize}px ${font}`;
  return layout.labelSize * Math.min(1, room / context.measureText(name).width);
}

function plusSign({ theme }, { x, y }, size) {
  const sign = svg("g", {});
  sign.append(svg("circle", { cx: x, cy: y, r: size / 2, fill: theme.ground }));
  sign.append(svg("text", { x, y, "font-size": size, fill: theme.ink }, "⊕"));
  return sign;
}

function mixerBox({ theme, layout }, box) {
  const mixer = svg("g", {});
  mixer.append(svg("rect", { ...box, rx: 4, class: "mixer" }));
  const place = { x: box.x + box.width / 2, y: box.y + box.height / 2, fill: theme.ink };
  mixer.append(svg("text", { ...place, "font-size": layout.labelSize }, "W_O"));
  return mixer;
}
