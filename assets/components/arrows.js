// Arrows in a plane: chains of steps from place to place, and what each of them says.

/**
 * @typedef {object} Chain what attention.figures.arrows.Chain.payload() gives
 * @property {string} name written where it begins or ends
 * @property {string} places x and y of each place, little-endian float32 in base64
 * @property {string[]} labels one for each arrow
 * @property {string[]} inks the same
 * @property {boolean} isMain whether it stands out
 * @property {string[]} tags written beside the arrows; none, or one for each
 *
 * @typedef {object} ArrowsData what attention.figures.arrows.Arrows.payload() gives
 * @property {string} title
 * @property {string} alt
 * @property {Chain[]} chains
 * @property {[string, string][]} legend an ink, and what has it
 * @property {string} xAxis
 * @property {string} yAxis
 */

const SIZE = 12; // of letters
const TALLEST = 0.72; // of the width
const MOST = 440; // pixels in height
const LOWEST = 0.4;
const ROOM = 26; // around the arrows, for names
const HEAD = 7; // the length of an arrow's head
const LEAST = 0.3; // of the picture for the arrows that stand out, or the others leave it
const REACH = 20; // so near to an arrow one points at it

const stateOf = remembering((parent) => buildMarks(parent, "arrows", { draw, markUnder, pointAt }));

/** @param {Mount} mount */
export default function (mount) {
  const state = stateOf(mount.parentElement);
  if (state.given !== mount.data) take(state, mount.data);
  state.observer.observe(state.root);
  draw(state);
  return whenGone(state, () => state.observer.disconnect());
}

function take(state, data) {
  state.given = data;
  state.chains = data.chains.map((chain) => {
    const numbers = decodeNumbers(chain.places);
    const places = Array.from({ length: numbers.length / 2 }, (_, index) => [numbers[2 * index], numbers[2 * index + 1]]);
    return { ...chain, places };
  });
  // The arrows in the order in which the arrow keys lead to them: the chains that stand out first.
  const inOrder = [...state.chains].sort((one, other) => Number(other.isMain) - Number(one.isMain));
  state.marks = inOrder.flatMap((chain) =>
    chain.labels.map((label, index) => ({ chain, label, ink: chain.inks[index], from: chain.places[index], to: chain.places[index + 1] })),
  );
  state.at = null;
}

function draw(state) {
  const { root, given: data, picture, title, legend } = state;
  const width = root.clientWidth;
  state.drawnWidth = width;
  if (!width) return; // in a closed tab: the observer calls when it opens
  state.layout = layOut(state, width);
  title.textContent = data.title;
  legend.replaceChildren(...data.legend.map(([ink, name]) => make("span", `ink ${ink}`, name)));
  const { height } = state.layout;
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  state.pointer = svg("g", { class: "pointer" });
  const quiet = state.chains.filter((chain) => !chain.isMain);
  const main = state.chains.filter((chain) => chain.isMain);
  drawing.append(...[...quiet, ...main].map((chain) => drawChain(state, chain)), axes(state));
  picture.replaceChildren(drawing);
  const names = [...main, ...quiet].flatMap((chain) => namesOfChain(state, chain));
  drawing.append(...namesThatFit(drawing, names, linesOf(state)), state.pointer);
  setAttribute(picture, "aria-label", `${data.alt} ${message("Arrow keys move from arrow to arrow.")}`);
  pointAt(state, state.at);
}

/**
 * Where the places lie, in CSS pixels: both axes have the same scale, so that lengths can be compared. Where all places
 * would make a dot of the arrows that stand out, these are framed, and what is far from them lies outside.
 */
