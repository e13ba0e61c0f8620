// The layer over a matrix's cells during a turn; each kind of turn makes its own, once.

/**
 * Hide the cells, and make the layer over them unless it exists.
 * @param {(state: object, group: SVGElement) => object} make fills the group, and returns what will move
 */
function coverCells(state, make) {
  const { turn, drawing } = state;
  if (state.moving?.drawing === drawing && state.moving.turn === turn) return;
  uncoverCells(state);
  // The matrix's own cells come first.
  const below = drawing.querySelector(".cells");
  const group = svg("g", { class: "cells" });
  if (turn.change.onlyRow === undefined) below.style.visibility = "hidden";
  else below.style.opacity = "0.15";
  below.after(group);
  state.moving = { group, drawing, turn, ...make(state, group) };
}

function uncoverCells(state) {
  state.moving?.group.remove();
  state.moving = null;
  for (const each of state.stage.hidden ?? []) each.style.visibility = "";
  state.stage.hidden = null;
  Object.assign(state.drawing.querySelector(".cells").style, { visibility: "", opacity: "" });
}

/** Copies of the cells' parts, row by row, to be shown one by one. */
function copiedCells(state, group) {
  const cells = [];
  group.setAttribute("font-size", state.layout.numbers?.size ?? 10);
  for (const each of state.drawing.querySelector(".cells").children) {
    if (each.hasAttribute("data-row")) cells.push([]);
    const copy = each.cloneNode(true);
    for (const name of ["data-row", "data-column"]) copy.removeAttribute(name);
    cells.at(-1).push(copy);
    group.append(copy);
  }
  return cells;
}

/** A vertical vector: numbers as colours, as text if they fit, and a frame. */
function upright(state, numbers, box, limit, role) {
  const { theme, font } = state;
  const scale = scaleOf(theme, "signed");
  const strip = svg("g", { "font-size": STRIP_SIZE });
  const href = paintPixels(numbers, numbers.length, 1, scale, limit).toDataURL();
  strip.append(svg("image", { ...box, href, preserveAspectRatio: "none", class: "pixels" }));
  const pitch = box.height / numbers.length;
  const context = pen();
  context.font = `${STRIP_SIZE}px ${font}`;
  const texts = Array.from(numbers, bare);
  if (pitch > STRIP_SIZE && texts.every((text) => context.measureText(text).width < box.width)) {
    texts.forEach((text, index) => {
      const place = { x: box.x + box.width / 2, y: box.y + (index + 0.5) * pitch };
      strip.append(svg("text", { ...place, fill: scale.inks[scale.index(numbers[index], limit)] }, text));
    });
  }
  strip.append(svg("rect", { ...box, class: `outline ${role}` }));
  return strip;
}

const STRIP_SIZE = 10; // the font size in a strip
