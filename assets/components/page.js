// A page: it asks the server for what a link shows, draws it, and asks again with every press. What a new page has in
// common with the one before stays as it is: a picture, what is open, and what is in focus.

/**
 * @typedef {object} Block one part; what else it has depends on its kind (attention.answer.page_component)
 * @property {string} kind
 * @property {string} [key] tells it from others of its kind
 *
 * @typedef {object} Answer a page (attention.answer.page)
 * @property {string} page its address
 * @property {string} title
 * @property {string} link its parameters
 * @property {Block[]} blocks
 * @property {object} memory what is to be remembered of it
 * @property {string} waiting what is said while the next answer is long in coming; empty if nothing is
 * @property {number} follow after how many seconds it is to be asked for again; 0 if it need not
 *
 * @typedef {object} Part an element of the page, and what has to be known of it
 * @property {string} [said] the block as text, to see whether it has changed
 * @property {boolean} [isOpen] whether the server has said that it is open
 * @property {(() => void) & {goBack?: (names: string[], done: () => void) => boolean}} [clean] what a picture wants to
 *   be called when it goes, and what plays its way back to pictures with some names, if there is one
 */

/** What saves a figure as PNG: the script of charts puts it there. */
const PNG = Symbol.for("attention.png");
/** Where a tab keeps what the server has it remember, and its own random name. */
const MEMORY = "attention.memory";
const VISITOR = "attention.visitor";
/** How long to wait before a server is asked again that was out of reach, in milliseconds; more each time. */
const FIRST_WAIT = 250;
const LAST_WAIT = 2_000;
/** Answers of a proxy whose server is away. */
const AWAY = [502, 503, 504];
/** How a page is framed is said in the address, too (https://docs.streamlit.io/deploy: embed your app). */
const FRAMING = /^embed(_options)?$/i;

// The modules that are here, by their addresses; a promise stands for one that is on its way.
const modules = new Map();
/** @type {WeakMap<Element, Part>} */
const parts = new WeakMap();

const stateOf = remembering((parent) => {
  const root = make("div", "page");
  parent.append(root);
  const state = { root, presses: [], number: 0, ask };
  state.setStateValue = (key, value) => press(state, key, value);
  return state;
});

/** @param {Mount} mount */
export default function ({ data, parentElement }) {
  const state = stateOf(parentElement);
  if (!state.ending) begin(state, data.pages);
  else if (state.blocks) {
    // Called once more, it is the theme that has changed, and pictures read its colours when they are drawn.
    draw(state, state.blocks, true);
  }
  return whenGone(state, () => {
    state.ending.abort();
    state.ending = null;
    state.coming?.abort();
    clearTimeout(state.timer);
    [...state.root.children].forEach(leave);
  });
}

/** Show what the address says; it changes by presses, and by Back and Forward. */
function begin(state, pages) {
  state.pages = pages;
  state.ending = new AbortController();
  const { signal } = state.ending;
  // Before the app around the page hears of it, which would run its script for the other page.
  const go = (event) => {
    event.stopImmediatePropagation();
    state.presses = [];
    void follow(state, here());
  };
  addEventListener("popstate", go, { signal, capture: true });
  void follow(state, here());
}

/** The page and the link of the address. */
function here() {
  const below = new URL(document.baseURI).pathname.replace(/[^/]*$/, "");
  const said = [...new URLSearchParams(location.search)].filter(([name]) => !FRAMING.test(name));
  return { page: location.pathname.slice(below.length), link: new URLSearchParams(said).toString() };
}

// ---- Asking ----------------------------------------------------------------------------------------

/** Take a press: all that are not answered yet are sent, so that none is lost by the next one. */
function press(state, key, value) {
  state.presses.push({ key, value });
  void follow(state, state.shown ?? here());
}

/** Ask for a page, with all presses on it, and draw it unless something newer is asked for meanwhile. */
async function follow(state, { page, link }) {
  const number = ++state.number;
  clearTimeout(state.timer);
  state.coming?.abort();
  state.coming = new AbortController();
  const { presses } = state;
  if (presses.length || state.shown?.page !== page || state.shown?.link !== link) setAttribute(state.root, "aria-busy", "true");
  const said = { link, presses, memory: remembered(), visitor: visitor() };
  const answer = await reach(`${state.pages}/${page}`, JSON.stringify(said), state.coming.signal);
  if (number !== state.number || !state.ending) return;
  setAttribute(state.root, "aria-busy", null);
  state.presses = [];
  if (answer) show(state, answer, presses.length > 0);
  else fail(state);
}

