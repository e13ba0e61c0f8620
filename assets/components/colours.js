// Numbers to colours. Python puts this file before components that draw matrices, and before it FULL: the end colours of
// the scales on a light and a dark page.

/**
 * @typedef {object} Scale colours from the smallest number to the largest, in equal steps
 * @property {string[]} fills
 * @property {string[]} inks readable on each fill
 * @property {Uint32Array} pixels the fills for a canvas
 * @property {(value: number, limit: number) => number} index of a number's colour
 *
 * @typedef {object} Theme
 * @property {string} id changes when the theme does
 * @property {boolean} isDark
 * @property {string} ink
 * @property {string} ground
 * @property {string} zero the page's own colour, so that only what is there is visible
 */

const STEPS = 256; // on each side of zero

/** The number of decimals for numbers up to a limit: at least two significant digits of the largest. */
const decimalsOf = (limit) => (limit < 0.1 ? Math.min(6, Math.ceil(1 - Math.log10(limit))) : 2);

let painter = null;

/** A two-dimensional canvas context, for measuring text and reading colours. */
function pen() {
  painter ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  return painter;
}

/** @returns {[number, number, number]} red, green and blue from 0 to 255 of any CSS colour */
function rgbOf(colour) {
  const context = pen();
  context.fillStyle = "#000";
  context.fillStyle = colour;
  const hex = context.fillStyle;
  if (!hex.startsWith("#")) return /** @type {any} */ (hex.match(/[\d.]+/g).slice(0, 3).map(Number));
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

const linear = (byte) => (byte <= 10.31475 ? byte / 3294.6 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
const gamma = (light) => 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);

// OKLab (Ottosson 2020), in which equal steps look equal.
function toLab(rgb) {
  const [r, g, b] = rgb.map(linear);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromLab([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((light) => Math.min(255, Math.max(0, Math.round(gamma(Math.min(1, Math.max(0, light)))))));
}

/** The colours from zero to the full colour, both included. */
function ramp(from, to, steps) {
  const [start, end] = [toLab(rgbOf(from)), toLab(rgbOf(to))];
  return Array.from({ length: steps + 1 }, (_, step) =>
    fromLab(start.map((value, axis) => value + ((end[axis] - value) * step) / steps)),
  );
}

function luminance(rgb) {
  const [r, g, b] = rgb.map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG's contrast ratio, from 1 to 21. */
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The first ink that is legible on a colour; either white or black always is. */
function readable(rgb, inks) {
  return inks.find((ink) => contrast(rgb, rgbOf(ink)) >= 4.5) ?? inks[0];
}

/** @returns {Theme} the page's current theme */
function readTheme(element) {
  const style = getComputedStyle(element);
  const get = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const [ink, ground, soft] = [get("text-color"), get("background-color"), get("secondary-background-color")];
  const isDark = luminance(rgbOf(ground)) < 0.2;
  return { id: [ink, ground, soft].join(), isDark, ink, ground, zero: isDark ? soft : ground };
}

const scales = new Map();

/**
 * @param {Theme} theme
 * @param {"weights" | "signed"} palette
 * @returns {Scale}
 */
function scaleOf(theme, palette) {
  const id = `${theme.id} ${palette}`;
  if (!scales.has(id)) scales.set(id, palette === "weights" ? weightScale(theme) : signedScale(theme));
  return scales.get(id);
}

function weightScale(theme) {
  const colours = ramp(theme.zero, FULL[theme.isDark ? "dark" : "light"].weights, STEPS);
  return finishScale(theme, colours, 0);
}

function signedScale(theme) {
  const { positive, negative } = FULL[theme.isDark ? "dark" : "light"];
  const below = ramp(theme.zero, negative, STEPS).reverse();
  const colours = below.concat(ramp(theme.zero, positive, STEPS).slice(1));
  return finishScale(theme, colours, -1);
}

/** A number's distance from zero in steps; one displayed as zero has none. */
const stepOf = (value, limit, lowest) =>
  Math.abs(value) * 10 ** decimalsOf(limit) < 0.5 ? 0 : Math.round(Math.min(1, Math.max(lowest, value / limit)) * STEPS);

/** A scale whose first colour is for `lowest` times the limit (0 or −1). */
function finishScale(theme, colours, lowest) {
  const inks = [theme.ink, "#ffffff", "#000000"];
  return {
    fills: colours.map(([r, g, b]) => `rgb(${r},${g},${b})`),
    inks: colours.map((rgb) => readable(rgb, inks)),
    pixels: Uint32Array.from(colours, ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0),
    index: (value, limit) => stepOf(value, limit, lowest) - lowest * STEPS,
  };
}

/**
 * Draw a translucent picture of one colour, one pixel per number.
 * @param {ArrayLike<number>} parts row by row: 0 is transparent, 1 opaque
 * @param {number} columns
 * @param {string} colour
 * @returns {HTMLCanvasElement}
 */
function paintCover(parts, columns, colour) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, parts.length / columns];
  const [red, green, blue] = rgbOf(colour);
  const image = new ImageData(canvas.width, canvas.height);
  Array.from(parts).forEach((part, index) => {
    image.data.set([red, green, blue, Math.round(255 * part)], 4 * index);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/**
 * Draw numbers as a picture with one pixel each; masked ones are transparent.
 * @param {Float32Array} numbers row by row
 * @param {number} rows
 * @param {number} columns
 * @param {Scale} scale
 * @param {number} limit
 * @returns {HTMLCanvasElement}
 */
function paintPixels(numbers, rows, columns, scale, limit) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) {
    if (Number.isFinite(numbers[i])) pixels[i] = scale.pixels[scale.index(numbers[i], limit)];
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** Redraw a picture if its data or the theme has changed; the focus is kept by id. */
function drawAnew(state, data, parentElement, draw) {
  state.theme = readTheme(state.root);
  const drawn = JSON.stringify([data, state.theme.id]);
  if (state.drawn === drawn) return;
  state.drawn = drawn;
  const focused = parentElement.activeElement?.dataset.id;
  draw(state, data);
  if (focused) state.root.querySelector(`[data-id="${focused}"]`)?.focus();
}
