// A page: at every press, it requests the next view and draws it. What a new page shares with the last
// one stays: pictures, open folds and the focus.

/**
 * @typedef {object} Block whose other fields depend on its kind (attention.answer.page_component)
 * @property {string} kind
 * @property {string} [key] distinguishes it from others of its kind
 *
 * @typedef {object} Answer a page (attention.answer.page)
 * @property {string} page the address
 * @property {string} title
 * @property {string} link the parameters
 * @property {Block[]} blocks
 * @property {object} memory to remember
 * @property {string} waiting shown while the next answer is slow; empty for nothing
 * @property {number} follow in seconds: when to ask again; 0 for never
 *
 * @typedef {object} Part an element of the page, and its state
 * @property {string} [said] the block as text, to detect changes
 * @property {boolean} [isOpen] as the server says
 * @property {(() => void) & {goBack?: (names: string[], done: () => void) => boolean}} [clean] a picture's clean-up, which
 *   may also play its way back to pictures with given names
 */

/** The key under which the charts' script saves images. */
const SAVE = Symbol.for("attention.save");
/** The keys of a tab's memory for the server and of its random name. */
const MEMORY = "attention.memory";
const VISITOR = "attention.visitor";
/** In ms: the wait before retrying an unreachable server, increasing each time. */
const FIRST_WAIT = 250;
const LAST_WAIT = 2_000;
/** Responses of a proxy whose server is away. */
const AWAY = [502, 503, 504];
/** Streamlit's parameters for embedding (https://docs.streamlit.io/deploy). */
const FRAMING = /^embed(_options)?$/i;

// Loaded modules by address; a promise while one is loading.
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
    // A second call means a new theme; pictures read its colours when they are drawn.
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

/** Show the view in the address, now and after presses, Back and Forward. */
function begin(state, pages) {
  state.pages = pages;
  state.ending = new AbortController();
  const { signal } = state.ending;
  const go = (event) => {
    event.preventDefault();
    state.presses = [];
    void follow(state, here());
  };
  // The document's script sends this at Back and Forward; Streamlit does not hear of those that are followed here.
  addEventListener("attention.back", go, { signal });
  void follow(state, here());
}

/** The page and link in the address. */
function here() {
  const below = new URL(document.baseURI).pathname.replace(/[^/]*$/, "");
  const said = [...new URLSearchParams(location.search)].filter(([name]) => !FRAMING.test(name));
  return { page: location.pathname.slice(below.length), link: new URLSearchParams(said).toString() };
}

// ---- Asking ----------------------------------------------------------------------------------------

/** Handle a press: all unanswered ones are sent, so that the next request does not lose any. */
function press(state, key, value) {
  state.presses.push({ key, value });
  void follow(state, state.shown ?? here());
}

/** Request a page with its presses, and draw it unless there is a newer request. */
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

/** The server's answer; nothing if it refuses or the request is cancelled. Retries while it is away. */
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

/** Report a refused press below the header; the page stays. */
function fail(state) {
  const text = message("The server couldn't show this. Try something else, or reload the page.");
  const [head, ...rest] = state.blocks ?? [];
  draw(state, [...(head ? [head] : []), { kind: "notice", text }, ...rest], true);
}

/** Draw blocks; if all pictures are redrawn, controls drop values requested in vain. */
function draw(state, blocks, isAnew) {
  state.isAnew = isAnew;
  arrange(state, state.root, blocks);
  state.isAnew = false;
}

/** Draw a page, and update the address after a press. */
function show(state, answer, isPressed) {
  const { page, link, title, blocks, memory, waiting, follow: seconds } = answer;
  const isOther = state.shown && state.shown.page !== page;
  const isOtherStep = isPressed && stepOf(state.shown?.link) !== stepOf(link);
  if (isPressed && (isOther || link !== here().link)) history.pushState({}, "", addressOf(page, link));
  document.title = title;
  setAttribute(state.root, "data-waiting", waiting || null);
  remember(memory);
  const said = JSON.stringify(blocks);
  const isSame = isPressed && said === state.said;
  Object.assign(state, { shown: { page, link }, blocks, said });
  draw(state, blocks, isSame);
  // At the top, late pictures move nothing.
  if (isOther || isOtherStep) toTop(state.root);
  if (seconds) state.timer = setTimeout(() => void follow(state, state.shown), 1000 * seconds);
}

/** A step begins at its top, not where the last one was read. */
const stepOf = (link) => new URLSearchParams(link ?? "").get("step");

/** Scroll an element's scrolling ancestor to the top. */
function toTop(element) {
  for (let box = element; box; box = box.parentElement) if (box.scrollTop) box.scrollTop = 0;
}

function addressOf(page, link) {
  const framed = [...new URLSearchParams(location.search)].filter(([name]) => FRAMING.test(name));
  const said = [new URLSearchParams(framed).toString(), link].filter(Boolean).join("&");
  return new URL(`./${page}${said && "?"}${said}`, document.baseURI).href;
}

// If the browser refuses storage, memory lasts while the page is open.
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

/** The contents of blocks that affect the layout: keys of sections, and columns. */
function heldIn(blocks, held = new Set()) {
  for (const block of blocks) {
    if (block.kind === "section") held.add(block.key);
    if (block.kind === "row") held.add("columns");
    for (const inner of [block.blocks ?? [], ...(block.columns ?? [])]) heldIn(inner, held);
  }
  return held;
}

