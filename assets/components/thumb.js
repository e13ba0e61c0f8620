// A small picture of a head's weights, for the components that have one of each head.

/**
 * @param {Float32Array} numbers row by row
 * @param {{rows: number, columns: number, isPicture?: boolean}} shape whether they are the greys of a picture, too
 * @param {Theme} theme
 */
function paintThumb(numbers, { rows, columns, isPicture }, theme) {
  const canvas = isPicture
    ? paintCover(numbers, columns, theme.ink)
    : paintPixels(numbers, rows, columns, scaleOf(theme, "weights"), 1);
  canvas.className = Math.max(rows, columns) > 96 ? "" : `pixels${isPicture ? " picture" : ""}`;
  // A canvas is as wide as its columns are many; the style makes it as wide as the button.
  canvas.style.aspectRatio = `${columns} / ${rows}`;
  return canvas;
}
