// What charts and arrows have in common: a picture with marks, at which one points with a mouse or with the arrow keys.

const MAX_NAME = 15; // letters of a name in a picture; the whole one is in the readout

/**
 * Build such a picture in its place; `state.marks` are its marks, in the order in which the keys lead to them.
 *
 * `draw` draws it, `markUnder` returns the index of the mark under a pointer, `pointAt` shows one, `choose` is called
 * with one that is pressed, and `stepOf` tells by how many marks a key goes on.
 */
function buildMarks(parent, kind, { draw, markUnder, pointAt, choose, stepOf = () => 1 }) {
  const root = make("div", `root ${kind}`);
  const [title, legend, picture, readout] = ["title", "legend", "picture", "readout"].map((name) => make("div", name));
  picture.tabIndex = 0;
  picture.setAttribute("role", "application");
  readout.setAttribute("role", "status");
  root.append(title, legend, picture, readout);
  parent.append(root);
  const state = { root, title, legend, picture, readout, marks: [], at: null };
  state.observer = new ResizeObserver(() => {
    if (root.clientWidth !== state.drawnWidth) draw(state);
  });
  picture.onpointermove = (event) => pointAt(state, markUnder(state, event));
  picture.onpointerleave = picture.onblur = () => pointAt(state, null);
  const press = (at) => {
    if (choose && at !== null) choose(state, at);
  };
  picture.onclick = (event) => press(markUnder(state, event));
  picture.onkeydown = (event) => {
    if (event.key === "Enter") press(state.at);
    const at = markOfKey(event.key, state.at, state.marks.length - 1, stepOf(state));
    if (at === null || event.altKey || event.ctrlKey || event.metaKey) return;
    // The same arrows mean the step before and the next elsewhere on the page.
    event.preventDefault();
    event.stopPropagation();
    pointAt(state, at);
  };
  return state;
}

/** The mark to which a key leads, if it leads to any. */
function markOfKey(key, at, last, step) {
  const from = at ?? -step;
  const marks = {
    ArrowLeft: from - step, ArrowUp: from - step, ArrowRight: from + step, ArrowDown: from + step, Home: 0, End: last,
  };
  return key in marks && last >= 0 ? Math.min(last, Math.max(0, marks[key])) : null;
}

/** Where a pointer is, in the CSS pixels of the layout. */
function placeUnder({ picture, layout }, event) {
  const box = picture.firstChild.getBoundingClientRect();
  const scale = layout.width / box.width;
  return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
}

function shortened(name) {
  const letters = Array.from(visible(name));
  return letters.length <= MAX_NAME ? letters.join("") : `${letters.slice(0, MAX_NAME - 1).join("")}…`;
}
