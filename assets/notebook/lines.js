// Weights in a notebook as lines between tokens: some heads of a layer at a time (weights.js draws them).

/** Which sentence attends to which: the names, and whether rows and columns are of the first or of the second. */
const BLOCKS = [["A", 0], ["B", 1]].flatMap(([from, row]) => [["A", 0], ["B", 1]].map(([to, column]) => [`${from} → ${to}`, row, column]));

/** @param {Part} part */
function openPart({ canvas, bar }, part) {
  const again = () => render();
  const layers = part.layers.map((layer) => message("Layer {layer}", { layer: layer + 1 }));
  const layer = chooser(bar, "", layers, Math.min(GIVEN.layer, layers.length - 1), again);
  const groups = Array.from({ length: Math.ceil(part.heads.length / AT_ONCE) }, (_, index) => {
    const heads = part.heads.slice(index * AT_ONCE, (index + 1) * AT_ONCE);
    return message("Heads {first}–{last}", { first: heads[0] + 1, last: heads.at(-1) + 1 });
  });
  const first = GIVEN.shown === null ? 0 : Math.floor((GIVEN.shown[0] ?? 0) / AT_ONCE);
  const group = chooser(bar, "", groups, first, again);
  const isPair = part.rowBreaks.length === 1 && part.columnBreaks.length === 1;
  const blocks = isPair ? [message("all"), ...BLOCKS.map(([name]) => name)] : [];
  const block = chooser(bar, message("Lines from → to"), blocks, 0, again);
  const render = () => {
    const data = linesOfPart(part, layer.selectedIndex, group.selectedIndex, BLOCKS[block.selectedIndex - 1]);
    renderIn(canvas, data);
  };
  return render;
}

/** What the head view draws of some heads of a layer. */
function linesOfPart(part, layer, group, block) {
  const span = (length, breaks, second) => (block ? [[0, breaks[0]], [breaks[0], length]][second] : [0, length]);
  const [top, bottom] = span(part.rows.length, part.rowBreaks, block?.[1]);
  const [left, right] = span(part.columns.length, part.columnBreaks, block?.[2]);
  const heads = part.heads.slice(group * AT_ONCE, (group + 1) * AT_ONCE);
  const size = (bottom - top) * (right - left);
  const values = new Uint32Array(heads.length * size);
  const isSeen = new Uint8Array(size);
  heads.forEach((_, order) => {
    const codes = part.headOf(layer, group * AT_ONCE + order);
    for (let cell = 0; cell < size; cell++) {
      const row = top + Math.floor(cell / (right - left));
      const code = codes[row * part.columns.length + left + (cell % (right - left))];
      values[order * size + cell] = quarters(code);
      if (code) isSeen[cell] = 1;
    }
  });
  const wanted = (GIVEN.shown ?? []).map((head) => head - group * AT_ONCE);
  const shown = wanted.filter((head) => head >= 0 && head < heads.length);
  const number = part.layers[layer] + 1;
  return {
    title: message("Layer {layer}: attention as lines", { layer: number }),
    alt: message("Lines between tokens; thickness shows the weights of layer {layer}.", { layer: number }),
    rows: part.rows.slice(top, bottom),
    columns: part.columns.slice(left, right),
    rowAxis: message("queries: attending"),
    columnAxis: message("keys: attended to"),
    rowBreaks: block ? [] : part.rowBreaks,
    columnBreaks: block ? [] : part.columnBreaks,
    rowStart: top,
    columnStart: left,
    heads: heads.map((head, order) => ({ label: message("Head {head}", { head: head + 1 }), colours: GIVEN.lines[order] })),
    shown: shown.length ? shown : Array.from(heads.keys()),
    values,
    levels: 4 * GIVEN.scale,
    hidden: isSeen.includes(0) ? bitsOf(isSeen) : null,
    thresholds: GIVEN.thresholds,
    threshold: GIVEN.thresholds.findLastIndex((least) => least <= Math.min(0.1, 0.5 / part.columns.length)),
    pinned: null,
  };
}

/** What is not seen, as bits, the first of each byte the highest. */
function bitsOf(isSeen) {
  const bits = new Uint8Array(Math.ceil(isSeen.length / 8));
  isSeen.forEach((seen, cell) => (bits[cell >> 3] |= seen ? 0 : 128 >> (cell & 7)));
  return bits;
}
