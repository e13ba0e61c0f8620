// A thumbnail of a head's weights.

/**
 * @param {Float32Array} numbers row by row
 * @param {{rows: number, columns: number, isPicture?: boolean}} shape isPicture: greys of a picture, not weights
 * @param {Theme} theme
 */
function paintThumb(numbers, { rows, columns, isPicture }, theme) {
  const canvas = isPicture
    ? paintCover(numbers, columns, theme.ink)
    : paintPixels(numbers, rows, columns, scaleOf(theme, "weights"), 1);
  canvas.className = Math.max(rows, columns) > 96 ? "" : `pixels${isPicture ? " picture" : ""}`;
  // A canvas has one pixel per column; the style scales it to its button.
  canvas.style.aspectRatio = `${columns} / ${rows}`;
  return canvas;
}
