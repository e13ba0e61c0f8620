// The steps in a row: where one is, the way back and on, and the arrow keys of the whole page.

/**
 * @typedef {object} StepperData
 * @property {{key: string, name: string}[]} steps
 * @property {string} current the key of the step that is shown
 */

// Keys belong to whatever has the focus: here the arrows have a meaning of their own.
const USES_ARROWS = [
  "input, textarea, select, audio, video, dialog, [contenteditable=''], [contenteditable=true]",
  "[role=slider], [role=spinbutton], [role=scrollbar], [role=textbox], [role=searchbox], [role=combobox]",
  "[role=radio], [role=radiogroup], [role=tab], [role=tablist], [role=toolbar], [role=dialog]",
  "[role=option], [role=listbox], [role=menu], [role=menubar], [role=menuitem], [role=tree]",
  "[role=grid], [role=treegrid], [role=application]",
  "[data-testid=stDataFrame]",
].join();

// How long a step that was asked for is shown while the server has not answered.
const PATIENCE = 8_000;

// A page has one set of arrow keys: the stepper that was drawn last has them.
const KEYS = Symbol.for("attention.stepper.keys");

const stateOf = remembering((parent) => {
  const root = make("nav", "root stepper");
  root.setAttribute("aria-label", message("Steps"));
  const list = make("ol");
  const caption = make("div", "caption");
  // The names are in the list already, only not to be seen there when the page is narrow.
  caption.setAttribute("aria-hidden", "true");
  const middle = make("div", "middle");
  middle.append(list, caption);
  const [back, next] = [move("back"), move("next")];
  root.append(back, middle, next);
  parent.append(root);
  return { root, list, caption, back, next, pending: [] };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  state.setStateValue = setStateValue;
  settle(state, data);
  draw(state);
  onChosen(state.list, (index) => choose(state, index));
  state.back.onclick = () => choose(state, shown(state) - 1);
  state.next.onclick = () => choose(state, shown(state) + 1);
  listen(state);
  return whenGone(state, () => {
    clearTimeout(state.timer);
    state.keys.abort();
  });
}

/**
 * Compare what the server shows with what was asked for. Asked for twice in a row, it may answer
 * once or twice: the first answer must not take the second step back.
 */
function settle(state, data) {
  const answered = state.pending.indexOf(data.current);
  if (answered >= 0) state.pending.splice(0, answered + 1);
  else if (data.current !== state.data?.current) state.pending = [];
  state.data = data;
}

/** The step a person sees: the one last asked for, else the server's. */
function shown({ data, pending }) {
  const key = pending.at(-1) ?? data.current;
  return Math.max(0, data.steps.findIndex((step) => step.key === key));
}

function choose(state, index) {
  const step = state.data.steps[index];
  if (!step || index === shown(state)) return;
  state.pending.push(step.key);
  clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    state.pending = [];
    draw(state);
  }, PATIENCE);
  draw(state);
  send(state.setStateValue, "choose", step.key);
}

/** Buttons are made once and then changed, so that the focus and a press that has begun stay. */
function draw(state) {
  const { list, caption, back, next, data } = state;
  const current = shown(state);
  while (list.children.length > data.steps.length) list.lastChild.remove();
  while (list.children.length < data.steps.length) list.append(item(list.children.length));
  data.steps.forEach(({ name }, index) => {
    const button = list.children[index].firstChild;
    const [number, text] = button.children;
    number.textContent = String(index + 1);
    text.textContent = name;
    button.className = index < current ? "done" : index === current ? "current" : "ahead";
    setAttribute(button, "aria-current", index === current ? "step" : null);
    setAttribute(button, "title", name);
  });
  caption.textContent = data.steps[current]?.name ?? "";
  const following = data.steps[current + 1];
  back.textContent = `◂ ${message("Back")}`;
  next.textContent = following ? `${message("Next: {step}", { step: following.name })} ▸` : message("Last step");
  back.disabled = current === 0;
  next.disabled = !following;
}

function move(where) {
  const button = make("button", `framed ${where}`);
  button.type = "button";
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
  document.addEventListener("keydown", (event) => press(state, event), { signal: state.keys.signal });
}

function press(state, event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (!by || hasModifier || event.repeat || event.defaultPrevented || event.isComposing) return;
  // The composed path, because a component's focus lies hidden in its shadow.
  const usesArrows = (target) => target instanceof Element && target.matches(USES_ARROWS);
  if (event.composedPath().some(usesArrows)) return;
  event.preventDefault();
  choose(state, shown(state) + by);
}
