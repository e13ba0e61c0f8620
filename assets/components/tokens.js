// The sentence as the model reads it: a chip per token, with the pieces of a word joined.

/**
 * @typedef {object} Chip
 * @property {string} text
 * @property {number} position
 * @property {number | null} id null if outside the vocabulary
 * @property {"word" | "special" | "padding"} kind
 * @property {number} group shared by the tokens of one word
 * @property {string} title
 * @property {string | null} sentence the name of the sentence that begins here, if there are two
 *
 * @typedef {object} TokensData
 * @property {string} label of the whole
 * @property {Chip[]} chips
 * @property {number | null} focus position
 * @property {StageChange | null} change how the text becomes these tokens
 * @property {boolean} selectable
 */

const stateOf = remembering((parent) => {
  const root = make("div", "root");
  const strip = make("div", "tokens");
  const stage = buildStage({ canDraw: () => true, clear: uncoverChips, write: () => {} });
  root.append(strip, stage.root);
  parent.append(root);
  const state = { root, strip, stage, buttons: [], reached: 0, elsewhere: null };
  state.observer = new ResizeObserver(() => fit(state));
  strip.onkeydown = (event) => press(state, event);
  strip.addEventListener("focusin", (event) => reach(state, state.buttons.indexOf(event.target)));
  strip.onpointerover = ({ target }) => point(state, target.closest(".chip"));
  strip.onpointerleave = () => point(state, null);
  strip.addEventListener("focusin", ({ target }) => target.matches(":focus-visible") && point(state, target));
  strip.addEventListener("focusout", () => point(state, null));
  onPointedElsewhere(parent, (place) => markElsewhere(state, place));
  listenToStage(state);
  return state;
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  // A toolbar is one tab stop, however long the sentence.
  setAttribute(state.strip, "role", data.selectable ? "toolbar" : "group");
  setAttribute(state.strip, "aria-label", data.label);
  const drawn = JSON.stringify([data.chips, data.selectable]);
  if (state.drawn !== drawn) rebuild(state, data);
  state.drawn = drawn;
  mark(state, data.chips.findIndex((chip) => chip.position === data.focus), data.selectable);
  markElsewhere(state, state.elsewhere);
  onChosen(state.strip, (index) => {
    if (!data.selectable) return;
    mark(state, index);
    setStateValue("choose", data.chips[index].position);
  });
  fit(state);
  state.observer.observe(state.root);
  document.fonts.ready.then(() => fit(state));
  takeChips(state, data);
  return whenGone(state, () => {
    state.observer.disconnect();
    halt(state);
  });
}

const SIZES = { least: 16, most: 72 }; // of the letters in a presentation, in px

/** If the page reserves space for other things, make tokens as large as fits without scrolling. */
function fit(state) {
  const { root, strip } = state;
  const rest = Number(getComputedStyle(root).getPropertyValue("--tokens-rest"));
  const strips = root.getRootNode().host?.parentElement?.querySelectorAll(":scope > .figure").length || 1;
  const height = rest ? Math.floor((innerHeight - rest) / strips) : 0;
  const id = `${root.clientWidth} ${height} ${state.drawn} ${document.fonts.status}`;
  if (!root.clientWidth || state.fittedId === id) return;
  state.fittedId = id;
  strip.style.minHeight = strip.style.maxHeight = height ? `${height}px` : "";
  if (!height) {
    root.style.removeProperty("--token-size");
    return;
  }
  let { least, most } = SIZES;
  while (most - least > 1) {
    const size = Math.floor((least + most) / 2);
    root.style.setProperty("--token-size", `${size}px`);
    const isWide = state.buttons.some(({ firstChild }) => firstChild.scrollWidth > firstChild.clientWidth);
    if (isWide || strip.scrollHeight > height) most = size;
    else least = size;
  }
  root.style.setProperty("--token-size", `${least}px`);
}

/** Put the tokens on the stage; equal texts are the same tokens. */
function takeChips(state, data) {
  const before = state.data;
  const values = JSON.stringify(data.chips.map(({ text }) => text));
  state.data = { ...data, name: data.label, title: data.label, values };
  takeTurn(state, before);
  drawStage(state);
}

function rebuild(state, data) {
  const hadFocus = state.strip.contains(state.strip.getRootNode().activeElement);
  state.buttons = data.chips.map((each, index) => chip(each, index, data.selectable));
  state.strip.replaceChildren(...groups(data.chips, state.buttons));
  state.reached = Math.min(state.reached, data.chips.length - 1);
  if (hadFocus) state.buttons[state.reached]?.focus({ preventScroll: true });
}

/** @param {Chip} data */
function chip(data, index, isSelectable) {
  const button = make(isSelectable ? "button" : "span", `chip ${data.kind}`);
  button.title = data.title;
  button.dataset.index = String(index);
  if (isSelectable) {
    button.type = "button";
    button.setAttribute("aria-label", data.title);
  }
  const numbers = make("span", "numbers");
  numbers.append(make("span", "position", String(data.position)));
  // Patches have no ID.
  if (data.id !== null) numbers.append(make("span", "id", String(data.id)));
  button.append(make("bdi", "text", visible(data.text)), numbers);
  return button;
}

/** Group the chips of each word. */
function groups(chips, buttons) {
  const made = [];
  chips.forEach(({ group }, index) => {
    if (chips[index].sentence) made.push(make("span", "sentence", chips[index].sentence));
    if (index === 0 || group !== chips[index - 1].group) made.push(make("span", "word"));
    made.at(-1).append(buttons[index]);
  });
  return made;
}

/** Mark the token pointed at (in the style sheet). */
function point(state, button) {
  const index = state.buttons.indexOf(button);
  if (index >= 0) markElsewhere(state, null);
  tellPointed(state.root, index < 0 ? null : [index]);
}

/** Mark the token that someone points at on another screen. */
function markElsewhere(state, place) {
  state.elsewhere = place;
  state.buttons.forEach((button, index) => button.classList.toggle("pointed", index === place?.[0]));
}

/** Mark the token in focus, which is the tab stop. */
function mark(state, focus, isSelectable = true) {
  state.buttons.forEach((button, index) => {
    button.classList.toggle("focused", index === focus);
    if (isSelectable) setAttribute(button, "aria-pressed", index === focus);
  });
  if (!isSelectable) return;
  const hasKeyboard = state.strip.contains(state.strip.getRootNode().activeElement);
  reach(state, !hasKeyboard && focus >= 0 ? focus : state.reached);
}

function reach(state, index) {
  if (index < 0) return;
  state.reached = index;
  state.buttons.forEach((button, other) => (button.tabIndex = other === index ? 0 : -1));
}

function press(state, event) {
  state.buttons[alongRow(event, state.reached, state.buttons.length - 1)]?.focus();
}
