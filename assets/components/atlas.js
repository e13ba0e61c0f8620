// All heads of a model in one picture: a tile for each, to point at, choose and zoom.

/**
 * @typedef {object} HeadInfo
 * @property {number} layer
 * @property {number} head
 * @property {number} tile the index of its picture
 * @property {string} description
 * @property {string} badge
 *
 * @typedef {object} AtlasData from attention.figures.atlas.Atlas.payload()
 * @property {string} title
 * @property {string} alt
 * @property {number} rows of every picture
 * @property {number} columns of every picture
 * @property {[number, number]} block each pixel is the largest weight of this many rows and columns
 * @property {string | ArrayBuffer | Uint8Array} tiles one byte per pixel: compressed (base64 or bytes), or plain
 * @property {{id: string, at: string} | null} [numbers] for a sketch: the ID and address of the full pictures
 * @property {{rows: number, columns: number, block: [number, number]} | null} [whole] the size of the full pictures
 * @property {{title: string, heads: HeadInfo[]}[]} groups
 * @property {boolean} isTable a row for each layer, a column for each head
 * @property {string} badgeName
 * @property {[number, number] | null} current
 * @property {number | null} zoom in per cent; without it, only the user zooms
 *
 * @typedef {HeadInfo & {line: number, x: number, y: number}} Tile with its place in CSS pixels
 *
 * @typedef {object} Layout everything in CSS pixels
 * @property {number} left of the tiles
 * @property {number} top of the tiles of a table
 * @property {number} tileWidth
 * @property {number} tileHeight
 * @property {number} gap between two tiles
 * @property {("name" | "badge" | "both")[]} captions below each tile, line by line
 * @property {number} captionHeight
 * @property {number} pitch from one line to the next
 * @property {Tile[]} tiles in keyboard order
 * @property {number[][]} lines the indices of tiles in one line
 * @property {{y: number, height: number, title: string, layer?: number}[]} titles
 * @property {number} width
 * @property {number} height
 */

const MAX_HEIGHT = 640;
const MAX_NUMBERED_HEIGHT = 760; // badges need space
const MAX_ZOOM = 6; // times; in per cent in attention/figures/atlas.py
const ZOOM_STEP = 1.5;
const REST = 300; // in ms: the user has finished zooming
const MAX_TILE = { table: 160, groups: 96 };
const MIN_TILE = { table: 24, groups: 44 };
const SCROLLING_TILE = { table: [44, 36, 30], groups: [] }; // when not all fit on the screen
const NARROW = 480;
const EDGE = 5; // for the outlines
const SCROLLBAR = 16;
const EVEN = 0.85;
const LABEL_SIZE = 14;
const CAPTION_SIZE = 11;
const CAPTION_LINE = 13;
const TITLE_HEIGHT = 30;
const GROUP_GAP = 8;
const HEAD_HEIGHT = 24;

const stateOf = remembering(build);

/** @param {Mount} mount */
export default function (mount) {
  const state = stateOf(mount.parentElement);
  state.setStateValue = mount.setStateValue;
  state.observer.observe(state.root);
  receive(state, mount, take);
  draw(state); // again for a new theme
  if (document.fonts.status === "loading") document.fonts.ready.then(() => draw(state));
  return whenGone(state, () => {
    state.observer.disconnect();
    clearTimeout(state.telling);
  });
}

/** The parts that outlive every redraw, with the keyboard focus and the scroll position. */
function build(parent) {
  const root = make("div", "root atlas");
  const title = make("div", "title");
  const scroller = make("div", "scroller");
  const picture = make("div", "picture");
  const canvas = document.createElement("canvas");
  const readout = make("div", "readout");
  const caption = make("div", "caption");
  picture.tabIndex = 0;
  picture.setAttribute("role", "application");
  canvas.setAttribute("aria-hidden", "true");
  readout.setAttribute("role", "status");
  picture.append(canvas);
  scroller.append(picture);
  root.append(title, scroller, readout, caption);
  parent.append(root);
  const state = { root, title, scroller, picture, canvas, readout, caption, zoom: 1, active: null, hovered: null };
  state.elsewhere = null;
  state.sent = [];
  title.append(...titleParts(state));
  state.observer = new ResizeObserver(() => {
    if (root.clientWidth !== state.drawnWidth) draw(state);
  });
  listen(state);
  onPointedElsewhere(parent, (place) => {
    if (String(place) === String(state.elsewhere)) return;
    state.elsewhere = place;
    refresh(state);
  });
  return state;
}