/** Draw blocks in an element; existing ones keep their elements. */
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
  // After all others, which it does not move.
  if (figure) parent.append(figure);
  for (const element of before.values()) if (element !== figure) drop(element);
  putInOrder(parent, wanted);
  wanted.forEach((element, index) => fill(state, element, blocks[index]));
  // By then the new picture is drawn, and has its height.
  if (figure) afterWords(() => lieOver(figure, figuresIn(coming)[0]));
}

/** All pictures among blocks. */
function picturesIn(blocks) {
  const inside = ({ blocks = [], columns = [] }) => picturesIn([...blocks, ...columns.flat()]);
  return blocks.flatMap((block) => (block.kind === "picture" ? [block] : inside(block)));
}

const figuresIn = (elements) => elements.flatMap((each) => (each.matches(".figure") ? [each] : [...each.querySelectorAll(".figure")]));

// The functions that end an element's departing picture.
const departures = new WeakMap();

/**
 * Find the departing picture that has a way back to one of the new ones, among elements to be removed. It lies over the
 * new one for a moment, takes no presses, and is hidden from screen readers.
 * @returns {HTMLElement | undefined}
 */
function departing(parent, going, coming, pictures) {
  const names = pictures.map(({ data }) => data.name);
  const end = () => {
    departures.delete(parent);
    drop(figure);
    for (const each of coming) each.classList.remove("behind");
  };
  const figure = figuresIn(going).find((each) => parts.get(each)?.clean?.goBack?.(names, end));
  if (!figure) return undefined;
  departures.set(parent, end);
  for (const each of coming) each.classList.add("behind");
  figure.inert = true;
  figure.classList.add("departing");
  return figure;
}

/** Place an element over another, relative to the nearest box (some elements of a page have none). */
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

/** Draw a block in its element if it has changed. */
function fill(state, element, block) {
  const part = parts.get(element) ?? {};
  parts.set(element, part);
  const said = JSON.stringify(block);
  if (part.said === said && !(state.isAnew && PAINTED.has(block.kind))) return;
  part.said = said;
  KINDS[block.kind].draw(element, block, state);
}

/** Remove an element and clean up its pictures. */
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

/** A sentence that screen readers announce. */
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

/** How to build each kind of block (once) and draw it (at every change). */
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
    // From the project's own texts, with every fact escaped.
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
      // Unchanged HTML keeps the focus.
      if (part.html !== block.html) {
        element.innerHTML = part.html = block.html;
        takeTapsBeside(element.firstChild);
      }
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
      // A formula that is too wide scrolls, with the keyboard, too.
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
  image: {
    build: () => make("button", "file"),
    draw: (element, block) => {
      element.textContent = block.text;
      element.onclick = () => withModule(block.drawer, () => document[SAVE](block.address, block.file));
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

/** Close an overlay on a press outside it, and on Escape. */
function shutFromOutside(part, details) {
  part.listening?.abort();
  if (!details.open) return;
  part.listening = new AbortController();
  const { signal } = part.listening;
  const shut = () => details.open && details.firstChild.click();
  document.addEventListener("pointerdown", (event) => event.composedPath().includes(details) || shut(), { signal });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && shut(), { signal });
}

/** A plain click on a link to a page stays in this document; any other click is left to the browser. */
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

/** Progress; a bar without a value means unknown. */
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
  takeTapsBeside(inside);
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

/** Blocks that depend on the theme: pictures, cards, and their possible containers. */
const PAINTED = new Set(["fold", "panel", "picture", "row", "section", "way"]);

/** Call `act` with a module, at once if it is loaded. A retry has another address (see the stub). */
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

// ---- Blocks that contain others --------------------------------------------------------------------

function buildFold(block) {
  const element = make("details", `fold st-key-${block.key}`);
  element.append(make("summary"), make("div", "inside"));
  return element;
}

function drawFold(element, block, state) {
  const [title, inside] = element.children;
  const part = parts.get(element);
  setText(title, block.title);
  // It opens at once, perhaps before its content arrives; only an answer closes it.
  open(element, part.isOpen === block.isOpen ? element.open : block.isOpen, block.key, state);
  part.isOpen = block.isOpen;
  arrange(state, inside, block.blocks);
}

/** Open or close a fold, and report presses on its title. */
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

/** Draw pictures one frame after the text, so that a new step's heading appears first. */
function afterWords(act) {
  waiting.push(act);
  if (waiting.length === 1) requestAnimationFrame(() => setTimeout(drawWaiting));
}

function drawWaiting() {
  for (const each of waiting.splice(0)) {
    try {
      each();
    } catch (error) {
      // Report errors, and draw the other pictures.
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
      // The data may have changed meanwhile.
      if (part.said !== said || !element.isConnected) return;
      delete element.dataset.waiting;
      // If it was pressed since, older data would undo the press; its answer draws it.
      if (state.presses.some(({ key }) => key.startsWith(`${block.key}.`))) part.said = "";
      else part.clean = draw({ data: block.data, parentElement, setStateValue, ask: state.ask });
    });
  });
}
