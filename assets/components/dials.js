// Rotated pairs of dimensions: a dial for each, with an arrow of the query and one of the key.

/**
 * @typedef {object} Dial
 * @property {[number, number]} angles of the query's arrow and the key's (radians)
 * @property {[number, number]} lengths relative to the longer one
 * @property {number} turned the angle by which both are rotated (radians)
 * @property {string[]} captions
 *
 * @typedef {object} DialsData from attention.figures.dials.Dials.payload()
 * @property {string} title
 * @property {string} alt
 * @property {[string, string]} names of the two arrows
 * @property {Dial[]} dials
 */

const ROLES = ["query", "key"];

const stateOf = remembering((parent) => {
  const root = make("div", "root dials");
  const [title, legend, board] = ["title", "legend", "board"].map((name) => make("div", name));
  board.setAttribute("role", "img");
  root.append(title, legend, board);
  parent.append(root);
  return { root, title, legend, board, dials: [] };
});

/** @param {Mount} mount */
export default function ({ data, parentElement }) {
  const state = stateOf(parentElement);
  setText(state.title, data.title);
  state.legend.replaceChildren(...data.names.map((name, index) => make("bdi", ROLES[index], name)));
  setAttribute(state.board, "aria-label", data.alt);
  // Dials are reused, so that the arrows are seen to turn.
  while (state.dials.length < data.dials.length) addDial(state);
  state.dials.splice(data.dials.length).forEach(({ element }) => element.remove());
  data.dials.forEach((dial, index) => draw(state.dials[index], dial));
}

function addDial(state) {
  const element = make("div", "dial");
  const drawing = svg("svg", { viewBox: "-1.2 -1.2 2.4 2.4", "aria-hidden": "true" });
  drawing.append(svg("circle", { r: 1, class: "rim" }));
  const [before, now] = ["before", "now"].map((name) => {
    const arrows = ROLES.map((role) => arrow(`${name} ${role}`));
    drawing.append(...arrows);
    return arrows;
  });
  const captions = make("div", "captions");
  element.append(drawing, captions);
  state.board.append(element);
  state.dials.push({ element, before, now, captions });
}

function arrow(look) {
  const group = svg("g", { class: look });
  group.append(svg("line", { x1: 0, y1: 0 }), svg("circle", { r: 0.07 }));
  return group;
}

/** @param {Dial} dial */
function draw({ before, now, captions }, dial) {
  dial.angles.forEach((angle, index) => {
    point(before[index], dial.lengths[index], angle);
    point(now[index], dial.lengths[index], angle + dial.turned);
  });
  captions.replaceChildren(...dial.captions.map((caption) => make("div", "", caption)));
}

function point(group, length, angle) {
  const [line, tip] = group.children;
  line.setAttribute("x2", length);
  tip.setAttribute("cx", length);
  // SVG's y axis points down.
  group.style.transform = `rotate(${-angle}rad)`;
}