/** The title, the legend and the zoom buttons. */
function titleParts(state) {
  const name = (state.name = make("bdi", "name"));
  const legend = make("span", "legend");
  legend.setAttribute("aria-hidden", "true");
  state.strip = make("span", "strip");
  legend.append(make("span", "", "0"), state.strip, make("span", "", "1"));
  const buttons = make("span", "zoom");
  buttons.setAttribute("role", "group");
  buttons.setAttribute("aria-label", message("Zoom"));
  const button = (text, label, act) => {
    const element = make("button", "", text);
    element.type = "button";
    element.setAttribute("aria-label", label);
    // Not `disabled`, which would remove the focus during a press.
    element.onclick = () => element.getAttribute("aria-disabled") !== "true" && act();
    return element;
  };
  state.zoomOut = button("\u2212", message("Zoom out"), () => zoomTo(state, state.zoom / ZOOM_STEP));
  state.zoomIn = button("+", message("Zoom in"), () => zoomTo(state, state.zoom * ZOOM_STEP));
  state.fit = button(message("Fit"), message("Zoom to fit"), () => zoomTo(state, 1));
  state.zoomText = make("output", "zoom-text");
  buttons.append(state.zoomOut, state.zoomText, state.zoomIn, state.fit);
  return [name, legend, buttons];
}

// ---- New data ----------------------------------------------------------------------------------

/** Take new data once its pictures are unpacked (unless they already are); until then the old ones stay. The newest wins. */
function take(state, given) {
  if (state.given === given) return;
  state.given = given;
  if (given.tiles === state.unpacked) return show(state, given);
  if (given.tiles === state.unpacking) return;
  state.unpacking = given.tiles;
  const started = performance.now();
  unpack(given.tiles).then((pixels) => {
    if (state.unpacking !== given.tiles) return; // newer data has arrived
    state.unpacking = null;
    if (state.given.tiles !== given.tiles) return; // the current pictures were requested again
    state.unpacked = given.tiles;
    state.pixels = pixels;
    state.isMasked = pixels.includes(0);
    state.sheetId = null;
    show(state, state.given);
    draw(state);
    state.root.dataset.milliseconds = (performance.now() - started).toFixed(1);
  });
}

/**
 * @param {string | ArrayBuffer | Uint8Array} tiles
 * @returns {Promise<Uint8Array>}
 */
