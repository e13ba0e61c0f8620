// The stage on which a picture turns from the one before: playback and controls. Each kind of turn has a file of its own,
// which adds itself to TURNS. The picture itself does not change.

/**
 * @typedef {object} StageChange from attention.figures.transition.Turn
 * @property {string} operation the kind of turn
 * @property {string} told what changes and what does not
 * @property {string} cameFrom the name of the previous step's picture
 * @property {object | null} before its data, under the names of the picture's own; null if there is nothing to play
 * @property {object | null} parts further data of the turn
 *
 * @typedef {object} Kind a kind of turn
 * @property {(data: object) => object} read prepares the data for its frames
 * @property {(change: object, moment: number) => Frame} frame the frame at a moment between 0 and 1
 * @property {(state: object, frame: Frame) => void} draw
 * @property {boolean} [isAnew] whether it also plays after another picture
 *
 * @typedef {object} Frame the fields common to all kinds
 * @property {"before" | "after"} side whose title and colours apply
 * @property {string} told the state at this moment; empty if the title says it
 * @property {ArrayLike<number> | null} numbers the numbers to read in cells, if they differ from the final ones
 * @property {string} masked the text of a masked cell
 *
 * @typedef {object} Turn
 * @property {object} before
 * @property {object} after
 * @property {Kind} kind
 * @property {object} change
 * @property {number} moment from 0 (before) to 1 (after)
 */

/** @type {Record<string, Kind>} */
const TURNS = {};
// The turns in the order of the steps.
const ORDER = ["split", "products", "divide", "mask", "softmax", "share", "join"];
const LENGTH = 1100; // of a turn, in ms
const MOMENTS = 1000; // on the slider

const wantsStills = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// ---- Playback -----------------------------------------------------------------------------------

/** Play the turn from the last picture to a new one, or back. */
function takeTurn(state, old) {
  const { data } = state;
  if (old === data || (old && isSame(old, data) && isAlike(old.change, data.change))) return;
  halt(state);
  state.own = turnOf(data);
  state.turn = state.own;
  if (!old && isLedOn(data)) play(state, state.own, 1);
  else if (old && !isSame(old, data)) playBetween(state, old);
  if (state.own) document.documentElement.dataset.turn = String(ORDER.indexOf(data.change.operation));
}

/** Play if one picture turns into the other. */
function playBetween(state, old) {
  if (state.own && (state.own.kind.isAnew || beginsWith(state.own, old))) play(state, state.own, 1);
  else if (old.change?.before && beginsWith(turnOf(old), state.data)) play(state, turnOf(old), -1);
}

const cellsIn = (data) => data.shades ?? data.values;
const isSame = (one, other) => one.name === other.name && cellsIn(one) === cellsIn(other);
/** Whether a turn begins with the previous picture. For a large one, only a row is sent. */
const beginsWith = ({ before, change }, old) =>
  change.onlyRow === undefined ? isSame(before, old) : before.name === old.name;
const isAlike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Play a leaving picture's turn in reverse, if it turned from one of the pictures that replace it.
 * @param {string[]} names of the new pictures
 * @param {() => void} done called at the end, or when something is pressed
 * @returns {boolean} whether it plays
 */
function goBack(state, names, done) {
  if (!state.own || !names.includes(state.data.change.cameFrom) || !state.stage.canDraw(state) || wantsStills()) return false;
  play(state, state.own, -1, done);
  return true;
}

/** Whether the user has stepped forward to this picture, rather than back or by a link. */
function isLedOn({ change }) {
  if (!change?.before || !navigator.userActivation?.hasBeenActive) return false;
  const [last, own] = [document.documentElement.dataset.turn, ORDER.indexOf(change.operation)];
  return last === undefined || (own > 0 && Number(last) <= own);
}

/** @returns {Turn | null} null if there is nothing to play */
function turnOf(data) {
  if (!data.change?.before) return null;
  const kind = TURNS[data.change.operation];
  const before = { ...data, ...data.change.before };
  return { before, after: data, kind, change: kind.read({ ...data, before }), moment: 1 };
}

/** Play a turn once, forwards or backwards, until its end or any press; then show the picture itself, or call `done`. */
function play(state, turn, direction, done = () => show(state, 1)) {
  halt(state);
  if (wantsStills()) return;
  state.turn = turn;
  turn.moment = direction > 0 ? 0 : 1;
  const playing = { presses: new AbortController(), frame: 0 };
  const end = () => {
    halt(state);
    done();
  };
  state.playing = playing;
  setAttribute(state.root, "data-turning", "");
  for (const press of ["pointerdown", "keydown"]) {
    document.addEventListener(press, end, { capture: true, signal: playing.presses.signal });
  }
  let start = null;
  const tick = (now) => {
    start ??= now;
    const passed = Math.min(1, (now - start) / LENGTH);
    if (passed === 1) {
      end();
      return;
    }
    turn.moment = direction > 0 ? passed : 1 - passed;
    drawStage(state);
    playing.frame = requestAnimationFrame(tick);
  };
  playing.frame = requestAnimationFrame(tick);
}

