// The weights of heads over the input picture: large for one head, small for all.

/**
 * @typedef {object} OverlayHead an element of attention.figures.overlay.Overlay.payload()
 * @property {string} label
 * @property {string} description
 * @property {string} values one weight per patch, row by row, little-endian float32 in base64
 * @property {number} special the weight of tokens that are not patches
 *
 * @typedef {object} OverlayData
 * @property {string} label of the whole
 * @property {string} asking the name of the patch in focus
 * @property {string} picture greys from 0 to 1, little-endian float32 in base64
 * @property {number} side in pixels
 * @property {number} across in patches
 * @property {string[]} patches names, row by row
 * @property {number | null} focus the query's patch, or null
 * @property {OverlayHead[]} heads
 * @property {number} current
 * @property {boolean} isBare whether to show only the picture, cut into patches
 */

const INK = 0.6; // the darkness of the picture, which must not hide the weights
const OVERLAY = 0.85; // the opacity of weight 1

const stateOf = remembering((parent) => {
  const root = make("div", "root overlay");
  const large = make("div", "large");
  const board = make("div", "board");
  const caption = make("div", "caption");
  const heads = make("div", "heads");
  board.setAttribute("role", "group");
  heads.setAttribute("role", "group");
  caption.setAttribute("role", "status");
  large.append(board, caption);
  root.append(large, heads);
  parent.append(root);
  return { root, board, caption, heads, patches: [], buttons: [] };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  const theme = readTheme(state.root);
  const greys = Array.from(decodeNumbers(data.picture), (grey) => INK * grey);
  const picture = paintCover(greys, data.side, theme.ink);
  const head = data.heads[data.current];
  const weights = decodeNumbers(head.values);
  const from = message("{head}, from {token}", { head: head.label, token: data.asking });
  setAttribute(state.board, "aria-label", data.isBare ? message("The patches") : `${data.label}: ${from}`);
  setAttribute(state.heads, "aria-label", message("Heads of this layer"));
  showLarge(state, data, theme, picture, weights);
  if (!data.isBare) showHeads(state, data, theme, picture);
  const tell = (index) => (state.caption.textContent = told(data, head, weights, index));
  tell(null);
  state.board.onpointermove = state.board.onfocusin = (event) => {
    const button = event.target.closest("[data-index]");
    tell(button ? Number(button.dataset.index) : null);
  };
  state.board.onpointerleave = state.board.onfocusout = () => tell(null);
  onChosen(state.board, (index) => setStateValue("ask", index));
  onChosen(state.heads, (index) => setStateValue("choose", index));
}

/** What is pointed at or, by default, where the patch in focus attends most. */
function told(data, head, weights, index) {
  if (data.isBare) return index === null ? "" : data.patches[index];
  if (index !== null) return `${data.asking} → ${data.patches[index]}: ${weights[index].toFixed(2)}`;
  return head.description;
}

function copyOf(picture) {
  const canvas = make("canvas", "pixels");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  canvas.getContext("2d").drawImage(picture, 0, 0);
  canvas.setAttribute("aria-hidden", "true");
  return canvas;
}

/** The weights as the opacity of one colour, one pixel per patch. */
function paintWeights(weights, across, theme) {
  const parts = Array.from(weights, (weight) => OVERLAY * Math.sqrt(weight));
  const canvas = paintCover(parts, across, scaleOf(theme, "weights").fills.at(-1));
  canvas.setAttribute("aria-hidden", "true");
  return canvas;
}

function showLarge(state, data, theme, picture, weights) {
  while (state.patches.length < data.patches.length) {
    const button = make("button", "patch");
    button.type = "button";
    button.dataset.index = String(state.patches.length);
    state.patches.push(button);
  }
  state.patches.length = data.patches.length;
  state.board.style.setProperty("--across", String(data.across));
  const layers = [copyOf(picture), ...(data.isBare ? [] : [paintWeights(weights, data.across, theme)])];
  // Reuse the buttons, to keep the keyboard focus.
  state.board.querySelectorAll("canvas").forEach((canvas) => canvas.remove());
  state.board.prepend(...layers);
  state.patches.forEach((button, index) => {
    if (button.parentNode !== state.board) state.board.append(button);
    setAttribute(button, "aria-pressed", index === data.focus);
    const [patch, weight] = [data.patches[index], weights[index].toFixed(2)];
    setAttribute(button, "aria-label", data.isBare ? patch : message("{patch}, weight {weight}", { patch, weight }));
    setAttribute(button, "title", data.isBare ? patch : `${patch}: ${weight}`);
  });
  [...state.board.querySelectorAll(".patch")].slice(data.patches.length).forEach((button) => button.remove());
}

function showHeads(state, data, theme, picture) {
  while (state.buttons.length < data.heads.length) {
    const button = make("button", "head");
    button.type = "button";
    button.dataset.index = String(state.buttons.length);
    button.append(make("span", "thumb"), make("bdi", "name"), make("span", "special"));
    state.buttons.push(button);
    state.heads.append(button);
  }
  state.buttons.splice(data.heads.length).forEach((button) => button.remove());
  data.heads.forEach((head, index) => {
    const [thumb, name, special] = state.buttons[index].children;
    name.textContent = head.label;
    special.textContent = `[CLS] ${head.special.toFixed(2)}`;
    setAttribute(state.buttons[index], "aria-pressed", index === data.current);
    setAttribute(state.buttons[index], "aria-label", `${head.label}: ${head.description}`);
    thumb.replaceChildren(copyOf(picture), paintWeights(decodeNumbers(head.values), data.across, theme));
  });
}
