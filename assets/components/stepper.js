// The steps in a row, buttons back and forward, and the arrow keys of the whole page.

/**
 * @typedef {object} StepperData
 * @property {{key: string, name: string}[]} steps
 * @property {string} current the key of the current step
 * @property {string} onward the page after the last step; empty for none
 * @property {boolean} present whether the page is being presented
 */

// Keys belong to the focused element. These use letters …
const USES_LETTERS = [
  "input:not([type=radio], [type=checkbox], [type=range]), textarea, select, audio, video, dialog",
  "[contenteditable=''], [contenteditable=true], [role=textbox], [role=searchbox], [role=combobox], [role=spinbutton]",
  "[role=dialog], [role=option], [role=listbox], [role=menu], [role=menubar], [role=menuitem], [role=tree]",
].join();
// … and these only the arrows.
const USES_ARROWS = [
  USES_LETTERS,
  "input, [role=slider], [role=scrollbar], [role=radio], [role=radiogroup], [role=tab], [role=tablist], [role=toolbar]",
  "[role=grid], [role=treegrid], [role=application], .table .box",
].join();

// The arrow keys of a page belong to the stepper drawn last.
const KEYS = Symbol.for("attention.stepper.keys");

const stateOf = remembering((parent) => {
  const root = make("nav", "root stepper");
  root.setAttribute("aria-label", message("Steps"));
  const list = make("ol");
  const [back, next] = [move("back"), move("next")];
  const leave = way();
  root.append(back, list, next, leave);
  parent.append(root);
  return { root, list, back, next, leave, wish: new Wish() };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  state.setStateValue = setStateValue;
  state.data = data;
  state.wish.settle(data.current);
  draw(state);
  setAttribute(state.root, "data-present", data.present ? "" : null);
  const place = parentElement.host?.closest(".st-key-stepper");
  if (place) setAttribute(place, "data-at", data.present ? "foot" : null);
  onChosen(state.list, (index) => choose(state, index));
  state.back.onclick = () => choose(state, shown(state) - 1);
  state.next.onclick = () => {
    if (shown(state) === data.steps.length - 1) setStateValue("onward", true);
    else choose(state, shown(state) + 1);
  };
  state.leave.onclick = () => turn(state);
  listen(state);
  return whenGone(state, () => {
    state.wish.stop();
    state.keys.abort();
  });
}

/** The index of the visible step. */
function shown({ data, wish }) {
  return Math.max(0, data.steps.findIndex((step) => step.key === wish.shown));
}

function choose(state, index) {
  const step = state.data.steps[index];
  if (!step || index === shown(state)) return;
  state.wish.ask(step.key, () => draw(state));
  draw(state);
  state.setStateValue("choose", step.key);
}

/** Buttons are reused, so that focus and presses survive. */
function draw(state) {
  const { list, back, next, data } = state;
  const current = shown(state);
  while (list.children.length > data.steps.length) list.lastChild.remove();
  while (list.children.length < data.steps.length) list.append(item(list.children.length));
  data.steps.forEach(({ name }, index) => {
    const button = list.children[index].firstChild;
    const [number, text] = button.children;
    setText(number, String(index + 1));
    setText(text, name);
    setAttribute(button, "class", index < current ? "done" : index === current ? "current" : "ahead");
    setAttribute(button, "aria-current", index === current ? "step" : null);
    setAttribute(button, "title", name);
  });
  const following = data.steps[current + 1];
  setText(back.word, message("Back"));
  setText(next.word, following ? message("Next: {step}", { step: following.name }) : data.onward || message("Last step"));
  back.disabled = current === 0;
  next.disabled = !following && !data.onward;
}

function move(where) {
  const button = make("button", `framed ${where}`);
  button.type = "button";
  button.word = make("span", "word");
  const arrow = make("span", "arrow", where === "back" ? "◂" : "▸");
  arrow.setAttribute("aria-hidden", "true");
  button.append(...(where === "back" ? [arrow, " ", button.word] : [button.word, " ", arrow]));
  return button;
}

/** The way out of the presentation, for screens without a keyboard. */
function way() {
  const button = make("button", "leave", "✕");
  button.type = "button";
  button.setAttribute("aria-label", message("Leave the presentation"));
  button.title = message("Leave the presentation");
  return button;
}

function item(index) {
  const button = make("button");
  button.type = "button";
  button.dataset.index = String(index);
  button.append(make("span", "number"), " ", make("bdi", "name"));
  const element = make("li");
  element.append(button);
  return element;
}

function listen(state) {
  document[KEYS]?.abort();
  state.keys = document[KEYS] = new AbortController();
  const { signal } = state.keys;
  document.addEventListener("keydown", (event) => press(state, event), { signal });
  // A presenter's remote works wherever the focus is: a focused picture would scroll ten rows.
  const remote = (event) => state.data.present && ["PageUp", "PageDown"].includes(event.key) && press(state, event);
  document.addEventListener("keydown", remote, { signal, capture: true });
}

function press(state, event) {
  const { present } = state.data;
  // A presenter's remote sends the page keys.
  const by = { ArrowLeft: -1, ArrowRight: 1, ...(present && { PageUp: -1, PageDown: 1 }) }[event.key];
  const turns = event.key === "p" || event.key === "P" || (present && event.key === "Escape");
  const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if ((!by && !turns) || hasModifier || event.repeat || event.defaultPrevented || event.isComposing) return;
  // Use the composed path: a component's focus is inside its shadow root.
  const others = ["ArrowLeft", "ArrowRight"].includes(event.key) ? USES_ARROWS : USES_LETTERS;
  if (event.composedPath().some((target) => target instanceof Element && target.matches(others))) return;
  event.preventDefault();
  event.stopPropagation();
  if (turns) turn(state);
  else choose(state, shown(state) + by);
}

/** Begin or end the presentation. */
function turn(state) {
  state.setStateValue("present", !state.data.present);
}