async function unpack(tiles) {
  if (tiles instanceof Uint8Array) return tiles;
  const packed = typeof tiles === "string" ? decodeBytes(tiles) : tiles;
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Keep the zoomed place in view when the sentence changes, but not when the order does.
 * @param {AtlasData} data
 */
function show(state, data) {
  const order = (groups) => groups.map(({ heads }) => heads.map(({ tile }) => tile).join()).join(";");
  if (!state.data || order(state.data.groups) !== order(data.groups)) {
    Object.assign(state, { hovered: null, active: null, zoom: 1 });
    state.scroller.scrollTo(0, 0);
  }
  state.data = data;
  state.current = data.current;
  // The server may echo an earlier zoom; only the latest counts.
  const answered = state.sent.indexOf(data.zoom);
  if (answered >= 0) state.sent.splice(0, answered + 1);
  state.isToFollow = Boolean(data.zoom) && !state.telling && !state.sent.length;
}

/** Zoom as in the link, around the chosen head. */
function follow(state) {
  state.isToFollow = false;
  if (state.data.zoom !== percentOf(state)) zoomTo(state, state.data.zoom / 100);
}

const percentOf = ({ zoom }) => Math.round(zoom * 100);

/** Report the zoom to Python once it rests. */
function tellZoom(state) {
  if (!state.data.zoom) return;
  clearTimeout(state.telling);
  state.telling = setTimeout(() => {
    state.telling = 0;
    const zoom = percentOf(state);
    if (zoom === (state.sent.at(-1) ?? state.data.zoom)) return;
    state.sent.push(zoom);
    state.setStateValue("zoom", zoom);
  }, REST);
}

const isCurrent = ({ current }, { layer, head }) => current?.[0] === layer && current?.[1] === head;
const placeOf = ({ layer, head }) => ({ layer: layer + 1, head: head + 1 });
const nameOf = (tile) => message("Layer {layer}, head {head}", placeOf(tile));
/** As in the literature: 8-10 is head 10 of layer 8. */
const shortNameOf = ({ layer, head }) => `${layer + 1}-${head + 1}`;
/** Joined visually, and separated from the next tile's caption. */
const bothOf = (tile) => `${shortNameOf(tile)} · ${tile.badge}`;

// ---- Layout ------------------------------------------------------------------------------------

function draw(state) {
  const { root, data } = state;
  const width = root.clientWidth;
  state.drawnWidth = data ? width : 0;
  if (!data || !width) return; // no data yet, or a closed tab (the observer calls when it opens)
  state.theme = readTheme(root);
  state.font = getComputedStyle(root).fontFamily;
  state.muted = getComputedStyle(state.caption).color;
  state.words = measureWords(state, width);
  state.plan = plan(state, width);
  arrange(state);
  writeFrame(state);
  writeReadout(state);
  if (state.isToFollow) follow(state);
}

/** Lay out the tiles for the current zoom, and paint the visible ones. */
function arrange(state) {
  const { root, picture, zoom } = state;
  const layout = (state.layout = layOut(state, zoom));
  picture.style.width = `${layout.width}px`;
  picture.style.height = `${layout.height}px`;
  state.zoomText.textContent = `${Number(zoom.toFixed(1))}×`;
  setAttribute(state.zoomOut, "aria-disabled", zoom <= 1);
  setAttribute(state.fit, "aria-disabled", zoom <= 1);
  setAttribute(state.zoomIn, "aria-disabled", zoom >= MAX_ZOOM);
  // The positions of the heads, which tests and screen readers cannot read from a canvas.
  const { tiles, tileWidth, tileHeight } = layout;
  root.dataset.count = String(tiles.length);
  root.dataset.zoom = String(zoom);
  root.dataset.tiles = JSON.stringify(
    tiles.map(({ layer, head, x, y }) => [layer, head, x, y, tileWidth, tileHeight]),
  );
  paint(state);
  writeCaption(state);
}

/** The size of the texts around the tiles. */
function measureWords(state, width) {
  const { data, font } = state;
  const context = pen();
  const widest = (style, texts) => {
    context.font = `${style}px ${font}`;
    return texts.reduce((most, text) => Math.max(most, context.measureText(text).width), 0);
  };
  const heads = data.groups.flatMap((group) => group.heads);
  // In a narrow space, only the layer number.
  const titles = data.groups.map(({ title, heads: [first] }) =>
    data.isTable && first && width < NARROW ? String(first.layer + 1) : title,
  );
  const besides = titles.filter((_, group) => data.groups[group].heads.length);
  const caption = (texts) => widest(`700 ${CAPTION_SIZE}`, texts);
  return {
    titles,
    left: data.isTable ? EDGE + 8 + Math.ceil(widest(`700 ${LABEL_SIZE}`, besides)) : EDGE,
    hasNames: !data.isTable,
    hasBadges: heads.some(({ badge }) => badge),
    nameWidth: caption(heads.map(shortNameOf)),
    badgeWidth: caption(heads.map(({ badge }) => badge)),
    bothWidth: caption(heads.map(bothOf)),
  };
}

/** The size of tiles at zoom 1, and how many per line: all are visible unless they would be too small. */
function plan(state, width) {
  const { data, words } = state;
  const kind = data.isTable ? "table" : "groups";
  const longest = Math.max(1, ...data.groups.map(({ heads }) => heads.length));
  const room = width - words.left - EDGE;
  const highest = data.isTable && words.hasBadges ? MAX_NUMBERED_HEIGHT : MAX_HEIGHT;
  state.scroller.style.maxHeight = `${highest}px`;
  const fitting = (tile, space) => Math.max(1, Math.floor((space + gapOf(tile)) / (tile + gapOf(tile))));
  for (let tile = MAX_TILE[kind]; tile >= MIN_TILE[kind]; tile -= 1) {
    const perLine = Math.min(longest, fitting(tile, room));
    if (data.isTable && perLine < longest) continue;
    const found = { tile, perLine };
    if (layOut(state, 1, found).height <= highest) return found;
  }
  // If not all fit on the screen: legible tiles, beside a scrollbar.
  const tile = SCROLLING_TILE[kind].find((size) => fitting(size, room - SCROLLBAR) >= longest) ?? MIN_TILE[kind];
  return { tile, perLine: data.isTable ? longest : Math.min(longest, fitting(tile, room - SCROLLBAR)) };
}

const gapOf = (tile) => (tile < 36 ? 3 : 5);

/** Sizes in whole device pixels, so that all tiles are equal and sharp. */
function sizesOf({ data, words }, tile) {
  const ratio = window.devicePixelRatio || 1;
  const snap = (length) => Math.max(1, Math.round(length * ratio)) / ratio;
  const pixels = Math.max(1, Math.floor(tile * ratio));
  // Make all weights equally wide where that costs little.
  const { rows, columns } = data.whole ?? data; // so that nothing moves when the full pictures arrive
  const even = pixels - (pixels % columns);
  const tileWidth = (even > EVEN * pixels ? even : pixels) / ratio;
  const tileHeight = snap((tileWidth * rows) / columns);
  const gap = snap(gapOf(tile));
  const captions = captionsThatFit(words, tileWidth);
  const captionHeight = captions.length * CAPTION_LINE + (captions.length ? 2 : 0);
  // A caption is closer to its own tile than to the one below.
  const pitch = tileHeight + captionHeight + gap + (captions.length ? 4 : 0);
  return { tileWidth, tileHeight, gap, captions, captionHeight, pitch };
}

/** The captions that fit below every tile: badges, and names of heads outside a table. */
function captionsThatFit({ hasNames, hasBadges, nameWidth, badgeWidth, bothWidth }, room) {
  const names = hasNames && nameWidth <= room;
  const badges = hasBadges && badgeWidth <= room;
  if (names && badges) return bothWidth <= room ? ["both"] : ["name", "badge"];
  return names ? ["name"] : badges && !hasNames ? ["badge"] : [];
}

/** @returns {Layout} */
function layOut(state, zoom, { tile, perLine } = state.plan) {
  const { data, words } = state;
  const sizes = sizesOf(state, tile * zoom);
  const { tileWidth, tileHeight, gap, pitch } = sizes;
  const [tiles, lines, titles] = [[], [], []];
  let y = data.isTable ? HEAD_HEIGHT : 0;
  data.groups.forEach(({ heads }, group) => {
    // A layer without heads is one line of text.
    const isLine = !data.isTable || !heads.length;
    const height = isLine ? TITLE_HEIGHT : tileHeight;
    titles.push({ y, height, title: words.titles[group], layer: heads[0]?.layer });
    if (isLine) y += TITLE_HEIGHT;
    for (let start = 0; start < heads.length; start += perLine) {
      const line = heads.slice(start, start + perLine);
      const x = (column) => words.left + column * (tileWidth + gap);
      const placed = line.map((head, column) => ({ ...head, line: lines.length, x: x(column), y }));
      lines.push(placed.map((_, column) => tiles.length + column));
      tiles.push(...placed);
      y += pitch;
    }
    if (!data.isTable) y += GROUP_GAP;
  });
  const longest = Math.max(0, ...lines.map((line) => line.length));
  const width = Math.ceil(words.left + longest * (tileWidth + gap) - gap + EDGE);
  const height = Math.ceil(y - (data.isTable ? 0 : GROUP_GAP) - gap + EDGE);
  return { ...sizes, left: words.left, top: data.isTable ? HEAD_HEIGHT : 0, tiles, lines, titles, width, height };
}

// ---- Painting ----------------------------------------------------------------------------------

/** Paint the visible part: the canvas is never larger than that, at any zoom. */
function paint(state) {
  const { canvas, scroller, layout } = state;
  const ratio = window.devicePixelRatio || 1;
  const width = Math.min(scroller.clientWidth, layout.width);
  const height = Math.min(scroller.clientHeight, layout.height);
  const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
    [canvas.width, canvas.height] = [pixelWidth, pixelHeight];
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, pixelWidth, pixelHeight);
  const snap = (length) => Math.round(length * ratio) / ratio;
  const from = { x: snap(scroller.scrollLeft), y: snap(scroller.scrollTop) };
  const view = { context, ratio, from, width, height };
  setAttribute(scroller, "data-below", from.y + height < layout.height - 1 || null);
  paintTiles(state, view);
  paintMarks(state, view);
  paintTitles(state, view);
}

