// A field of 8×8 pixels to draw in, with a pointer or the keyboard.

/**
 * @typedef {object} DrawingData
 * @property {string} label of the whole
 * @property {string} picture 64 characters of GREYS, one per pixel, row by row
 */

const SIDE = 8; // pixels
const FINE = 4; // dots per pixel, each way: a pixel's grey is the number of its 16 dots that are set
const DOTS = SIDE * FINE;
const BRUSH = 1.8; // the radius, in dots
const GREYS = "0123456789abcdefg";
const HINT = message("Draw with mouse, finger, or arrows and space.");
const BLANK = "0".repeat(SIDE * SIDE);

const stateOf = remembering(build);

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  state.setStateValue = setStateValue;
  setAttribute(state.field, "aria-label", data.label);
  hear(state, data.picture);
  draw(state);
}

function build(parent) {
  const root = make("div", "root drawing");
  const field = make("div", "field");
  const canvas = make("canvas", "pixels");
  const cursor = make("div", "cursor");
  const readout = make("div", "readout", HINT);
  const clear = make("button", "clear", message("Clear"));
  clear.type = "button";
  [canvas.width, canvas.height] = [SIDE, SIDE];
  for (const hidden of [canvas, cursor]) hidden.setAttribute("aria-hidden", "true");
  // The keys have special meanings here; this role makes screen readers pass them on.
  field.setAttribute("role", "application");
  field.tabIndex = 0;
  readout.setAttribute("role", "status");
  field.append(canvas, cursor);
  root.append(field, clear, readout);
  parent.append(root);
  const state = {
    ...{ root, field, canvas, cursor, readout },
    ...{ dots: new Uint8Array(DOTS * DOTS), picture: "", at: [3, 3], last: null, isDrawing: false },
    ...{ heard: null, sent: [] },
  };
  listen(state, clear);
  return state;
}

/** Take a picture chosen elsewhere. One drawn here may return late, and must not erase the strokes made since. */
function hear(state, picture) {
  const index = state.sent.indexOf(picture);
  if (index >= 0) state.sent.splice(0, index + 1);
  else if (state.isDrawing || picture === state.heard) return;
  else {
    state.sent = [];
    take(state, picture);
  }
  state.heard = picture;
}

/** Set as many dots of each pixel as its grey says, the middle ones first, so that drawing can continue. */
function take(state, picture) {
  state.picture = picture;
  state.dots.fill(0);
  const order = [5, 6, 9, 10, 1, 2, 4, 7, 8, 11, 13, 14, 0, 3, 12, 15];
  [...picture].forEach((character, pixel) => {
    const [row, column] = [Math.floor(pixel / SIDE) * FINE, (pixel % SIDE) * FINE];
    for (const dot of order.slice(0, Math.max(0, GREYS.indexOf(character)))) {
      state.dots[(row + Math.floor(dot / FINE)) * DOTS + column + (dot % FINE)] = 1;
    }
  });
}

/** The grey of each pixel: the number of its dots that are set. */
function greys({ dots }) {
  const levels = new Uint8Array(SIDE * SIDE);
  dots.forEach((dot, index) => {
    const [row, column] = [Math.floor(index / DOTS), index % DOTS];
    levels[Math.floor(row / FINE) * SIDE + Math.floor(column / FINE)] += dot;
  });
  return levels;
}

function draw(state) {
  const parts = Array.from(greys(state), (level) => level / (GREYS.length - 1));
  const context = state.canvas.getContext("2d");
  context.clearRect(0, 0, SIDE, SIDE);
  context.drawImage(paintCover(parts, SIDE, readTheme(state.root).ink), 0, 0);
  const [row, column] = state.at;
  state.cursor.style.setProperty("--row", String(row));
  state.cursor.style.setProperty("--column", String(column));
}

/** Tell Python of a change. */
function finish(state) {
  const picture = Array.from(greys(state), (level) => GREYS[level]).join("");
  if (picture === state.picture) return;
  state.picture = picture;
  tell(state);
}

function tell(state) {
  state.sent.push(state.picture);
  state.setStateValue("draw", state.picture);
}

// ---- Pointer -----------------------------------------------------------------------------------

function listen(state, clear) {
  const { field } = state;
  field.onpointerdown = (event) => {
    field.setPointerCapture(event.pointerId);
    state.isDrawing = true;
    say(state, HINT);
    state.last = null;
    stroke(state, event);
  };
  field.onpointermove = (event) => {
    if (state.isDrawing) stroke(state, event);
  };
  field.onpointerup = field.onpointercancel = () => {
    if (!state.isDrawing) return;
    state.isDrawing = false;
    finish(state);
  };
  field.onkeydown = (event) => press(state, event);
  clear.onclick = () => {
    take(state, BLANK);
    draw(state);
    tell(state);
    say(state, message("Nothing drawn yet."));
  };
}

/** Set the dots under the brush, from the pointer's last place to its current one. */
function stroke(state, event) {
  const box = state.field.getBoundingClientRect();
  const to = [((event.clientY - box.top) / box.height) * DOTS, ((event.clientX - box.left) / box.width) * DOTS];
  const from = state.last ?? to;
  const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1])));
  for (let step = 0; step <= steps; step++) {
    dab(state, ...from.map((start, axis) => start + ((to[axis] - start) * step) / steps));
  }
  state.last = to;
  draw(state);
}

function dab({ dots }, y, x) {
  for (let row = Math.floor(y - BRUSH); row <= y + BRUSH; row++) {
    for (let column = Math.floor(x - BRUSH); column <= x + BRUSH; column++) {
      const isInside = row >= 0 && column >= 0 && row < DOTS && column < DOTS;
      if (isInside && Math.hypot(row + 0.5 - y, column + 0.5 - x) <= BRUSH) dots[row * DOTS + column] = 1;
    }
  }
}

// ---- Keyboard ----------------------------------------------------------------------------------

/** Arrows move between pixels; the space bar makes one white, grey or black. */
function press(state, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!step && event.key !== " " && event.key !== "Enter") return;
  // Elsewhere on the page, the arrows change the step.
  event.preventDefault();
  event.stopPropagation();
  if (step) state.at = state.at.map((at, axis) => Math.max(0, Math.min(SIDE - 1, at + step[axis])));
  else toggle(state);
  draw(state);
  const [row, column] = state.at;
  const level = greys(state)[row * SIDE + column];
  const facts = { row: row + 1, column: column + 1, level, highest: GREYS.length - 1 };
  say(state, message("Row {row}, column {column}: {level} of {highest}", facts));
  if (!step) finish(state);
}

function toggle(state) {
  const [row, column] = state.at;
  const pixel = row * SIDE + column;
  const picture = Array.from(greys(state), (level) => GREYS[level]);
  const level = GREYS.indexOf(picture[pixel]);
  picture[pixel] = GREYS[level === 0 ? 16 : level > 8 ? 8 : 0];
  const before = state.picture;
  take(state, picture.join(""));
  state.picture = before;
}

function say({ readout }, text) {
  readout.textContent = text;
}
