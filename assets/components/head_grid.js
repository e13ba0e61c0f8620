// All heads of a layer, each a button with a small picture of its weights.

/**
 * @typedef {object} Head from attention.figures.heads.HeadThumb.payload()
 * @property {string} label
 * @property {string} description
 * @property {string} group the heading above it, shared with its neighbours; empty for none
 * @property {string} shades one letter each, row by row
 * @property {boolean} isPicture whether these are greys of a picture, not weights
 * @property {number} rows
 * @property {number} columns
 *
 * @typedef {object} HeadGridData
 * @property {string} label of the whole
 * @property {Head[]} heads
 * @property {number} current
 */

const stateOf = remembering((parent) => {
  const root = make("div", "root heads");
  root.setAttribute("role", "group");
  parent.append(root);
  return { root, buttons: [], headings: [] };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  const theme = readTheme(state.root);
  setAttribute(state.root, "aria-label", data.label);
  while (state.buttons.length < data.heads.length) addButton(state);
  state.buttons.splice(data.heads.length).forEach((button) => button.remove());
  data.heads.forEach((head, index) => dress(state.buttons[index], head, index === data.current, theme));
  state.root.classList.toggle("pictures", data.heads.every((head) => head.isPicture));
  setHeadings(state, data.heads);
  onChosen(state.root, (index) => {
    state.buttons.forEach((button, other) => setAttribute(button, "aria-pressed", other === index));
    setStateValue("choose", index);
  });
}

/**
 * Set a heading before the first head of each group.
 * @param {Head[]} heads
 */
function setHeadings(state, heads) {
  const id = heads.map((head) => head.group).join("\n");
  if (state.grouped === id) return;
  state.grouped = id;
  const groups = new Set(heads.map((head) => head.group).filter(Boolean));
  state.root.classList.toggle("grouped", groups.size > 0);
  state.root.style.setProperty("--count", String(heads.length));
  state.root.style.setProperty("--size", String(heads.length / Math.max(groups.size, 1)));
  state.headings.forEach((heading) => heading.remove());
  state.headings = [];
  heads.forEach((head, index) => {
    if (!head.group || head.group === heads[index - 1]?.group) return;
    const heading = make("div", "group");
    heading.textContent = head.group;
    state.buttons[index].before(heading);
    state.headings.push(heading);
  });
}

/** Buttons are reused, so that focus and presses survive a change of pictures. */
function addButton(state) {
  const button = make("button", "head");
  button.type = "button";
  button.dataset.index = String(state.buttons.length);
  button.append(make("span", "thumb"), make("bdi", "name"));
  state.buttons.push(button);
  state.root.append(button);
}

/** @param {Head} head */
function dress(button, head, isCurrent, theme) {
  const [thumb, name] = button.children;
  name.textContent = visible(head.label);
  setAttribute(button, "aria-pressed", isCurrent);
  setAttribute(button, "aria-label", [head.label, head.description, head.group].filter(Boolean).join(": "));
  setAttribute(button, "title", head.description || null);
  const id = `${theme.id} ${head.rows} ${head.shades}`;
  if (button.drawn === id) return;
  button.drawn = id;
  thumb.replaceChildren(paintThumb(decodeShades(head.shades, 1, false), head, theme));
}
