// Weights in a notebook as one small picture for each head, and the one that is pressed as a table (see weights.js).

/** @param {Part} part */
function openPart({ canvas, table, place }, part) {
  const data = tilesOf(part);
  let chosen = null;
  const render = () => {
    renderIn(canvas, { ...data, current: chosen }, ({ layer, head }) => {
      chosen = [layer, head];
      tabulate();
    });
    if (chosen) tabulate();
  };
  const tabulate = () => writeTable(table, place, part, chosen);
  return render;
}

/** What the atlas draws. */
function tilesOf(part) {
  const [height, width] = [part.rows.length, part.columns.length];
  const block = [Math.ceil(height / SIDE), Math.ceil(width / SIDE)];
  const [rows, columns] = [Math.ceil(height / block[0]), Math.ceil(width / block[1])];
  const tiles = new Uint8Array(part.layers.length * part.heads.length * rows * columns);
  const groups = part.layers.map((layer, line) => ({
    title: message("Layer {layer}", { layer: layer + 1 }),
    heads: part.heads.map((head, place) => {
      const tile = line * part.heads.length + place;
      const codes = part.headOf(line, place);
      codes.forEach((code, cell) => {
        const row = Math.floor(Math.floor(cell / width) / block[0]);
        const pixel = (tile * rows + row) * columns + Math.floor((cell % width) / block[1]);
        if (code) tiles[pixel] = Math.max(tiles[pixel], 1 + Math.round(254 * weightOfCode(code)));
      });
      return { layer, head, tile, badge: "", description: mostOf(part, codes) };
    }),
  }));
  const count = part.layers.length * part.heads.length;
  return {
    title: GIVEN.title,
    alt: message("All {n_summaries} heads as small heatmaps.", { n_summaries: count }),
    ...{ rows, columns, block, tiles, groups, isTable: true, badgeName: "" },
  };
}

/** The largest weight of a head. */
function mostOf(part, codes) {
  const most = codes.reduce((best, code, cell) => (code > codes[best] ? cell : best), 0);
  const [query, key] = [part.rows[Math.floor(most / part.columns.length)], part.columns[most % part.columns.length]];
  const weight = weightOfCode(codes[most]).toFixed(2);
  return message("most from {query} to {key}, {weight}", { query: visible(query), key: visible(key), weight });
}

/** The weights of one head as a table, coloured as the picture is; of a long text, the largest of every row. */
function writeTable(element, place, part, [layer, head]) {
  const codes = part.headOf(part.layers.indexOf(layer), part.heads.indexOf(head));
  const { fills, inks, index } = scaleOf(readTheme(place), "weights");
  const width = part.columns.length;
  const isWhole = Math.max(width, part.rows.length) <= MOST_CELLS;
  const body = make("table");
  const row = (label, cells) => {
    const line = make("tr");
    const name = make("th", "", visible(label));
    line.append(name, ...cells);
    body.append(line);
  };
  const cell = (code, text) => {
    const data = make("td", code ? "" : "hidden", text);
    const step = index(weightOfCode(code), 1);
    if (code) Object.assign(data.style, { background: fills[step], color: inks[step] });
    return data;
  };
  const written = (code) => weightOfCode(code).toFixed(2);
  if (isWhole) row(" ", part.columns.map((label) => make("th", "", visible(label))));
  part.rows.forEach((label, at) => {
    const own = codes.subarray(at * width, (at + 1) * width);
    const most = own.indexOf(Math.max(...own));
    const all = () => Array.from(own, (code, key) => {
      const data = cell(code, width > WRITTEN ? "" : written(code));
      data.title = `${label} → ${part.columns[key]}: ${written(code)}`;
      return data;
    });
    row(label, isWhole ? all() : [make("td", "", visible(part.columns[most])), cell(own[most], written(own[most]))]);
  });
  const title = make("b", "", message("Layer {layer}, head {head}", { layer: layer + 1, head: head + 1 }));
  element.replaceChildren(title, body);
}
