// Words to reorder: dragged by mouse or finger, or moved with the keyboard.

/**
 * @typedef {object} OrderData from attention.figures.order.OrderStrip.payload()
 * @property {string} label of the whole
 * @property {string[]} names
 * @property {number[]} places their original positions
 * @property {number[]} order the index of the word at each place
 * @property {number | null} focus the index of the word that the page discusses
 * @property {boolean} selectable whether they can be moved
 */

const REACH = 5; // in px: how far a pointer moves before it drags
const HINT = message("Drag a word. With the keyboard, Enter picks it up and drops it, arrows move it.");

const stateOf = remembering(build);

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  const said = JSON.stringify([data.names, data.places, data.selectable]);
  if (state.said !== said) rebuild(state, data);
  Object.assign(state, { said, data, setStateValue });
  setAttribute(state.strip, "role", data.selectable ? "toolbar" : "group");
  setAttribute(state.strip, "aria-label", data.label);
  state.chips.forEach((chip, index) => chip.classList.toggle("focused", index === data.focus));
  state.wish.settle(JSON.stringify(data.order));
  if (!state.drag) arrange(state, JSON.parse(state.wish.shown));
  return whenGone(state, () => state.wish.stop());
}

function build(parent) {
  const root = make("div", "root order");
  const strip = make("div", "strip");
  const readout = make("div", "readout");
  readout.setAttribute("role", "status");
  root.append(strip, readout);
  parent.append(root);
  const state = { root, strip, readout, chips: [], order: [], picked: null, press: null, drag: null, reached: 0 };
  state.wish = new Wish();
  strip.onkeydown = (event) => pressKey(state, event);
  strip.onclick = (event) => click(state, chipAt(state, event.target));
  strip.onpointerdown = (event) => take(state, event);
  strip.onpointermove = (event) => drag(state, event);
  strip.onpointerup = () => release(state);
  strip.onpointercancel = () => cancel(state);
  strip.addEventListener("focusin", (event) => reach(state, chipAt(state, event.target)));
  return state;
}

function rebuild(state, data) {
  state.wish.stop();
  state.wish = new Wish();
  Object.assign(state, { picked: null, press: null, drag: null, order: [], reached: 0 });
  state.chips = data.names.map((name, index) => chip(name, data.places[index], data.selectable));
  state.strip.replaceChildren();
  setText(state.readout, data.selectable ? HINT : "");
}

function chip(name, place, isMovable) {
  const element = make(isMovable ? "button" : "span", "chip");
  element.append(make("bdi", "text", visible(name)), make("span", "place", String(place)));
  if (isMovable) element.type = "button";
  return element;
}

/** The index of the word whose chip contains this; −1 if none. */
function chipAt(state, target) {
  return state.chips.indexOf(target.closest(".chip"));
}

/** Arrange the chips; the focus stays. */
function arrange(state, order) {
  const active = state.strip.getRootNode().activeElement;
  state.order = order;
  order.forEach((index, place) => {
    const element = state.chips[index];
    if (state.strip.children[place] !== element) state.strip.insertBefore(element, state.strip.children[place] ?? null);
    setAttribute(element, "aria-label", said(state, index));
  });
  if (state.chips.includes(active)) active.focus({ preventScroll: true });
  reach(state, state.reached);
}

function said({ order, data }, index) {
  return message("{name}, position {place} of {all}", { name: visible(data.names[index]), place: order.indexOf(index) + 1, all: order.length });
}

/** Make a chip the tab stop. */
function reach(state, index) {
  if (index < 0) return;
  state.reached = index;
  state.chips.forEach((each, other) => {
    if (each.tagName === "BUTTON") each.tabIndex = other === index ? 0 : -1;
  });
}

// ---- Moving ------------------------------------------------------------------------------------

/** Move a word to another place; the words between shift. */
function move(state, index, place) {
  const order = state.order.filter((each) => each !== index);
  order.splice(Math.max(0, Math.min(order.length, place)), 0, index);
  arrange(state, order);
}

/** Notify Python if the order differs from the last one reported. */
function tell(state) {
  const wanted = JSON.stringify(state.order);
  if (wanted === state.wish.shown) return;
  state.wish.ask(wanted, () => arrange(state, JSON.parse(state.wish.shown)));
  state.setStateValue("arrange", state.order);
}

