// The stage on which a picture is seen coming from what was there before: what plays it, and its controls. What a turn
// looks like is in a file of its own for each kind, which puts itself into TURNS. The picture itself stays as it is.

/**
 * @typedef {object} StageChange as attention.figures.transition.Turn is sent
 * @property {string} operation which kind of turn it is
 * @property {string} told what is kept and what is changed
 * @property {string} cameFrom the name of the picture of the step before that this one is made of
 * @property {object | null} before what was there, with the names of the picture's data; null if there is nothing to see
 * @property {object | null} parts what else the turn is made of
 *
 * @typedef {object} Kind one kind of turn
 * @property {(data: object) => object} read what its frames are made of
 * @property {(change: object, moment: number) => Frame} frame what is there at a moment between 0 and 1
 * @property {(state: object, frame: Frame) => void} draw
 * @property {boolean} [isAnew] whether another picture, too, is seen coming about
 *
 * @typedef {object} Frame as far as all kinds have it
 * @property {"before" | "after"} side whose title and colours hold
 * @property {string} told what is there at this moment; empty for what the title says
 * @property {ArrayLike<number> | null} numbers what is read of the cells, where that is not what they are in the end
 * @property {string} masked what a masked cell says
 *
 * @typedef {object} Turn
 * @property {object} before
 * @property {object} after
 * @property {Kind} kind
 * @property {object} change
 * @property {number} moment from 0, all as before, to 1, all as after
 */

/** @type {Record<string, Kind>} */
const TURNS = {};
// The turns in the order in which one meets them.
const ORDER = ["split", "products", "divide", "mask", "softmax", "share", "join"];
const LENGTH = 1100; // of a whole turn, in milliseconds
const MOMENTS = 1000; // on the slider

const wantsStills = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// ---- What is played ----------------------------------------------------------------------------

/** A new picture plays how it came from the one that was there; the one before plays the way back. */
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

/** The one picture may have been the other, or become it. */
function playBetween(state, old) {
  if (state.own && (state.own.kind.isAnew || beginsWith(state.own, old))) play(state, state.own, 1);
  else if (old.change?.before && beginsWith(turnOf(old), state.data)) play(state, turnOf(old), -1);
}

const cellsIn = (data) => data.shades ?? data.values;
const isSame = (one, other) => one.name === other.name && cellsIn(one) === cellsIn(other);
/** Whether a turn begins with the picture that was there. Of a large one, only a row is sent. */
const beginsWith = ({ before, change }, old) =>
  change.onlyRow === undefined ? isSame(before, old) : before.name === old.name;
const isAlike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Play the way back of a picture that is leaving, if it came from one of those that are in its place now.
 * @param {string[]} names of the pictures that are there now
 * @param {() => void} done is called when it is over, or somebody has pressed something
 * @returns {boolean} whether it is played
 */
function goBack(state, names, done) {
  if (!state.own || !names.includes(state.data.change.cameFrom) || !state.stage.canDraw(state) || wantsStills()) return false;
  play(state, state.own, -1, done);
  return true;
}

/** Whether somebody has walked on to this picture: not if a link has opened it, nor on the way back. */
function isLedOn({ change }) {
  if (!change?.before || !navigator.userActivation?.hasBeenActive) return false;
  const [last, own] = [document.documentElement.dataset.turn, ORDER.indexOf(change.operation)];
  return last === undefined || (own > 0 && Number(last) <= own);
}

/** @returns {Turn | null} nothing where there is nothing to see */
function turnOf(data) {
  if (!data.change?.before) return null;
  const kind = TURNS[data.change.operation];
  const before = { ...data, ...data.change.before };
  return { before, after: data, kind, change: kind.read({ ...data, before }), moment: 1 };
}

/**
 * Play a turn once, forwards or backwards; whatever is pressed anywhere is not kept waiting by it. In the end the
 * picture itself is seen or, of one that is leaving, `done` is called.
 */
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

/** What is seen: a frame of a turn or, without one, the picture itself. */
function seen({ data, turn }) {
  const frame = turn && turn.moment < 1 ? turn.kind.frame(turn.change, turn.moment) : null;
  return frame ? { data: turn[frame.side], frame, masked: frame.masked } : { data, frame, masked: data.masked };
}

/** Draw what is seen. */
function drawStage(state) {
  if (!state.stage.canDraw(state)) return;
  const { frame } = seen(state);
  if (frame) state.turn.kind.draw(state, frame);
  else state.stage.clear(state);
  state.stage.write(state);
  drawControls(state, frame);
}

/** How far a part of the time is over: 0 before it, 1 after it. */
const part = (moment, start, length) => Math.min(1, Math.max(0, (moment - start) / length));

/** A time that begins and ends slowly. */
const ease = (time) => time * time * (3 - 2 * time);

// ---- Its controls ------------------------------------------------------------------------------

/**
 * Both kinds of controls, of which the style sheet shows the one that is wanted: motion, or stills.
 * @param {object} picture that is on the stage
 * @param {(state: object) => boolean} picture.canDraw whether it is drawn already
 * @param {(state: object) => void} picture.clear takes away what a turn has drawn
 * @param {(state: object) => void} picture.write writes what is said of it
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
  // In the place of what is changed in the end, what is so far: the picture below does not move.
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
  // Which picture each is, the picture's own title says to those who see it: the line has to hold what changed, too.
  stage.before.textContent = message("Before");
  stage.after.textContent = message("After");
  setAttribute(stage.before, "aria-label", message("Before: {title}", { title: titles.before }));
  setAttribute(stage.after, "aria-label", message("After: {title}", { title: titles.after }));
  setAttribute(stage.before, "aria-pressed", moment === 0);
  setAttribute(stage.after, "aria-pressed", moment === 1);
}
