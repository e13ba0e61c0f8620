// Bars in HTML with their names, horizontal or upright, readable with the keyboard.

/**
 * @typedef {object} BarsData from attention.figures.bars.Bars.payload()
 * @property {string} title
 * @property {string} alt
 * @property {string[]} labels
 * @property {{name: string, ink: "signed" | "weight" | "inactive", values: string}[]} series
 * @property {boolean} areUpright
 * @property {boolean} areNamed whether upright bars have space for their names
 * @property {number | null} limit the value of a full bar
 * @property {number} decimals
 */

const stateOf = remembering((parent) => {
  const root = make("div", "root bars");
  const [title, legend, picture, readout] = ["title", "legend", "picture", "readout"].map((name) => make("div", name));
  picture.tabIndex = 0;
  picture.setAttribute("role", "application");
  readout.setAttribute("role", "status");
  root.append(title, legend, picture, readout);
  parent.append(root);
  const state = { root, title, legend, picture, readout, at: null };
  picture.onpointermove = ({ target }) => pointAt(state, placeOf(target.closest("[data-place]")));
  picture.onpointerleave = picture.onblur = () => pointAt(state, null);
  picture.onkeydown = (event) => {
    const place = alongRow(event, state.at ?? -1, state.data.labels.length - 1, true);
    if (place !== null) pointAt(state, place);
  };
  state.observer = new ResizeObserver(() => turnNames(state));
  return state;
});

/** @param {Mount} mount */
export default function ({ data, parentElement }) {
  const state = stateOf(parentElement);
  Object.assign(state, { data, series: data.series.map((each) => ({ ...each, values: decodeNumbers(each.values) })) });
  const { series, picture, legend } = state;
  const all = series.flatMap(({ values }) => [...values]).filter(Number.isFinite);
  const [low, high] = data.limit === null ? [Math.min(0, ...all), Math.max(0, ...all)] : [0, data.limit];
  const span = high - low || 1;
  state.title.textContent = data.title;
  // From the bottom of the lowest bar to the top of the highest.
  const ends = [low, high].map((end) => fixed(end, Math.min(data.decimals, 2)));
  if (data.areUpright) state.title.append(make("span", "range", ends.join(" … ")));
  legend.replaceChildren(...series.filter(({ name }) => name).map(({ ink, name }) => make("span", ink, name)));
  picture.classList.toggle("upright", data.areUpright);
  picture.style.setProperty("--zero", `${(100 * (0 - low)) / span}%`);
  setAttribute(picture, "aria-label", `${data.alt} ${message("Arrow keys read the numbers.")}`);
  picture.replaceChildren(...data.labels.map((label, place) => barOf(state, label, place, span)));
  pointAt(state, null);
  turnNames(state);
  state.observer.observe(state.root);
  return whenGone(state, () => state.observer.disconnect());
}

function barOf({ data, series }, label, place, span) {
  const row = make("div", "bar");
  row.dataset.place = String(place);
  const room = make("div", "room");
  for (const { ink, values } of series) {
    const value = values[place];
    const part = make("i", ink === "signed" ? (value < 0 ? "negative" : "positive") : ink);
    part.classList.toggle("below", value < 0);
    part.style.setProperty("--length", `${(100 * Math.abs(value || 0)) / span}%`);
    room.append(part);
  }
  const name = make("bdi", "name", data.areUpright && !data.areNamed ? "" : visible(label));
  row.append(name, room, make("span", "number", data.areUpright ? "" : fixed(series[0].values[place], data.decimals)));
  return row;
}

const placeOf = (bar) => (bar ? Number(bar.dataset.place) : null);

function pointAt(state, at) {
  const { data, series, picture, readout } = state;
  if (state.at !== null) picture.children[state.at]?.classList.remove("pointed");
  state.at = at;
  picture.children[at ?? -1]?.classList.add("pointed");
  const said = series.map(({ name, values }) => `${name} ${fixed(values[at ?? 0] ?? 0, data.decimals)}`.trim());
  setText(readout, at === null ? "\u00a0" : `${visible(data.labels[at])}: ${said.join(", ")}`);
}

/** Turn the names of upright bars that do not fit side by side. */
function turnNames({ picture }) {
  picture.classList.remove("downwards");
  const isWide = [...picture.querySelectorAll(".name")].some((name) => name.scrollWidth > name.clientWidth + 1);
  picture.classList.toggle("downwards", isWide && picture.classList.contains("upright"));
}