function layOut({ chains }, width) {
  const [left, right, low, high] = frame(chains);
  const [wide, tall] = [Math.max(right - left, 1e-9), Math.max(high - low, 1e-9)];
  const room = width - 2 * ROOM;
  const most = Math.min(TALLEST * width, MOST) - 2 * ROOM;
  const scale = Math.min(room / wide, most / tall);
  const height = Math.max(tall * scale + 2 * ROOM, Math.min(LOWEST * width, MOST)) + SIZE;
  const [middleX, middleY] = [(left + right) / 2, (low + high) / 2];
  const at = ([x, y]) => [width / 2 + (x - middleX) * scale, (height - SIZE) / 2 - (y - middleY) * scale];
  return { width, height, at };
}

function frame(chains) {
  const [all, main] = [chains, chains.filter((chain) => chain.isMain)].map(bounds);
  const [mainSize, allSize] = [main, all].map(([left, right, low, high]) => Math.max(right - left, high - low));
  if (!(mainSize > 0) || mainSize >= LEAST * allSize) return all;
  // As far around them as leaves them half of the picture.
  const room = mainSize / 2;
  const [left, right, low, high] = main;
  return [Math.max(all[0], left - room), Math.min(all[1], right + room), Math.max(all[2], low - room), Math.min(all[3], high + room)];
}

/** The least and the largest x, and the least and the largest y. */
function bounds(chains) {
  const places = chains.flatMap((chain) => chain.places);
  const [xs, ys] = [0, 1].map((axis) => places.map((place) => place[axis]));
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
}

function axes({ layout: { width, height }, given: data }) {
  const group = svg("g", { class: "axes", "font-size": SIZE });
  group.append(
    svg("text", { x: width - 4, y: height - 4, "text-anchor": "end" }, data.xAxis),
    svg("text", { transform: "translate(12 4) rotate(-90)", "text-anchor": "end" }, data.yAxis),
  );
  return group;
}

function drawChain({ layout }, chain) {
  const group = svg("g", { class: chain.isMain ? "main" : "other" });
  const places = chain.places.map(layout.at);
  chain.labels.forEach((_, index) => group.append(...arrow(places[index], places[index + 1], chain.inks[index])));
  const [x, y] = places[0];
  group.append(svg("circle", { cx: x, cy: y, r: 3.5, class: "start" }));
  return group;
}

/** The name of a chain, where a main one begins and where any other ends, and the tags of its arrows. */
function namesOfChain({ layout }, chain) {
  const places = chain.places.map(layout.at);
  const tags = chain.tags.map((tag, index) => tagged(places[index], places[index + 1], tag));
  if (!chain.name) return tags;
  const [x, y] = chain.isMain ? places[0] : places.at(-1);
  // What lies outside the frame would be named at its edge, where it is not.
  if (x < 0 || x > layout.width || y < 0 || y > layout.height) return tags;
  const kind = chain.isMain ? "own" : "name";
  return [svg("text", { x: x + 6, y: y - 6, "font-size": SIZE, class: kind }, shortened(chain.name)), ...tags];
}

/** The lines of all arrows, from end to end. */
function linesOf({ chains, layout }) {
  return chains.flatMap(({ places }) => places.slice(1).map((place, index) => [layout.at(places[index]), layout.at(place)]));
}

/**
 * Those of some names that lie neither on one before them nor on an arrow; all others are in the readout. Each lies where it is put or, if
 * an arrow runs through it there, in a place near by where none does.
 */
function namesThatFit(drawing, names, lines) {
  drawing.append(...names);
  const taken = [];
  const { width, height } = drawing.viewBox.baseVal;
  return names.filter((name) => {
    const own = name.getBBox();
    const free = placesNear(own, width, height).filter((box) => taken.every((other) => !meet(box, other)));
    const clear = free.find((each) => !lines.some((line) => runsThrough(line, each)));
    // The word itself is always named; any other that an arrow would strike through is in the readout.
    const box = clear ?? (name.classList.contains("own") ? free[0] : undefined);
    if (!box) {
      name.remove();
      return false;
    }
    taken.push(box);
    setAttribute(name, "x", Number(name.getAttribute("x")) + box.x - own.x);
    setAttribute(name, "y", Number(name.getAttribute("y")) + box.y - own.y);
    return true;
  });
}