function pick(state, index) {
  state.picked = index;
  state.before = state.order;
  state.chips.forEach((each, other) => {
    each.classList.toggle("picked", other === index);
    setAttribute(each, "aria-pressed", other === index ? "true" : null);
  });
}

/** A press picks a word up; the next one puts it down at the pressed word. */
function click(state, index) {
  if (state.wasDragged || index < 0 || !state.data.selectable) {
    state.wasDragged = false;
    return;
  }
  if (state.picked === null) {
    pick(state, index);
    setText(state.readout, message("{word} picked up. Arrows move it; Escape puts it back.", { word: said(state, index) }));
    return;
  }
  const { picked } = state;
  if (index !== picked) move(state, picked, state.order.indexOf(index));
  pick(state, null);
  tell(state);
  setText(state.readout, said(state, picked));
}

// ---- Keyboard ----------------------------------------------------------------------------------

/** Arrows move between words; they move the word that is picked up or, with Shift, the focused one. */
function pressKey(state, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || !state.data.selectable) return;
  if (event.key === "Escape" && state.picked !== null) {
    event.stopPropagation();
    const { picked, before } = state;
    arrange(state, before);
    pick(state, null);
    tell(state);
    setText(state.readout, said(state, picked));
    return;
  }
  state.wasDragged = false;
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity }[event.key];
  if (!step) return;
  // Elsewhere on the page, the arrows change the step.
  event.preventDefault();
  event.stopPropagation();
  const moved = event.shiftKey ? state.reached : state.picked;
  const last = state.order.length - 1;
  const place = Math.max(0, Math.min(last, state.order.indexOf(moved ?? state.reached) + step));
  if (moved === null) {
    state.chips[state.order[place]]?.focus();
    return;
  }
  move(state, moved, place);
  tell(state);
  setText(state.readout, said(state, moved));
}

// ---- Pointer -----------------------------------------------------------------------------------

function take(state, event) {
  const index = chipAt(state, event.target);
  state.wasDragged = false;
  if (index < 0 || event.button || !state.data.selectable) return;
  const box = state.chips[index].getBoundingClientRect();
  const grabbed = { x: event.clientX - box.left, y: event.clientY - box.top };
  state.press = { index, grabbed, x: event.clientX, y: event.clientY, before: state.order };
}

function drag(state, event) {
  const { press } = state;
  if (!press) return;
  const held = state.chips[press.index];
  if (!state.drag) {
    if (Math.hypot(event.clientX - press.x, event.clientY - press.y) < REACH) return;
    state.drag = press;
    // The strip captures the pointer: a chip that is moved would lose it.
    state.strip.setPointerCapture(event.pointerId);
    pick(state, null);
    held.classList.add("held");
  }
  held.style.translate = "none";
  const place = placeUnder(state, held, event);
  if (place !== null) move(state, press.index, place);
  const box = held.getBoundingClientRect();
  const offset = [event.clientX - press.grabbed.x - box.left, event.clientY - press.grabbed.y - box.top];
  held.style.translate = offset.map((length) => `${length}px`).join(" ");
}

/** The place of the word under the pointer; null if there is none, or the pointer has not passed its middle. */
function placeUnder({ order, chips }, held, { clientX, clientY }) {
  const own = held.getBoundingClientRect();
  const from = order.findIndex((index) => chips[index] === held);
  const place = order.findIndex((index) => {
    const box = chips[index].getBoundingClientRect();
    return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
  });
  if (place < 0 || place === from) return null;
  const box = chips[order[place]].getBoundingClientRect();
  const isSameLine = Math.abs(box.top - own.top) < box.height / 2;
  const middle = box.left + box.width / 2;
  const isPast = place > from ? clientX > middle : clientX < middle;
  return isPast || !isSameLine ? place : null;
}

function release(state) {
  const { drag: dragged } = state;
  state.press = null;
  if (!dragged) return;
  letGo(state);
  // The click that follows belongs to the drag.
  state.wasDragged = true;
  tell(state);
  setText(state.readout, said(state, dragged.index));
}

function cancel(state) {
  const { drag: dragged } = state;
  state.press = null;
  if (!dragged) return;
  letGo(state);
  arrange(state, dragged.before);
}

function letGo(state) {
  const held = state.chips[state.drag.index];
  held.classList.remove("held");
  held.style.translate = "none";
  state.drag = null;
}