/** What the server answers; nothing if it refuses, or the question is taken back. While it is away, it is asked again. */
async function reach(address, body, signal) {
  const url = new URL(address, document.baseURI);
  const headers = { "Content-Type": "application/json" };
  for (let wait = FIRST_WAIT; !signal.aborted; wait = Math.min(2 * wait, LAST_WAIT)) {
    const response = await fetch(url, { method: "POST", headers, body, signal }).catch(() => null);
    const answer = response?.ok ? await response.json().catch(() => null) : null;
    if (signal.aborted) return null;
    const isAway = !response || AWAY.includes(response.status) || (response.ok && !answer);
    setAttribute(document.documentElement, "data-away", isAway ? "" : null);
    if (!isAway) return answer;
    await new Promise((done) => setTimeout(done, wait));
  }
  return null;
}

/** Say under the head of the page, which stays as it is, that a press was refused. */
function fail(state) {
  const text = message("The server could not show this. Try something else, or load the page again.");
  const [head, ...rest] = state.blocks ?? [];
  draw(state, [...(head ? [head] : []), { kind: "notice", text }, ...rest], true);
}

/** Draw blocks; where all pictures are drawn anew, no control shows what was asked for in vain. */
function draw(state, blocks, isAnew) {
  state.isAnew = isAnew;
  arrange(state, state.root, blocks);
  state.isAnew = false;
}

/** Draw a page, and write it into the address if a press has led there. */
function show(state, answer, isPressed) {
  const { page, link, title, blocks, memory, waiting, follow: seconds } = answer;
  const isOther = state.shown && state.shown.page !== page;
  const isOtherStep = isPressed && isNarrow.matches && stepOf(state.shown?.link) !== stepOf(link);
  if (isPressed && (isOther || link !== here().link)) history.pushState({}, "", addressOf(page, link));
  document.title = title;
  setAttribute(state.root, "data-waiting", waiting || null);
  remember(memory);
  const said = JSON.stringify(blocks);
  const isSame = isPressed && said === state.said;
  Object.assign(state, { shown: { page, link }, blocks, said });
  draw(state, blocks, isSame);
  // At the very top, what is drawn later moves nothing.
  if (isOther || isOtherStep) toTop(state.root);
  if (seconds) state.timer = setTimeout(() => void follow(state, state.shown), 1000 * seconds);
}

/** Where a screen is narrow, a step begins above what was read of the one before. */
const isNarrow = matchMedia("(max-width: 800px)");
const stepOf = (link) => new URLSearchParams(link ?? "").get("step");

/** Scroll whatever an element is scrolled in to its beginning. */
function toTop(element) {
  for (let box = element; box; box = box.parentElement) if (box.scrollTop) box.scrollTop = 0;
}

function addressOf(page, link) {
  const framed = [...new URLSearchParams(location.search)].filter(([name]) => FRAMING.test(name));
  const said = [new URLSearchParams(framed).toString(), link].filter(Boolean).join("&");
  return new URL(`./${page}${said && "?"}${said}`, document.baseURI).href;
}

// A browser may refuse to keep anything: then it is kept as long as the page is open.
const kept = new Map();

function keep(name, text) {
  kept.set(name, text);
  try {
    sessionStorage.setItem(name, text);
  } catch {
    // It is in the map.
  }
}

function found(name) {
  try {
    return sessionStorage.getItem(name) ?? kept.get(name);
  } catch {
    return kept.get(name);
  }
}

const remembered = () => JSON.parse(found(MEMORY) ?? "{}");
const remember = (memory) => keep(MEMORY, JSON.stringify(memory));

function visitor() {
  if (!found(VISITOR)) keep(VISITOR, Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(""));
  return found(VISITOR);
}

// ---- Drawing ---------------------------------------------------------------------------------------

