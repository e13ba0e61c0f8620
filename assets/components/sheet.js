// A sheet: the parts of a page that change together, a heading, a formula, words and pictures. What a new sheet has in
// common with the one before stays as it is: a picture, what is open, and what is in focus.

/**
 * @typedef {object} Block one part; what else it has depends on its kind (attention.ui.sheet)
 * @property {string} kind
 * @property {string} [key] tells it from others of its kind
 *
 * @typedef {object} SheetData
 * @property {Block[]} blocks
 * @property {string} katex the address of the module that sets formulas (rehype-katex)
 *
 * @typedef {object} Part an element of the sheet, and what has to be known of it
 * @property {string} [said] the block as text, to see whether it has changed
 * @property {boolean} [isOpen] whether the server has said that it is open
 * @property {(() => void) & {goBack?: (names: string[], done: () => void) => boolean}} [clean] what a picture wants to
 *   be called when it goes, and what plays its way back to pictures with some names, if there is one
 */

/** What saves a figure as PNG: the script of charts puts it there. */
const PNG = Symbol.for("attention.png");

// The modules that are here, by their addresses; a promise stands for one that is on its way.
const modules = new Map();
// Formulas that are set, by their source: a step's is the same for every sentence.
const formulas = new Map();
/** @type {WeakMap<Element, Part>} */
const parts = new WeakMap();

// Which sheet has come into a box last.
const holders = new WeakMap();

const stateOf = remembering((parent) => {
  const root = make("div", "sheet");
  // Nothing around it has a box. A rule of the page could say so, but a browser would try it on everything.
  for (const other of parent.children) other.style.display = "none";
  const boxes = [];
  for (let box = parent; box && !box.matches(".stVerticalBlock"); box = box.parentElement) boxes.push(box);
  parent.append(root);
  return { root, boxes };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue, ask }) {
  const state = stateOf(parentElement);
  for (const box of state.boxes) {
    box.style.display = "contents";
    holders.set(box, state);
  }
  const said = JSON.stringify(data.blocks);
  // Called with nothing new, it is the theme that has changed, and pictures read its colours when they are drawn.
  Object.assign(state, { isOtherTheme: said === state.said, said, katex: data.katex, setStateValue, ask });
  arrange(state, state.root, data.blocks);
  tellAround(state, heldIn(data.blocks));
  return whenGone(state, () => {
    tellAround(state, null);
    // Streamlit may use them for something else now, unless another sheet has come into them before.
    for (const box of state.boxes) if (holders.get(box) === state) box.style.display = "";
    [...state.root.children].forEach(leave);
  });
}

/** What there is among blocks that the layout around them depends on: the keys of sections, and columns. */
function heldIn(blocks, held = new Set()) {
  for (const block of blocks) {
    if (block.kind === "section") held.add(block.key);
    if (block.kind === "row") held.add("columns");
    for (const inner of [block.blocks ?? [], ...(block.columns ?? [])]) heldIn(inner, held);
  }
  return held;
}

// What each sheet holds, by the part of the page around it.
const around = new WeakMap();

/**
 * Tell all that is around a sheet what it holds, or that it is gone (null). This is for style sheets: a rule that looks
 * for it (:has) has a browser look at everything anew, whatever changes.
 */
function tellAround(state, held) {
  for (let part = outside(state.root); part; part = outside(part)) {
    if (!around.has(part)) around.set(part, new Map());
    const sheets = around.get(part);
    if (held) sheets.set(state, held);
    else sheets.delete(state);
    setAttribute(part, "data-holds", [...new Set([...sheets.values()].flatMap((each) => [...each]))].join(" "));
  }
}

function outside(element) {
  return element.parentElement?.closest(".stVerticalBlock[class*=st-key-]");
}

