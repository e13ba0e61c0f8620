// The weights of all heads in a notebook: as lines, or all heads at once. Python puts NUMBERS in front of it.

/**
 * @typedef {object} Part one use of attention
 * @property {string} name
 * @property {string[]} rows the tokens that attend
 * @property {string[]} columns the tokens attended to
 * @property {number[]} rowBreaks where a new sentence begins
 * @property {number[]} columnBreaks
 * @property {number[]} layers the numbers of the layers, counted from 0
 * @property {number[]} heads the numbers of the heads of every layer, counted from 0
 *
 * @typedef {object} GivenWeights
 * @property {string} title
 * @property {string} note
 * @property {Part[]} parts
 * @property {number} scale a weight is known to 1 / scale
 * @property {number} layer the index of the one to begin with
 * @property {number[] | null} shown the indices of the heads that are on at first; null: all
 */

const AT_ONCE = /* of heads whose lines can be told apart */ 12;
const WRITTEN = /* columns of a table with numbers */ 24;
const MOST_CELLS = /* rows and columns of a table */ 64;
const SIDE = /* of a small picture, in pixels */ 64;

/** What a code is in quarters of 1 / scale: 0 is what the mask hides, 1 nothing, and the others the middles of steps. */
function quarters(code) {
  if (code < 2) return 0;
  return code === 2 ? 3 : Math.min(4 * GIVEN.scale, 4 * code - 6);
}
const weightOfCode = (code) => quarters(code) / (4 * GIVEN.scale);

/** The codes of all weights, part by part, layer by layer and head by head: byte by byte, the highest ones first. */
function codesOf(bytes, planes) {
  const codes = new Uint32Array(bytes.length / planes);
  bytes.forEach((byte, index) => (codes[index % codes.length] += byte * 256 ** (planes - 1 - Math.floor(index / codes.length))));
  return codes;
}

/** Each part with its codes. */
function partsOf(bytes) {
  const codes = codesOf(bytes, GIVEN.planes);
  let start = 0;
  return GIVEN.parts.map((part) => {
    const size = part.rows.length * part.columns.length;
    const end = start + part.layers.length * part.heads.length * size;
    const own = codes.subarray(start, (start = end));
    const headOf = (layer, head) => {
      const from = (layer * part.heads.length + head) * size;
      return own.subarray(from, from + size);
    };
    return { ...part, headOf };
  });
}

/** A choice of several, and what is chosen; it is not there where there is only one. */
function chooser(bar, label, options, chosen, act) {
  const select = make("select");
  options.forEach((text) => select.append(make("option", "", text)));
  select.selectedIndex = chosen;
  select.onchange = act;
  const whole = make("label", "", `${label} `);
  whole.hidden = options.length < 2;
  whole.append(select);
  bar.append(whole);
  return select;
}

for (const host of HOSTS) {
  openPlace(host, (place) => {
    const [bar, picture, table] = [make("div", "bar"), make("div", "picture"), make("div", "table")];
    const canvas = picture.attachShadow({ mode: "open" });
    canvas.append(make("style", "", GIVEN.style));
    place.append(bar, picture, table, make("p", "note", GIVEN.note));
    const parts = partsOf(NUMBERS);
    const names = parts.map(({ name }) => name);
    const which = chooser(bar, message("Attention"), names, 0, () => begin());
    const own = make("span", "bar");
    bar.append(own);
    let again;
    const begin = () => {
      own.replaceChildren();
      table.replaceChildren();
      again = openPart({ canvas, bar: own, table, place }, parts[which.selectedIndex]);
      if (place.dataset.theme) again();
    };
    begin();
    return () => again();
  });
}

/** Have the component draw: a new object is news to it. */
function renderIn(parentElement, data, choose) {
  component({ data, parentElement, setStateValue: (_, value) => choose?.(value), setTriggerValue: () => {} });
}