/** What there is among blocks that the layout around them depends on: the keys of sections, and columns. */
function heldIn(blocks, held = new Set()) {
  for (const block of blocks) {
    if (block.kind === "section") held.add(block.key);
    if (block.kind === "row") held.add("columns");
    for (const inner of [block.blocks ?? [], ...(block.columns ?? [])]) heldIn(inner, held);
  }
  return held;
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
  putInOrder(parent, wanted);
  wanted.forEach((element, index) => fill(state, element, blocks[index]));
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
  if (part.said === said && !(state.isAnew && PAINTED.has(block.kind))) return;
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

/** A sentence that a reader is told of when it comes. */
const announced = (...classes) => ({
  build: () => {
    const element = make("div");
    element.classList.add(...classes);
    element.setAttribute("role", "status");
    element.append(make("bdi"));
    return element;
  },
  draw: (element, block) => {
    element.firstChild.textContent = block.text;
  },
});

/** How each kind of block is built once, and drawn whenever it changes. */
const KINDS = {
  h1: written("h1"),
  h2: written("h2"),
  h3: written("h3"),
  shapes: written("div", "shapes"),
  caption: written("p", "caption"),
  notice: announced("notice"),
  news: announced("prose", "news"),
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
      const wasOpen = element.firstChild?.open;
      // Where it stays, the focus does.
      if (part.html !== block.html) element.innerHTML = part.html = block.html;
      const details = element.firstChild;
      open(details, part.isOpen === block.isOpen ? wasOpen : block.isOpen, block.key, state);
      part.isOpen = block.isOpen;
      details.ontoggle = () => shutFromOutside(part, details);
    },
  },
  // Both are made of the project's own texts.
  formula: {
    build: () => {
      const element = make("div", "formula");
      // One that is too wide for its place is scrolled, with the keys too.
      new ResizeObserver(() => setAttribute(element, "tabindex", element.scrollWidth > element.clientWidth ? 0 : null)).observe(element);
      return element;
    },
    draw: (element, block) => {
      element.innerHTML = block.html;
    },
  },
  code: { build: buildCode, draw: drawCode },
  waiting: { build: buildWaiting, draw: drawWaitingFor },
  panel: { build: buildPanel, draw: drawPanel },
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

/** What lies open over the page is shut by a press beside it, and by Escape. */
function shutFromOutside(part, details) {
  part.listening?.abort();
  if (!details.open) return;
  part.listening = new AbortController();
  const { signal } = part.listening;
  const shut = () => details.open && details.firstChild.click();
  document.addEventListener("pointerdown", (event) => event.composedPath().includes(details) || shut(), { signal });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && shut(), { signal });
}

/** A plain click on a way to another page stays in this one; any other one is the browser's. */
function drawWay(element, block, state) {
  if (block.card) drawCard(element, block.text, block.card);
  else element.textContent = block.text;
  element.href = block.address;
  element.onclick = (event) => {
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    state.setStateValue(`${block.key}.go`, true);
  };
}

function buildCode() {
  const element = make("div", "code");
  const copy = make("button", "copy");
  copy.type = "button";
  element.append(make("pre"), copy);
  element.firstChild.append(make("code"));
  element.firstChild.tabIndex = 0;
  return element;
}

function drawCode(element, block) {
  const [code, copy] = [element.querySelector("code"), element.lastChild];
  code.innerHTML = block.html;
  copy.textContent = block.label;
  copy.onclick = async () => {
    await copyText(code.textContent);
    copy.textContent = block.done;
  };
}

function buildWaiting() {
  const element = make("div", "waiting");
  element.setAttribute("role", "status");
  element.append(make("bdi"), make("progress"));
  return element;
}

/** How far something is; a bar without a value says that nobody knows. */
function drawWaitingFor(element, block) {
  const [told, bar] = element.children;
  setText(told, block.text);
  bar.setAttribute("aria-label", block.text);
  if (block.share === null) bar.removeAttribute("value");
  else bar.value = block.share;
}

function buildPanel(block) {
  const element = make("div", `panel st-key-${block.key}`);
  const button = make("button", "opens");
  const inside = make("div", "inside");
  button.type = "button";
  inside.popover = "auto";
  button.popoverTargetElement = inside;
  inside.addEventListener("toggle", ({ newState }) => {
    if (newState !== "open") return;
    const { left, bottom } = button.getBoundingClientRect();
    inside.style.left = `${Math.max(8, Math.min(left, innerWidth - inside.offsetWidth - 8))}px`;
    inside.style.top = `${bottom + 4}px`;
  });
  element.append(button, inside);
  return element;
}

function drawPanel(element, block, state) {
  const [button, inside] = element.children;
  setText(button, block.title);
  arrange(state, inside, block.blocks);
}

/** In the colours of the page: pictures, cards, and what may hold some. */
const PAINTED = new Set(["fold", "panel", "picture", "row", "section", "way"]);

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
  element.firstChild.onclick = () => state.setStateValue(`${key}.open`, !element.open);
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
