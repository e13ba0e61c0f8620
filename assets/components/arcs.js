// One head's weights as arcs over a sentence, from the word in focus or pointed at to all others.

/**
 * @typedef {object} ArcsData
 * @property {string} label
 * @property {string} alt
 * @property {{text: string, title: string, isSpecial: boolean, group: number}[]} words
 * @property {number} focus a position
 * @property {Record<string, [number, string][]>} rows weights (as number and text) by the position of the query; none
 *   while a guess is open
 * @property {Record<string, string>} told HTML about the rows, from lesson texts
 * @property {boolean} selectable
 */

const SIZES = { least: 18, most: 30 }; // of the letters, in px
const SLIM_SIZES = { least: 14, most: 22 };
const NARROW = 480; // up to this width, in px, the slim form wraps
const MOST_LINES = 3; // of the slim form, which scrolls if it needs more
const WIDEST = 18; // an arc of weight 1, in px
const LEAST = 0.005; // smaller weights get no arc
// Above the words, in px: on one line and on several, and so in the slim form.
const ROOM = { one: 150, broken: 34, slim: 38, wrapped: 28 };

const stateOf = remembering((parent) => {
  const root = make("div", "root arcs");
  const words = make("div", "words");
  const unit = make("span", "unit");
  const lines = svg("svg", { "aria-hidden": "true", focusable: "false" });
  const told = make("p", "unseen");
  const sentences = make("div", "sentences");
  root.append(lines, words, sentences, told);
  parent.append(root);
  const state = { root, words, unit, lines, sentences, told, places: [], reached: 0, pointed: null };
  state.observer = new ResizeObserver(() => fit(state));
  words.onpointerover = ({ target }) => {
    // Pressing a number chooses its word, not the row of the word above it.
    if (!target.closest(".weight")) point(state, target.closest(".name"));
  };
  words.onpointerleave = () => point(state, null);
  words.addEventListener("focusin", ({ target }) => {
    reach(state, state.places.findIndex((place) => place.contains(target)));
    if (target.matches(".name:focus-visible")) point(state, target);
  });
  words.addEventListener("focusout", ({ relatedTarget }) => relatedTarget?.matches(".weight") || point(state, null));
  words.onkeydown = (event) => step(state, event);
  words.onscroll = () => draw(state);
  state.lookForMore = markMore(words, []);
  return state;
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  const drawn = JSON.stringify([data.words, data.selectable, data.opens, data.slim]);
  const wasDrawn = Object.keys(state.data?.rows ?? {}).length > 0;
  Object.assign(state, { data, setStateValue });
  setAttribute(state.words, "role", data.selectable ? "toolbar" : "group");
  setAttribute(state.words, "aria-label", data.label);
  setText(state.told, data.alt);
  // Without weights, it says so in their place.
  state.told.classList.toggle("unseen", data.slim || Object.keys(data.rows).length > 0);
  state.root.classList.toggle("slim", data.slim);
  setText(state.unit, data.unit);
  state.unit.hidden = !data.unit;
  if (state.drawn !== drawn) rebuild(state);
  else if (wasDrawn) state.root.classList.add("still");
  state.drawn = drawn;
  // They lie in one place, so that nothing below moves from one to the next.
  state.sentences.replaceChildren(...Object.entries(data.told).map(sentence));
  reach(state, data.focus);
  mark(state);
  fit(state);
  state.observer.observe(state.root);
  document.fonts.ready.then(() => fit(state));
  return whenGone(state, () => state.observer.disconnect());
}

function rebuild(state) {
  const { words, selectable, opens } = state.data;
  state.places = words.map((word, index) => {
    const place = make("div", "place");
    place.classList.toggle("special", word.isSpecial);
    // Pieces of one word stand close together.
    place.classList.toggle("joined", word.group === words[index - 1]?.group);
    const name = make(selectable ? "button" : "span", "name");
    const weight = make(selectable && opens ? "button" : "span", "weight");
    const text = visible(word.text).replace(/^[␣\s]+(?=\S)/, "");
    name.append(make("bdi", "", text));
    name.dataset.text = text;
    name.title = word.title;
    place.append(name, weight);
    if (selectable) {
      for (const button of place.querySelectorAll("button")) button.type = "button";
      name.onclick = () => choose(state, index);
      if (opens) weight.onclick = () => state.setStateValue("open", [asking(state), index]);
      // Below the slim form is the picture itself, whose cells the keyboard reaches.
      if (opens && state.data.slim) weight.tabIndex = -1;
    }
    return place;
  });
  state.words.replaceChildren(state.unit, ...state.places);
  // A new sentence is drawn once, from the word in focus.
  state.root.classList.remove("still");
}

function sentence([row, html]) {
  const element = make("div");
  element.dataset.row = row;
  element.innerHTML = html;
  return element;
}

function choose(state, index) {
  state.data = { ...state.data, focus: index };
  mark(state);
  draw(state);
  state.setStateValue("choose", index);
}

/** The word whose weights are shown. */
function asking({ data, pointed }) {
  return pointed !== null && data.rows[pointed] ? pointed : data.focus;
}

function point(state, name) {
  const index = state.places.findIndex((place) => place.firstChild === name);
  const pointed = index < 0 ? null : index;
  if (pointed === state.pointed) return;
  state.pointed = pointed;
  state.root.classList.add("still");
  mark(state);
  draw(state);
}

/** Mark the words, write their weights below them, and show the sentence about the row. */
function mark(state) {
  const { data, places } = state;
  const from = asking(state);
  const row = data.rows[from];
  for (const each of state.sentences.children) each.classList.toggle("seen", Number(each.dataset.row) === from);
  places.forEach((place, index) => {
    const [name, weight] = place.children;
    const written = row?.[index][1];
    place.classList.toggle("focused", index === from);
    place.style.setProperty("--weight-here", row ? row[index][0] : 0);
    if (data.selectable) setAttribute(name, "aria-pressed", index === data.focus);
    setText(weight, written ?? "");
    weight.hidden = !written;
    if (written && weight.matches("button")) setAttribute(weight, "aria-label", `${data.words[index].text}: ${written}`);
  });
}

function draw(state) {
  const { data, root, words, lines, places } = state;
  const from = asking(state);
  const room = ROOM[["broken", "wrapped"].find((form) => words.classList.contains(form)) ?? (data.slim ? "slim" : "one")];
  const box = root.getBoundingClientRect();
  const ends = places.map((place) => {
    const { left, width, top } = place.firstChild.getBoundingClientRect();
    return { x: left + width / 2 - box.left, top: top - box.top, bottom: place.getBoundingClientRect().bottom - box.top + 6 };
  });
  const arcs = (data.rows[from] ?? [])
    .map(([weight], index) => ({ weight, d: arc(ends[from], ends[index], room) }))
    .filter(({ weight }) => weight >= LEAST)
    .sort((a, b) => a.weight - b.weight);
  lines.replaceChildren(
    ...arcs.map(({ weight, d }) =>
      svg("path", { d, pathLength: 1, "stroke-width": 1 + ((data.slim ? WIDEST / 2 : WIDEST) - 1) * weight, "stroke-opacity": 0.35 + 0.6 * weight }),
    ),
  );
}

/** An arc between the tops of two words of a line; from line to line, a curve that crosses neither word nor number. */
function arc(from, to, room) {
  const { x, top } = from;
  const most = 1.2 * room; // the curve's highest point is at three quarters of the height of its handles
  const loop = top - Math.min(42, most);
  if (from === to) return `M${x} ${top}C${x - 26} ${loop} ${x + 26} ${loop} ${x} ${top}`;
  if (from.top > to.bottom) return slanted(from, from.top, to, to.bottom);
  if (to.top > from.bottom) return slanted(from, from.bottom, to, to.top);
  const height = Math.min(most, 26 + (0.42 * Math.abs(to.x - x) * room) / ROOM.one);
  return `M${x} ${top}C${x} ${top - height} ${to.x} ${to.top - height} ${to.x} ${to.top}`;
}

const slanted = ({ x }, y, { x: otherX }, otherY) => {
  const middle = (y + otherY) / 2;
  return `M${x} ${y}C${x} ${middle} ${otherX} ${middle} ${otherX} ${otherY}`;
};

/** Fit the letters to the width; a sentence that is too long wraps or scrolls. */
function fit(state) {
  const { root, words, places, data } = state;
  if (!root.clientWidth || !places.length) return;
  const id = `${root.clientWidth} ${state.drawn} ${data.unit} ${document.fonts.status}`;
  if (state.fitted !== id) {
    state.fitted = id;
    const sizes = data.slim ? SLIM_SIZES : SIZES;
    let size = sizes.most;
    const isBroken = () => places.at(-1).offsetTop > places[0].offsetTop || words.scrollWidth > words.clientWidth;
    const isNarrow = data.slim && root.clientWidth <= NARROW;
    words.classList.toggle("narrow", isNarrow);
    words.classList.remove("wrapped");
    root.style.setProperty("--size", `${size}px`);
    while (size > sizes.least && isBroken()) root.style.setProperty("--size", `${--size}px`);
    words.classList.toggle("wrapped", isNarrow && isBroken());
    if (new Set(places.map(({ offsetTop }) => offsetTop)).size > MOST_LINES) words.classList.remove("wrapped");
    words.classList.toggle("broken", isBroken() && !data.slim);
    state.seen = undefined;
    // A scrolling box without buttons must be focusable for the keyboard.
    setAttribute(words, "tabindex", !data.selectable && words.scrollWidth > words.clientWidth ? 0 : null);
  }
  bringFocus(state);
  state.lookForMore();
  draw(state);
}

/** Scroll a long line to the word in focus. */
function bringFocus(state) {
  const { words, places, data } = state;
  if (!data.slim || state.seen === data.focus) return;
  state.seen = data.focus;
  const { offsetLeft, offsetWidth } = places[data.focus];
  words.scrollLeft = offsetLeft + offsetWidth / 2 - words.clientWidth / 2;
}

function reach(state, index) {
  if (index < 0) return;
  state.reached = index;
  if (!state.data.selectable) return;
  // The words are one tab stop; the numbers shown come after.
  state.places.forEach((place, other) => (place.firstChild.tabIndex = other === index ? 0 : -1));
}

function step(state, event) {
  state.places[alongRow(event, state.reached, state.places.length - 1)]?.firstChild.focus();
}