/** A box where it is, and the same a little further in each direction; none runs out of the picture. */
function placesNear({ x, y, width, height }, right, bottom) {
  const [across, down] = [width + 12, height + 4];
  const ways = [[0, 0], [0, down], [-across, 0], [-across, down], [0, -down], [across / 2, 0], [-across / 2, -down], [-across / 2, down]];
  const further = ways.slice(1).map(([dx, dy]) => [1.6 * dx, 2.2 * dy]);
  return [...ways, ...further].map(([dx, dy]) => ({
    ...{ width, height, x: Math.max(3, Math.min(right - width - 3, x + dx)) },
    y: Math.max(0, Math.min(bottom - height, y + dy)),
  }));
}

const meet = (one, other) =>
  one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;

/** Whether a line runs through a box: what is left of it between the box's sides (Liang and Barsky 1984). */
function runsThrough([[x1, y1], [x2, y2]], { x, y, width, height }) {
  let [from, to] = [0, 1];
  for (const [start, way, low, high] of [[x1, x2 - x1, x, x + width], [y1, y2 - y1, y, y + height]]) {
    if (way === 0 && (start < low || start > high)) return false;
    if (way === 0) continue;
    const [enters, leaves] = [(low - start) / way, (high - start) / way].sort((one, other) => one - other);
    [from, to] = [Math.max(from, enters), Math.min(to, leaves)];
  }
  return from < to;
}

/** A line, and its head, which is smaller than a short line. */
function arrow([x1, y1], [x2, y2], ink) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 0.5) return [];
  const head = Math.min(HEAD, length / 2);
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [bx, by] = [x2 - dx * head, y2 - dy * head];
  const half = head / 2;
  const points = [[x2, y2], [bx - dy * half, by + dx * half], [bx + dy * half, by - dx * half]];
  return [
    svg("line", { x1, y1, x2: bx, y2: by, class: `ink ${ink}` }),
    svg("polygon", { points: points.map((point) => point.join()).join(" "), class: `ink ${ink}` }),
  ];
}

/** A few letters below the middle of an arrow. */
function tagged([x1, y1], [x2, y2], tag) {
  const isSteep = Math.abs(y2 - y1) > Math.abs(x2 - x1);
  const place = isSteep
    ? { x: (x1 + x2) / 2 - 6, y: (y1 + y2) / 2 + 4, "text-anchor": "end" }
    : { x: (x1 + x2) / 2, y: (y1 + y2) / 2 + SIZE + 4, "text-anchor": "middle" };
  return svg("text", { ...place, "font-size": SIZE, class: "tag" }, shortened(tag));
}

// ---- What is pointed at --------------------------------------------------------------------------

/** The index of the arrow that is pointed at; none if all are far away. */
function markUnder(state, event) {
  const { layout, marks } = state;
  const point = placeUnder(state, event);
  const distances = marks.map(({ from, to }) => distance(point, layout.at(from), layout.at(to)));
  const nearest = distances.indexOf(Math.min(...distances));
  return distances.length && distances[nearest] <= REACH ? nearest : null;
}

/** The distance of a point from a line between two others. */
function distance([x, y], [x1, y1], [x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const squared = dx * dx + dy * dy;
  const share = squared ? Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / squared)) : 0;
  return Math.hypot(x - x1 - share * dx, y - y1 - share * dy);
}

function pointAt(state, at) {
  const { layout, marks, pointer, readout } = state;
  state.at = at;
  if (!pointer) return;
  pointer.replaceChildren();
  readout.textContent = at === null ? "\u00a0" : marks[at].label;
  if (at === null) return;
  const [[x1, y1], [x2, y2]] = [layout.at(marks[at].from), layout.at(marks[at].to)];
  pointer.append(svg("line", { x1, y1, x2, y2 }), svg("circle", { cx: x2, cy: y2, r: 6 }));
}