/** Draw blocks inside an element; those that were there before stay in their elements. */
function arrange(state, parent, blocks) {
  departures.get(parent)?.();
  const before = new Map();
  for (const element of parent.children) before.set(element.dataset.block, element);
  const counts = {};
  const wanted = blocks.map((block) => {
    counts[block.kind] = (counts[block.kind] ?? 0) + 1;
    const name = block.key ? `${block.kind} ${block.key}` : `${block.kind} ${counts[block.kind]}`;
    const element = before.get(name) ?? KINDS[block.kind].build(block);
    setAttribute(element, "data-block", name);
    before.delete(name);
    return element;
  });
  const coming = wanted.filter((element) => element.parentElement !== parent);
  const pictures = picturesIn(blocks.filter((_, index) => coming.includes(wanted[index])));
  const figure = departing(parent, [...before.values()], coming, pictures);
  // After all others, none of which is moved by that.
  if (figure) parent.append(figure);
  for (const element of before.values()) if (element !== figure) drop(element);
  // What is in its place is not moved, because an element that is moved loses the focus.
  wanted.forEach((element, index) => {
    if (parent.children[index] !== element) parent.insertBefore(element, parent.children[index] ?? null);
    fill(state, element, blocks[index]);
  });
  const other = coming.find((each) => each.matches(".figure") || each.querySelector(".figure"));
  // What comes is drawn by then, and has its height.
  if (figure) afterWords(() => lieOver(figure, other));
}

/** All pictures among blocks. */
function picturesIn(blocks) {
  const inside = ({ blocks = [], columns = [] }) => picturesIn([...blocks, ...columns.flat()]);
  return blocks.flatMap((block) => (block.kind === "picture" ? [block] : inside(block)));
}

// What ends a departure from an element, while there is one.
const departures = new WeakMap();

/**
 * Find the picture that stays for a moment, among elements that go: the one that has a way back to one of those that
 * come. It lies over them, takes no press, and is nothing to a reader.
 * @returns {HTMLElement | undefined}
 */
function departing(parent, going, coming, pictures) {
  const names = pictures.map(({ data }) => data.name);
  const end = () => {
    departures.delete(parent);
    drop(figure);
    for (const each of coming) each.classList.remove("behind");
  };
  const figures = going.flatMap((each) => (each.matches(".figure") ? [each] : [...each.querySelectorAll(".figure")]));
  const figure = figures.find((each) => parts.get(each)?.clean?.goBack?.(names, end));
  if (!figure) return undefined;
  departures.set(parent, end);
  for (const each of coming) each.classList.add("behind");
  figure.inert = true;
  figure.classList.add("departing");
  return figure;
}

/** Lay an element where another one is, in the next box around it: some elements of a page have none. */
function lieOver(element, other) {
  let around = element.parentElement;
  while (around && !around.getClientRects().length) around = around.parentElement;
  if (!around || !other.isConnected) return;
  around.classList.add("arriving");
  const [outer, inner] = [around, other].map((each) => each.getBoundingClientRect());
  const place = { left: inner.left - outer.left, top: inner.top - outer.top, right: outer.right - inner.right };
  for (const [side, distance] of Object.entries(place)) element.style[side] = `${distance}px`;
}

function drop(element) {
  leave(element);
  element.remove();
}

/** Draw a block in its element, if it has changed. */
function fill(state, element, block) {
  const part = parts.get(element) ?? {};
  parts.set(element, part);
  const said = JSON.stringify(block);
  if (part.said === said && !(state.isOtherTheme && PAINTED.has(block.kind))) return;
  part.said = said;
  KINDS[block.kind].draw(element, block, state);
}

/** Let an element go, with all pictures in it. */
function leave(element) {
  for (const each of [element, ...element.querySelectorAll("[data-block]")]) parts.get(each)?.clean?.();
}

const written = (tag, className = "") => ({
  build: () => make(tag, className),
  draw: (element, block) => {
    element.textContent = block.text;
    setAttribute(element, "id", block.id || null);
  },
});

