// Python puts this file before every component's script.

/**
 * The arguments of a component.
 * @typedef {object} Mount
 * @property {any} data from Python
 * @property {ShadowRoot} parentElement to draw in
 * @property {(name: string, value: any) => void} setStateValue reports the user's choice
 * @property {(address: string) => Promise<ArrayBuffer | null>} [ask] the server, if there is one
 */

/**
 * Make an HTML element; its text is never interpreted.
 * @param {string} tag
 * @param {string} [className]
 * @param {string} [text]
 */
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * A text in the server's language, with facts in its placeholders (never nested). Python puts MESSAGES, the translations
 * of the script's texts, before this file.
 * @param {string} text
 * @param {Record<string, unknown>} [facts]
 */
function message(text, facts = {}) {
  return inPlaces((MESSAGES[text] ?? [text])[0], facts);
}

/** The plural form of a text for the number n, which is also the fact "n". */
function messages(one, many, n, facts = {}) {
  const text = MESSAGES[one]?.[formOf(n)] ?? (n === 1 ? one : many);
  return inPlaces(text, { n, ...facts });
}

function inPlaces(text, facts) {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(facts[name]));
}

/** Set an attribute, or remove it if the value is null, only if that changes anything. */
function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Set an element's text only if that changes it, to avoid a new layout. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const MINUS = "\u2212";

/** A number with a true minus sign; zero has none. */
function fixed(value, decimals) {
  if (value === -Infinity) return `${MINUS}∞`;
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}

/** A number with four significant digits: 10.80, 0.0004213. */
function precise(value) {
  return value === 0 ? "0" : value.toPrecision(4).replaceAll("-", MINUS);
}

/** A label with visible white space. */
function visible(label) {
  return label.trim() === "" ? "␣" : label;
}

/**
 * Names as Python sends them: n for the numbers from 0, or [m, n] for all pairs from 1:0 (attention.figures.format.named).
 * @param {string[] | number | [number, number]} names
 * @returns {string[]}
 */
function namesOf(names) {
  if (!Array.isArray(names)) return Array.from({ length: names }, (_, index) => String(index));
  const [outer, inner] = names;
  if (typeof outer === "string") return /** @type {string[]} */ (names);
  return Array.from({ length: outer * inner }, (_, index) => `${Math.floor(index / inner) + 1}:${index % inner}`);
}

/** @param {string} base64 little-endian float32 numbers */
function decodeNumbers(base64) {
  return new Float32Array(decodeBytes(base64).buffer);
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * Approximate numbers from shades, one letter each (attention.figures.format.shades): −∞ is masked, NaN is missing.
 * @param {string} shades
 * @param {number} limit the number with the full colour; a signed number beyond it is one step further
 * @param {boolean} isSigned
 */
function decodeShades(shades, limit, isSigned) {
  const about = [];
  Array.from(LETTERS, (letter, shade) => {
    const number = limit * (isSigned ? (shade - 31) / 29 : (shade - 1) / 48);
    about[letter.charCodeAt(0)] = shade === 0 ? -Infinity : shade === 63 ? NaN : number;
  });
  return Float32Array.from({ length: shades.length }, (_, index) => about[shades.charCodeAt(index)]);
}

/** @param {string | Uint8Array} base64 or the bytes themselves */
function decodeBytes(base64) {
  if (typeof base64 !== "string") return base64;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  // For browsers without Uint8Array.fromBase64.
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * State for each place on the page. A component is called again with new data or a new theme, and one script serves all
 * components of a kind, so neither local nor global variables would do.
 * @template {{run?: number}} S
 * @param {(parent: ShadowRoot) => S} create
 */
function remembering(create) {
  const states = new WeakMap();
  return (/** @type {ShadowRoot} */ parent) => {
    if (!states.has(parent)) states.set(parent, create(parent));
    const state = states.get(parent);
    state.run = (state.run ?? 0) + 1;
    return state;
  };
}

/**
 * The index that an arrow, Home or End leads to in a row (from -1: before the first); null for other keys. Elsewhere on
 * the page, the arrows change the step; it does not receive these.
 */
function alongRow(event, at, last, isUpright = false) {
  const [before, after] = [at - 1, at + 1];
  const upright = isUpright && { ArrowUp: before, ArrowDown: after };
  const places = { ArrowLeft: before, ArrowRight: after, Home: 0, End: last, ...upright };
  if (last < 0 || !(event.key in places) || event.altKey || event.ctrlKey || event.metaKey) return null;
  event.preventDefault();
  event.stopPropagation();
  return Math.min(last, Math.max(0, places[event.key]));
}

// The place pointed at in each picture.
const pointedAt = new WeakMap();

/**
 * Tell the page which place of a picture is pointed at, by numbers that hold for the same picture on other screens.
 * @param {HTMLElement} root of the picture
 * @param {number[] | null} at
 */
function tellPointed(root, at) {
  if (String(pointedAt.get(root) ?? null) === String(at)) return;
  pointedAt.set(root, at);
  root.dispatchEvent(new CustomEvent("attention-point", { detail: at, bubbles: true, composed: true }));
}

/** Call `show` with another user's target in the same picture, or with null. */
function onPointedElsewhere(parent, show) {
  parent.addEventListener("attention-pointed", ({ detail }) => show(detail));
}

/** Return the clean-up function. After a newer call of the same component it does nothing, because the component lives on. */
function whenGone(state, clean) {
  const { run } = state;
  return () => {
    if (state.run === run) clean();
  };
}

/** In ms: how long a choice is shown without an answer from the server. */
const PATIENCE = 8_000;

/** The value shown in a control: the last one requested, until the server answers. */
class Wish {
  isOpen = false;

  /** The requested value or, without one, the server's. */
  get shown() {
    return this.isOpen ? this.wanted : this.told;
  }

  /** Take the server's value. */
  settle(told) {
    this.stop();
    this.told = told;
  }

  /** Request a value; without an answer, `giveUp` is called, and the server's value is shown again. */
  ask(value, giveUp) {
    this.stop();
    Object.assign(this, { isOpen: true, wanted: value });
    this.timer = setTimeout(() => {
      this.isOpen = false;
      giveUp();
    }, PATIENCE);
  }

  /** Stop waiting. */
  stop() {
    this.isOpen = false;
    clearTimeout(this.timer);
  }
}

/** Make these the first children of an element; those in place are not moved, which would lose the focus or close them. */
function putInOrder(parent, wanted) {
  wanted.forEach((element, index) => {
    if (parent.children[index] !== element) parent.insertBefore(element, parent.children[index] ?? null);
  });
}

/**
 * Mark the sides of a box beyond which there is more, whenever it scrolls, or it or its content changes size.
 * @param {HTMLElement} box
 * @param {Iterable<Element>} inside
 * @returns {() => void} updates the marks after other changes
 */
function markMore(box, inside) {
  const look = () => {
    const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
    const sides = [box.scrollLeft > 1 && "before", rest > 1 && "after"].filter(Boolean);
    setAttribute(box, "data-more", sides.join(" ") || null);
  };
  const observer = new ResizeObserver(look);
  for (const each of [box, ...inside]) observer.observe(each);
  box.addEventListener("scroll", look, { passive: true });
  return look;
}

/** Call `act` for the button under a click that carries a `data-index`. */
function onChosen(root, act) {
  root.onclick = (event) => {
    const button = event.target.closest("[data-index]");
    if (button) act(Number(button.dataset.index));
  };
}

/** Copy a text. Browsers have a clipboard API only over HTTPS or on localhost; classes often use plain HTTP. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
}

function copyFromField(text) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return isCopied;
}