function paintTiles(state, { context, ratio, from, width, height }) {
  const { layout, theme, muted, font } = state;
  const { tileWidth, tileHeight, captions, captionHeight } = layout;
  const sheet = sheetOf(state, Math.round(tileWidth * ratio), Math.round(tileHeight * ratio));
  context.imageSmoothingEnabled = false;
  const hatching = state.isMasked ? hatchingOf(context, theme, ratio) : null;
  layout.tiles.forEach((tile) => {
    const [x, y] = [tile.x - from.x, tile.y - from.y];
    if (x > width || y > height || x + tileWidth < 0 || y + tileHeight + captionHeight < 0) return;
    const box = [x, y, tileWidth, tileHeight].map((length) => Math.round(length * ratio));
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (hatching) {
      context.fillStyle = hatching;
      context.fillRect(...box);
    }
    context.drawImage(sheet.canvas, ...sheet.placeOf(tile.tile), ...box);
    // A head with weights near zero has the page's colour; a hairline shows where it is.
    context.strokeStyle = theme.ink;
    context.globalAlpha = 0.16;
    context.strokeRect(box[0] - 0.5, box[1] - 0.5, box[2] + 1, box[3] + 1);
    context.globalAlpha = 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = isCurrent(state, tile) ? theme.ink : muted;
    context.font = `${isCurrent(state, tile) ? 700 : 400} ${CAPTION_SIZE}px ${font}`;
    context.textBaseline = "alphabetic";
    context.textAlign = "center";
    captions.forEach((caption, line) => {
      const text = { name: shortNameOf(tile), badge: tile.badge, both: bothOf(tile) }[caption];
      context.fillText(text, x + tileWidth / 2, y + tileHeight + (line + 1) * CAPTION_LINE);
    });
  });
}