function halt(state) {
  if (!state.playing) return;
  cancelAnimationFrame(state.playing.frame);
  state.playing.presses.abort();
  state.playing = null;
  setAttribute(state.root, "data-turning", null);
}

function show(state, moment) {
  halt(state);
  state.turn = state.own;
  if (state.own) state.own.moment = moment;
  drawStage(state);
}

/** The visible state: a frame of a turn, or the picture itself. */
function seen({ data, turn }) {
  const frame = turn && turn.moment < 1 ? turn.kind.frame(turn.change, turn.moment) : null;
  return frame ? { data: turn[frame.side], frame, masked: frame.masked } : { data, frame, masked: data.masked };
}

/** Draw the visible state. */
function drawStage(state) {
  if (!state.stage.canDraw(state)) return;
  const { frame } = seen(state);
  if (frame) state.turn.kind.draw(state, frame);
  else state.stage.clear(state);
  state.stage.write(state);
  drawControls(state, frame);
}

/** The elapsed fraction of an interval: 0 before it, 1 after it. */
const part = (moment, start, length) => Math.min(1, Math.max(0, (moment - start) / length));

/** Ease in and out. */
const ease = (time) => time * time * (3 - 2 * time);

// ---- Controls -----------------------------------------------------------------------------------

/**
 * The controls for motion and for stills; the style sheet shows one of them.
 * @param {object} picture on the stage
 * @param {(state: object) => boolean} picture.canDraw whether it is drawn
 * @param {(state: object) => void} picture.clear removes a turn's drawing
 * @param {(state: object) => void} picture.write updates the texts
 */
function buildStage(picture) {
  const root = make("div", "stage");
  const controls = make("div", "controls");
  const told = make("bdi", "changed");
  const moment = make("bdi", "moment");
  const words = make("div", "told");
  words.append(told, moment);
  moment.setAttribute("aria-hidden", "true");
  const replay = make("button", "framed replay");
  const before = make("button", "framed still");
  const after = make("button", "framed still");
  for (const button of [replay, before, after]) button.type = "button";
  const slider = make("input");
  Object.assign(slider, { type: "range", min: "0", max: String(MOMENTS), step: "1" });
  replay.textContent = `↺ ${message("Replay")}`;
  controls.setAttribute("role", "group");
  controls.append(replay, slider, before, after);
  root.append(controls, words);
  return { root, controls, told, moment, replay, slider, before, after, ...picture };
}

function listenToStage(state) {
  const { replay, slider, before, after } = state.stage;
  replay.onclick = () => play(state, state.own, 1);
  slider.oninput = () => show(state, Number(slider.value) / MOMENTS);
  before.onclick = () => show(state, 0);
  after.onclick = () => show(state, 1);
}

function drawControls(state, frame) {
  const { data, own, stage } = state;
  stage.root.hidden = !data.change;
  stage.controls.hidden = !own;
  if (!data.change) return;
  stage.told.textContent = data.change.told;
  // In place of the summary of the change, so that the picture below does not move.
  stage.moment.textContent = frame?.told ?? "";
  stage.root.classList.toggle("between", Boolean(frame?.told));
  if (!own) return;
  const titles = { before: own.before.title, after: own.after.title };
  const name = message("From {before} to {after}", titles);
  for (const each of [stage.controls, stage.slider]) setAttribute(each, "aria-label", name);
  const isOwn = state.turn === own;
  const moment = isOwn ? own.moment : 1;
  stage.slider.value = String(Math.round(moment * MOMENTS));
  setAttribute(stage.slider, "aria-valuetext", (isOwn && frame?.told) || (moment ? titles.after : titles.before));
  // The picture's title identifies it; this line must also have room for the changes.
  stage.before.textContent = message("Before");
  stage.after.textContent = message("After");
  setAttribute(stage.before, "aria-label", message("Before: {title}", { title: titles.before }));
  setAttribute(stage.after, "aria-label", message("After: {title}", { title: titles.after }));
  setAttribute(stage.before, "aria-pressed", moment === 0);
  setAttribute(stage.after, "aria-pressed", moment === 1);
}