/** How each kind of block is built once, and drawn whenever it changes. */
const KINDS = {
  h1: written("h1"),
  h2: written("h2"),
  h3: written("h3"),
  shapes: written("div", "shapes"),
  caption: written("p", "caption"),
  notice: {
    build: () => {
      const element = make("div", "notice");
      element.setAttribute("role", "status");
      element.append(make("bdi"));
      return element;
    },
    draw: (element, block) => {
      element.firstChild.textContent = block.text;
    },
  },
  news: {
    build: () => {
      const element = make("div", "prose news");
      element.setAttribute("role", "status");
      element.append(make("bdi"));
      return element;
    },
    draw: (element, block) => {
      element.firstChild.textContent = block.text;
    },
  },
  prose: {
    build: (block) => make("div", `prose ${block.look}`.trim()),
    // It comes from the project's own texts, in which every fact is escaped.
    draw: (element, block) => {
      element.className = `prose ${block.look}`.trim();
      element.innerHTML = block.html;
    },
  },
  proof: {
    build: (block) => {
      const element = make("div", "proof");
      element.setAttribute("role", "note");
      element.setAttribute("aria-label", block.label);
      return element;
    },
    // The project's own text, too.
    draw: (element, block, state) => {
      const part = parts.get(element);
      const areOpen = Array.from(element.children, (line) => line.open);
      // Where it stays, the focus does.
      if (part.html !== block.html) element.innerHTML = part.html = block.html;
      block.folds.forEach((fold, index) => {
        const isSame = part.folds?.[index]?.isOpen === fold.isOpen;
        open(element.children[index], isSame ? areOpen[index] : fold.isOpen, fold.key, state);
      });
      part.folds = block.folds;
    },
  },
  formula: { build: () => make("div", "formula"), draw: drawFormula },
  fold: { build: buildFold, draw: drawFold },
  section: { build: buildSection, draw: drawSection },
  row: { build: () => make("div", "columns"), draw: drawRow },
  picture: { build: buildPicture, draw: drawPicture },
  way: { build: (block) => make("a", `way st-key-${block.key}`), draw: drawWay },
  png: {
    build: () => make("button", "file"),
    draw: (element, block) => {
      element.textContent = block.text;
      element.onclick = () => withModule(block.drawer, () => document[PNG](block.address, block.file));
    },
  },
  file: {
    build: () => make("a", "file"),
    draw: (element, block) => {
      element.textContent = block.text;
      element.href = block.address;
      element.download = block.file;
    },
  },
};

/** A plain click on a way to another page stays in the session; any other one is the browser's. */
function drawWay(element, block, state) {
  element.textContent = block.text;
  element.href = block.address;
  element.onclick = (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    send(state.setStateValue, `${block.key}.go`, true);
  };
}

/** In the colours of the page: pictures, and what may hold some. */
const PAINTED = new Set(["fold", "picture", "row", "section"]);

/** Call `act` with a module, at once where it is here already. A second attempt has another address (see the stub). */
function withModule(address, act) {
  const here = modules.get(address);
  if (here && !(here instanceof Promise)) {
    act(here);
    return;
  }
  if (!here) {
    const url = new URL(address, document.baseURI).href;
    const coming = import(url).catch(() => import(`${url}?again`));
    modules.set(address, coming);
    coming.then((module) => modules.set(address, module), () => modules.delete(address));
  }
  modules.get(address).then(act);
}

function drawFormula(element, { latex }, state) {
  element.dataset.latex = latex;
  const set = formulas.get(latex);
  if (set) {
    element.innerHTML = set;
    return;
  }
  withModule(state.katex, ({ default: katex }) => {
    if (element.dataset.latex !== latex) return;
    const children = [{ type: "text", value: latex }];
    const source = { type: "element", tagName: "code", properties: { className: ["math-display"] }, children };
    const tree = { type: "root", children: [source] };
    katex()(tree, { message: () => {} });
    formulas.set(latex, asHtml(tree));
    element.innerHTML = formulas.get(latex);
  });
}