/** All heads' pictures, ready to copy. In tiles with fewer device pixels than weights, each pixel is the largest weight. */
function sheetOf(state, tileWidth, tileHeight) {
  const { data, pixels, theme } = state;
  const [width, height] = [Math.min(data.columns, tileWidth), Math.min(data.rows, tileHeight)];
  const id = `${theme.id} ${width} ${height}`;
  if (state.sheetId === id) return state.sheet;
  const size = data.rows * data.columns;
  const count = pixels.length / size;
  const across = Math.ceil(Math.sqrt(count));
  const placeOf = (tile) => [(tile % across) * width, Math.floor(tile / across) * height, width, height];
  const image = new ImageData(across * width, Math.ceil(count / across) * height);
  const target = new Uint32Array(image.data.buffer);
  const colours = coloursOfBytes(theme);
  const isWhole = width === data.columns && height === data.rows;
  const shrink = shrinker(data, width, height);
  for (let tile = 0; tile < count; tile++) {
    const whole = pixels.subarray(tile * size, (tile + 1) * size);
    const picture = isWhole ? whole : shrink(whole);
    const [left, top] = placeOf(tile);
    for (let y = 0; y < height; y++) {
      const start = (top + y) * image.width + left;
      for (let x = 0; x < width; x++) target[start + x] = colours[picture[y * width + x]];
    }
  }
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext("2d").putImageData(image, 0, 0);
  state.sheetId = id;
  state.sheet = { canvas, placeOf };
  return state.sheet;
}

/** The colour of each byte: 1 is weight 0, 255 is weight 1, 0 is masked (transparent). */
function coloursOfBytes(theme) {
  const scale = scaleOf(theme, "weights");
  return Uint32Array.from({ length: 256 }, (_, byte) => (byte ? scale.pixels[scale.index(byte - 1, 254)] : 0));
}

/** The hatching of masked cells, which shows through transparent ones. */
function hatchingOf(context, theme, ratio) {
  const size = Math.max(4, Math.round(5 * ratio));
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d");
  pen.fillStyle = theme.ground;
  pen.fillRect(0, 0, size, size);
  pen.fillStyle = pen.strokeStyle = theme.ink;
  pen.globalAlpha = 0.07;
  pen.fillRect(0, 0, size, size);
  pen.globalAlpha = 0.26;
  pen.lineWidth = ratio;
  for (const shift of [-size, 0, size]) {
    pen.beginPath();
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
    pen.stroke();
  }
  return context.createPattern(canvas, "repeat");
}

/** A function that shrinks a picture; each pixel is the largest of those that it covers. */
function shrinker({ rows, columns }, width, height) {
  const across = spans(columns, width);
  const down = spans(rows, height);
  const narrow = new Uint8Array(rows * width);
  const small = new Uint8Array(height * width);
  return (picture) => {
    for (let y = 0; y < rows; y++) {
      for (let x = 0; x < width; x++) {
        let most = 0;
        for (let i = across.from[x]; i < across.to[x]; i++) most = Math.max(most, picture[y * columns + i]);
        narrow[y * width + x] = most;
      }
    }
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        let most = 0;
        for (let i = down.from[y]; i < down.to[y]; i++) most = Math.max(most, narrow[i * width + x]);
        small[y * width + x] = most;
      }
    }
    return small;
  };
}

/** The pixels that each pixel of a smaller picture covers. */
function spans(many, few) {
  return {
    from: Uint16Array.from({ length: few }, (_, i) => Math.floor((i * many) / few)),
    to: Uint16Array.from({ length: few }, (_, i) => Math.ceil(((i + 1) * many) / few)),
  };
}

/** The outlines of the current head, the one under the pointer, and the keyboard's. */
function paintMarks(state, { context, ratio, from, width, height }) {
  const { layout, theme, hovered, active } = state;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.save();
  context.beginPath();
  const top = state.data.isTable && from.y > 0 ? layout.top : 0;
  context.rect(state.data.isTable && from.x > 0 ? layout.left - 4 : 0, top, width, height);
  context.clip();
  const outline = (tile, colour, lineWidth, outside) => {
    const box = [tile.x - from.x - outside, tile.y - from.y - outside];
    const size = [layout.tileWidth + 2 * outside, layout.tileHeight + 2 * outside];
    context.beginPath();
    context.roundRect(...box, ...size, outside);
    context.strokeStyle = colour;
    context.lineWidth = lineWidth;
    context.stroke();
  };
  layout.tiles.forEach((tile, index) => {
    const isMarked = isPointedAt(state, tile, index);
    // A line of the page's colour separates weights at a tile's edge from its outline.
    if (isMarked) outline(tile, theme.ground, 1.5, 0.75);
    if (isCurrent(state, tile)) outline(tile, theme.ink, 2.25, 2.5);
    if (index === hovered || isElsewhere(state, tile)) outline(tile, theme.ink, 1.5, 2);
    if (index === active && isKeyed(state)) outline(tile, theme.ink, 3, 3.5);
  });
  context.restore();
}

