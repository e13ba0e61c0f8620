// Python puts this file in front of every component's own script.

/**
 * What a component is called with.
 * @typedef {object} Mount
 * @property {any} data what Python passed
 * @property {ShadowRoot} parentElement where to draw
 * @property {(name: string, value: any) => void} setStateValue says what a person has chosen
 * @property {(address: string) => Promise<ArrayBuffer | null>} [ask] asks the server, where there is one
 */

/**
 * Make an HTML element. Text is always text: nothing in it is interpreted.
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
 * A text in the language of the server, with facts in its places; what stands in a fact is never a place. Python puts
 * MESSAGES in front of this file: the texts of the script that have another one in that language.
 * @param {string} text
 * @param {Record<string, unknown>} [facts]
 */
function message(text, facts = {}) {
  return inPlaces((MESSAGES[text] ?? [text])[0], facts);
}

/** The one of two texts, or of as many as the language has, that a number asks for; it is the fact "n" too. */
function messages(one, many, n, facts = {}) {
  const text = MESSAGES[one]?.[formOf(n)] ?? (n === 1 ? one : many);
  return inPlaces(text, { n, ...facts });
}

function inPlaces(text, facts) {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(facts[name]));
}

/** Set an attribute, or remove it where the value is null; what is there already is left alone. */
function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Say something in an element; what is said there already is left alone, so that nothing has to be laid out anew. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** What a person can see of a label: white space alone would look like nothing at all. */
function visible(label) {
  return label.trim() === "" ? "␣" : label;
}

/**
 * Names as Python sends them: of the numbers from 0, how many there are, and of all pairs of two numbers, from 1:0 on,
 * how many there are of both (attention.figures.format.named).
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
 * About the numbers that are drawn, from shades, a letter each (attention.figures.format.shades): −∞ is hidden by the
 * mask, and NaN is no number.
 * @param {string} shades
 * @param {number} limit the number that gets the full colour; a signed one beyond it is drawn a step further
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

/** @param {string | Uint8Array} base64 or the bytes themselves, where they are there already */
function decodeBytes(base64) {
  if (typeof base64 !== "string") return base64;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  // For browsers that cannot do it by themselves yet.
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * Remember something for each place on the page. A component is called again on new data and on a new theme, and one
 * script serves all components of a kind, so that neither variables of a call nor of the script will do.
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
 * Where an arrow, Home or End leads in a row of things, from one of them (at -1: from before the first); null for any
 * other key. The same arrows mean the step before and the next elsewhere on the page, which does not hear of these.
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

// What is pointed at in each picture.
const pointedAt = new WeakMap();

/**
 * Tell the page which place of a picture is pointed at, by numbers that the same picture on another screen has, too.
 * @param {HTMLElement} root of the picture
 * @param {number[] | null} at
 */
function tellPointed(root, at) {
  if (String(pointedAt.get(root) ?? null) === String(at)) return;
  pointedAt.set(root, at);
  root.dispatchEvent(new CustomEvent("attention-point", { detail: at, bubbles: true, composed: true }));
}

/** Call `show` with what somebody else points at in the same picture, or with null. */
function onPointedElsewhere(parent, show) {
  parent.addEventListener("attention-pointed", ({ detail }) => show(detail));
}

/**
 * The clean-up to hand back. That of a call that a newer one has overtaken may be called too, when the component still
 * lives: it must do nothing.
 */
function whenGone(state, clean) {
  const { run } = state;
  return () => {
    if (state.run === run) clean();
  };
}

/** How long what was chosen is shown while the server has not answered. */
const PATIENCE = 8_000;

/** What is shown of one control: the value last asked for, until the server answers. */
class Wish {
  isOpen = false;

  /** The value a person sees: the one last asked for, else the server's. */
  get shown() {
    return this.isOpen ? this.wanted : this.told;
  }

  /** Take in what the server shows. */
  settle(told) {
    this.stop();
    this.told = told;
  }

  /** Ask for a value; without any answer, `giveUp` is called, and the server's value is shown again. */
  ask(value, giveUp) {
    this.stop();
    Object.assign(this, { isOpen: true, wanted: value });
    this.timer = setTimeout(() => {
      this.isOpen = false;
      giveUp();
    }, PATIENCE);
  }

  /** Wait no longer. */
  stop() {
    this.isOpen = false;
    clearTimeout(this.timer);
  }
}

/** Make elements the first children of another one. What is in its place is not moved: it would lose the focus, or shut. */
function putInOrder(parent, wanted) {
  wanted.forEach((element, index) => {
    if (parent.children[index] !== element) parent.insertBefore(element, parent.children[index] ?? null);
  });
}

/**
 * Mark the sides of a box on which there is more, whenever it is scrolled or gets another size, and so does what is in it.
 * @param {HTMLElement} box
 * @param {Iterable<Element>} inside
 * @returns {() => void} what marks them once more, for a box in which something else changes
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

/** Browsers give pages a clipboard only over HTTPS or on localhost; a class often comes over plain HTTP. */
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