/** A tree of the kind that rehype works on (https://github.com/syntax-tree/hast) as HTML. */
function asHtml(node) {
  if (node.type === "text") return escaped(node.value);
  const inner = (node.children ?? []).map(asHtml).join("");
  if (node.type !== "element") return inner;
  const said = Object.entries(node.properties ?? {}).map(([name, value]) => {
    const attribute = name === "className" ? "class" : name.replace(/^aria(?=[A-Z])/, "aria-");
    return ` ${attribute}="${escaped(Array.isArray(value) ? value.join(" ") : String(value))}"`;
  });
  return `<${node.tagName}${said.join("")}>${inner}</${node.tagName}>`;
}

function escaped(text) {
  const place = make("i", "", text);
  return place.innerHTML.replaceAll('"', "&quot;");
}

// ---- What holds other blocks ---------------------------------------------------------------------

function buildFold(block) {
  const element = make("details", `fold st-key-${block.key}`);
  element.append(make("summary"), make("div", "inside"));
  return element;
}

function drawFold(element, block, state) {
  const [title, inside] = element.children;
  const part = parts.get(element);
  setText(title, block.title);
  // It opens at once; what is in it may be on its way, and nothing but an answer shuts it.
  open(element, part.isOpen === block.isOpen ? element.open : block.isOpen, block.key, state);
  part.isOpen = block.isOpen;
  arrange(state, inside, block.blocks);
}

/** Open or shut something under its title, and say so when that is pressed. */
function open(element, isOpen, key, state) {
  element.open = isOpen;
  element.firstChild.onclick = () => send(state.setStateValue, `${key}.open`, !element.open);
}

function buildSection(block) {
  const element = make("div", `section around-${block.key}`);
  element.append(make("div"));
  return element;
}

function drawSection(element, block, state) {
  element.hidden = !block.blocks.length;
  setAttribute(element.firstChild, "class", ["blocks", `st-key-${block.key}`, block.look].join(" ").trim());
  setAttribute(element.firstChild, "data-holds", [...heldIn(block.blocks)].join(" "));
  arrange(state, element.firstChild, block.blocks);
}

function drawRow(element, block, state) {
  const widths = block.widths ?? block.columns.map(() => 1);
  element.dataset.gap = block.gap;
  element.style.setProperty("--widths", widths.map((width) => `minmax(0, ${width}fr)`).join(" "));
  while (element.children.length > block.columns.length) {
    leave(element.lastChild);
    element.lastChild.remove();
  }
  while (element.children.length < block.columns.length) element.append(make("div", "column"));
  block.columns.forEach((blocks, index) => arrange(state, element.children[index], blocks));
}

// ---- Pictures ------------------------------------------------------------------------------------

function buildPicture(block) {
  const element = make("div", `figure st-key-${block.key}`);
  element.attachShadow({ mode: "open" });
  return element;
}

const waiting = [];

/** Draw pictures in the frame after that of the words: whoever goes on to the next step sees its heading first. */
function afterWords(act) {
  waiting.push(act);
  if (waiting.length === 1) requestAnimationFrame(() => setTimeout(drawWaiting));
}

function drawWaiting() {
  for (const each of waiting.splice(0)) {
    try {
      each();
    } catch (error) {
      // One that fails is reported, and keeps no other from being drawn.
      reportError(error);
    }
  }
}

function drawPicture(element, block, state) {
  const parentElement = element.shadowRoot;
  const setStateValue = (name, value) => state.setStateValue(`${block.key}.${name}`, value);
  const part = parts.get(element);
  const { said } = part;
  withModule(block.source, ({ default: draw, styles }) => {
    if (parentElement.adoptedStyleSheets[0] !== styles) parentElement.adoptedStyleSheets = [styles];
    element.dataset.waiting = "";
    afterWords(() => {
      // Another one may have come meanwhile, or none.
      if (part.said !== said || !element.isConnected) return;
      delete element.dataset.waiting;
      part.clean = draw({ data: block.data, parentElement, setStateValue, ask: state.ask });
    });
  });
}