/** Layer names and head numbers stay visible while the tiles scroll below them. */
function paintTitles(state, view) {
  const { context, ratio, from, width, height } = view;
  const { data, layout, theme, muted, font } = state;
  const pointedAt = layout.tiles.filter((tile, index) => isPointedAt(state, tile, index));
  const write = (text, x, y, isBold) => {
    context.font = `${isBold ? 700 : 400} ${LABEL_SIZE}px ${font}`;
    context.fillStyle = isBold ? theme.ink : muted;
    context.fillText(text, x, y);
  };
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.textBaseline = "middle";
  if (!data.isTable) {
    context.textAlign = "left";
    for (const { y, height: room, title } of layout.titles) {
      const text = shorten(context, title, width - 2 * EDGE, `700 ${LABEL_SIZE}px ${font}`);
      write(text, layout.left, y - from.y + room / 2 + 3, true);
    }
    return;
  }
  context.fillStyle = theme.ground;
  if (from.x > 0) context.fillRect(0, 0, layout.left - 4, height);
  if (from.y > 0) context.fillRect(0, 0, width, layout.top - 4);
  const clip = (x, y) => {
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
  };
  clip(0, from.y > 0 ? layout.top - 4 : 0);
  for (const { y, height: room, title, layer } of layout.titles) {
    const isLine = layer === undefined;
    context.textAlign = isLine ? "left" : "right";
    write(title, isLine ? EDGE : layout.left - 8, y - from.y + room / 2, pointedAt.some((tile) => tile.layer === layer));
  }
  context.restore();
  clip(from.x > 0 ? layout.left - 4 : 0, 0);
  context.textAlign = "center";
  const longest = layout.lines.reduce((best, line) => (line.length > best.length ? line : best), []);
  for (const index of longest) {
    const { head, x } = layout.tiles[index];
    const middle = x - from.x + layout.tileWidth / 2;
    write(String(head + 1), middle, layout.top / 2 - 2, pointedAt.some((tile) => tile.head === head));
  }
  context.restore();
}

function isPointedAt(state, tile, index) {
  const isKeys = index === state.active && isKeyed(state);
  return index === state.hovered || isCurrent(state, tile) || isKeys || isElsewhere(state, tile);
}

/** Whether someone points at this head on another screen. */
const isElsewhere = ({ elsewhere }, { layer, head }) => elsewhere?.[0] === layer && elsewhere?.[1] === head;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Shorten a title to the width; emoji and accents are never split. */
function shorten(context, text, room, font) {
  context.font = font;
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(graphemes.segment(text.slice(0, 200)), ({ segment }) => segment);
  while (letters.length && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

// ---- Words -------------------------------------------------------------------------------------

function writeFrame(state) {
  const { data, theme, name, strip, picture } = state;
  const { fills } = scaleOf(theme, "weights");
  const stops = Array.from({ length: 17 }, (_, i) => fills[Math.round((i / 16) * (fills.length - 1))]);
  strip.style.background = `linear-gradient(to right, ${stops.join()})`;
  name.textContent = data.title;
  state.title.style.maxWidth = `${Math.max(layOut(state, 1).width, 520)}px`;
  const sentence = data.alt.replace(/[^.!?]$/, "$&.");
  setAttribute(
    picture,
    "aria-label",
    `${sentence} ${message("Arrow keys move between heads, Enter chooses one, plus and minus zoom.")}`,
  );
}

/** How to read the picture, and the meaning of a pixel that is not one weight. */
function writeCaption(state) {
  const { data, layout, caption } = state;
  const [rows, columns] = data.block;
  const { captions, tileWidth, tiles } = layout;
  const hasNames = captions.includes("name") || captions.includes("both");
  const hasBadges = captions.includes("badge") || captions.includes("both");
  const example = tiles.find((tile) => isCurrent(state, tile)) ?? tiles[0];
  const isShrunk = Math.round(tileWidth * (window.devicePixelRatio || 1)) < data.columns;
  const parts = [
    data.isTable && message("rows: layers · columns: heads"),
    hasNames && message("{name} is layer {layer}, head {head}", { name: shortNameOf(example), ...placeOf(example) }),
    hasBadges && data.badgeName && badgeText(hasNames ? example.badge : null, data.badgeName),
    rows * columns > 1 && message("each pixel is the largest weight of {rows}×{columns}", { rows, columns }),
    isShrunk && message("shrunk to fit, keeping the largest weights; zoom in to see all"),
    sketchNote(state),
  ];
  caption.textContent = parts.filter(Boolean).join(" · ");
}

/** What the numbers below the tiles are, by an example. */
function badgeText(example, name) {
  return example === null ? message("below: {name}", { name }) : message("{number} its {name}", { number: example, name });
}

function writeReadout(state) {
  const { data, layout, readout } = state;
  const index = state.hovered ?? (isFocused(state) ? state.active : null);
  const find = (is) => layout.tiles.find((other) => is(state, other));
  const tile = index === null ? find(isElsewhere) ?? find(isCurrent) : layout.tiles[index];
  readout.classList.toggle("hint", !tile);
  if (!tile) {
    readout.replaceChildren(message("Press a head to see what it does."));
    return;
  }
  const badge = tile.badge && [data.badgeName, tile.badge].filter(Boolean).join(" ");
  const said = [tile.description, badge].filter(Boolean).join(" · ");
  readout.replaceChildren(make("b", "", nameOf(tile)), said && ": ", make("bdi", "", said));
}

const isFocused = ({ picture }) => picture.matches(":focus");
const isKeyed = ({ picture }) => picture.matches(":focus-visible");

// ---- Pointer and keyboard ----------------------------------------------------------------------

function listen(state) {
  const { picture, scroller } = state;
  picture.onpointerenter = () => askWhole(state);
  picture.onpointermove = (event) => event.pointerType !== "touch" && hover(state, tileUnder(state, event));
  picture.onpointerleave = () => hover(state, null);
  picture.onclick = (event) => {
    const index = tileUnder(state, event);
    if (index !== null) choose(state, index);
  };
  picture.onkeydown = (event) => press(state, event);
  picture.onfocus = () => {
    askWhole(state);
    if (!state.layout) return;
    state.active ??= Math.max(0, state.layout.tiles.findIndex((tile) => isCurrent(state, tile)));
    refresh(state);
  };
  picture.onblur = () => refresh(state);
  scroller.onscroll = () => state.layout && paint(state);
  listenForZoom(state);
}

/** @returns {number | null} the index of the tile at the pointer, its caption included */
function tileUnder(state, { clientX, clientY }) {
  const { picture, canvas, layout, data } = state;
  if (!layout) return null;
  const [whole, shown] = [picture.getBoundingClientRect(), canvas.getBoundingClientRect()];
  const isCovered = clientX - shown.left < layout.left - 4 || clientY - shown.top < layout.top - 4;
  if (data.isTable && isCovered) return null;
  const [x, y] = [clientX - whole.left, clientY - whole.top];
  const { tileWidth, tileHeight, captionHeight } = layout;
  const index = layout.tiles.findIndex(
    (tile) => x >= tile.x && x < tile.x + tileWidth && y >= tile.y && y < tile.y + tileHeight + captionHeight,
  );
  return index < 0 ? null : index;
}

function hover(state, index) {
  if (index === state.hovered) return;
  state.hovered = index;
  if (index !== null) state.elsewhere = null;
  state.picture.style.cursor = index === null ? "" : "pointer";
  refresh(state);
}

function refresh(state) {
  if (!state.layout) return;
  paint(state);
  writeReadout(state);
  const tile = state.layout.tiles[state.hovered ?? (isKeyed(state) ? state.active : null)];
  tellPointed(state.root, tile ? [tile.layer, tile.head] : null);
}

/** Mark the head immediately, and notify Python. */
function choose(state, index) {
  const { layer, head } = state.layout.tiles[index];
  state.active = index;
  state.current = [layer, head];
  state.setStateValue("choose", { layer, head });
  refresh(state);
}

function press(state, event) {
  if (event.altKey || event.metaKey || !state.layout?.tiles.length) return;
  const isChoice = event.key === "Enter" || event.key === " ";
  const zoom = event.ctrlKey ? null : zoomOfKey(state, event.key);
  const from = state.active ?? 0;
  const target = isChoice || zoom !== null ? from : destination(state, event, from);
  if (target === null) return;
  // Elsewhere on the page, the arrows change the step.
  event.preventDefault();
  event.stopPropagation();
  state.hovered = state.elsewhere = null;
  state.active = target;
  if (zoom !== null) return zoomTo(state, zoom);
  if (isChoice && !event.repeat) return choose(state, target);
  reveal(state);
  refresh(state);
}

function zoomOfKey({ zoom }, key) {
  return { "+": zoom * ZOOM_STEP, "=": zoom * ZOOM_STEP, "-": zoom / ZOOM_STEP, "0": 1 }[key] ?? null;
}

/** The tile that a key leads to, as in an ARIA grid; null for other keys. */
function destination(state, event, index) {
  const { tiles, lines, tileHeight } = state.layout;
  const line = lines[tiles[index].line];
  const column = line.indexOf(index);
  // Only in a table is a line a row of its own.
  const [first, last] = state.data.isTable ? [line[0], line.at(-1)] : [0, tiles.length - 1];
  const page = Math.max(1, Math.floor(state.scroller.clientHeight / tileHeight) - 1);
  const down = (by) => {
    const there = lines[Math.min(lines.length - 1, Math.max(0, tiles[index].line + by))];
    return there[Math.min(column, there.length - 1)];
  };
  switch (event.key) {
    case "ArrowLeft": return Math.max(first, index - 1);
    case "ArrowRight": return Math.min(last, index + 1);
    case "ArrowUp": return down(-1);
    case "ArrowDown": return down(1);
    case "Home": return event.ctrlKey ? 0 : line[0];
    case "End": return event.ctrlKey ? tiles.length - 1 : line.at(-1);
    case "PageUp": return down(-page);
    case "PageDown": return down(page);
    default: return null;
  }
}

/** Scroll just enough to show the active tile. */
function reveal({ scroller, layout, active, data }) {
  const { x, y } = layout.tiles[active];
  const { tileWidth, tileHeight, captionHeight } = layout;
  const [left, top] = data.isTable ? [layout.left, layout.top] : [layout.left, TITLE_HEIGHT];
  const nearest = (scrolled, before, start, size, room) =>
    start - before < scrolled ? start - before : Math.max(scrolled, start + size + EDGE - room);
  scroller.scrollLeft = nearest(scroller.scrollLeft, left, x, tileWidth, scroller.clientWidth);
  scroller.scrollTop = nearest(scroller.scrollTop, top, y, tileHeight + captionHeight, scroller.clientHeight);
}

// ---- Zoom --------------------------------------------------------------------------------------

/**
 * Zoom around a place of the window.
 * @param {{x: number, y: number}} place
 * @param {ReturnType<typeof anchorAt>} anchor the point of the picture that belongs there
 */
function zoomTo(state, wanted, place = placeToKeep(state), anchor = anchorAt(state, place)) {
  const { scroller, picture } = state;
  const zoom = Math.min(MAX_ZOOM, Math.max(1, wanted));
  if (!anchor || zoom === state.zoom) return;
  askWhole(state);
  state.zoom = zoom;
  arrange(state);
  const { tiles, tileWidth, tileHeight } = state.layout;
  const [whole, tile] = [picture.getBoundingClientRect(), tiles[anchor.index]];
  scroller.scrollLeft += whole.left + tile.x + anchor.across * tileWidth - place.x;
  scroller.scrollTop += whole.top + tile.y + anchor.down * tileHeight - place.y;
  refresh(state);
  tellZoom(state);
}

/** The nearest tile to a place, and the place relative to it, which holds in every layout. */
function anchorAt({ layout, picture }, place) {
  if (!layout?.tiles.length) return null;
  const whole = picture.getBoundingClientRect();
  const [x, y] = [place.x - whole.left, place.y - whole.top];
  const index = nearestTile(layout, x, y);
  const { tiles, tileWidth, tileHeight } = layout;
  return { index, across: (x - tiles[index].x) / tileWidth, down: (y - tiles[index].y) / tileHeight };
}

/** The middle of the keyboard's or current tile if it is visible, otherwise of everything. */
function placeToKeep({ scroller, picture, layout, active, current }) {
  const [shown, whole] = [scroller.getBoundingClientRect(), picture.getBoundingClientRect()];
  const middle = { x: shown.left + shown.width / 2, y: shown.top + shown.height / 2 };
  const tile = layout?.tiles[active ?? -1] ?? layout?.tiles.find((other) => isCurrent({ current }, other));
  if (!tile) return middle;
  const x = whole.left + tile.x + layout.tileWidth / 2;
  const y = whole.top + tile.y + layout.tileHeight / 2;
  return x >= shown.left && x <= shown.right && y >= shown.top && y <= shown.bottom ? { x, y } : middle;
}

function nearestTile({ tiles, tileWidth, tileHeight }, x, y) {
  const distance = (tile) => Math.hypot(tile.x + tileWidth / 2 - x, tile.y + tileHeight / 2 - y);
  return tiles.reduce((best, tile, index) => (distance(tile) < distance(tiles[best]) ? index : best), 0);
}

/**
 * Zoom by Ctrl and wheel (which trackpads report for a pinch), or with two fingers on a screen.
 * What was under the pointer at the start returns to it as soon as there is enough to scroll.
 */
function listenForZoom(state) {
  const { picture } = state;
  const taken = { passive: false }; // the page itself must not zoom as well
  let turn = { time: -Infinity };
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const place = { x: event.clientX, y: event.clientY };
    const isSame = event.timeStamp - turn.time < 600 && place.x === turn.place.x && place.y === turn.place.y;
    turn = { time: event.timeStamp, place, anchor: isSame ? turn.anchor : anchorAt(state, place) };
    const distance = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1);
    const by = Math.exp(-Math.max(-60, Math.min(60, distance)) / 150);
    zoomTo(state, state.zoom * by, place, turn.anchor);
  }, taken);

  let pinch = null;
  const fingers = ([one, other]) => ({
    spread: Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY)),
    place: { x: (one.clientX + other.clientX) / 2, y: (one.clientY + other.clientY) / 2 },
  });
  picture.addEventListener("touchstart", ({ touches }) => {
    pinch = null;
    if (touches.length !== 2) return;
    const { spread, place } = fingers(touches);
    pinch = { spread, zoom: state.zoom, anchor: anchorAt(state, place) };
  }, { passive: true });
  picture.addEventListener("touchmove", (event) => {
    if (!pinch || event.touches.length !== 2) return;
    event.preventDefault();
    const { spread, place } = fingers(event.touches);
    zoomTo(state, (pinch.zoom * spread) / pinch.spread, place, pinch.anchor);
  }, taken);
}
