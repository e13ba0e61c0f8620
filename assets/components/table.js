// A sortable table: pressing a heading sorts by its column, pressing again reverses.

/**
 * @typedef {object} TableData from attention.figures.table.SortableTable.payload()
 * @property {string} label
 * @property {string[]} names of the columns
 * @property {(string | number | null)[][]} cells column by column
 * @property {[number, boolean] | null} order the column, and whether the largest comes first
 * @property {boolean} isWhole whether it has a fixed order, and is shown whole unless it is too wide
 * @property {boolean} isNarrow
 * @property {boolean} canChoose whether rows can be chosen
 * @property {number | null} chosen the index of the chosen row
 */

// A number at the start of a cell, as in attention.figures.table.
const NUMBER = /^[-−+]?[0-9][0-9,]*(\.[0-9]+)?(e[-+]?[0-9]+)?/;

const stateOf = remembering((parent) => {
  const root = make("div", "root table");
  const box = make("div", "box");
  const table = make("table");
  box.append(table);
  root.append(box);
  parent.append(root);
  const state = { root, box, table, rows: [], headings: [], wish: new Wish() };
  markMore(box, [table]);
  const observer = new ResizeObserver(() => reach(state));
  for (const each of [box, table]) observer.observe(each);
  table.onclick = (event) => press(state, event.target);
  return state;
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  const said = JSON.stringify([data.names, data.cells, data.isWhole, data.canChoose]);
  if (state.said !== said) rebuild(state, data);
  Object.assign(state, { said, data, setStateValue });
  state.root.classList.toggle("narrow", data.isNarrow);
  state.root.classList.toggle("whole", data.isWhole);
  state.rows.forEach((row, index) => setAttribute(row, "aria-current", index === data.chosen ? "true" : null));
  state.wish.settle(JSON.stringify(data.order));
  arrange(state);
  return whenGone(state, () => state.wish.stop());
}

/** Make a scrolling box focusable: a short table scrolls only if it is too wide. */
function reach({ box, data }) {
  const scrolls = !data.isWhole || box.scrollWidth > box.clientWidth;
  setAttribute(box, "role", scrolls ? "region" : null);
  setAttribute(box, "aria-label", scrolls ? data.label : null);
  setAttribute(box, "tabindex", scrolls ? 0 : null);
}

function rebuild(state, data) {
  state.wish.stop();
  state.wish = new Wish();
  state.arranged = undefined;
  const head = make("tr");
  state.looks = data.cells.map((column) => (isOfNumbers(column) ? "number" : column.some(isLong) ? "long" : ""));
  state.headings = data.names.map((name, column) => {
    const heading = make("th", state.looks[column]);
    heading.scope = "col";
    heading.append(data.isWhole ? make("bdi", "", name) : sorter(name, column));
    return heading;
  });
  head.append(...state.headings);
  const height = Math.max(0, ...data.cells.map((column) => column.length));
  state.rows = Array.from({ length: height }, (_, index) => rowOf(state, data, index));
  const body = make("tbody");
  body.append(...state.rows);
  const top = make("thead");
  top.append(head);
  state.table.replaceChildren(top, body);
}

function sorter(name, column) {
  const button = make("button", "sorter");
  button.type = "button";
  button.dataset.column = String(column);
  button.append(make("bdi", "", name), make("span", "arrow"));
  if (!name.trim()) button.setAttribute("aria-label", message("row names"));
  return button;
}

function rowOf({ looks }, data, index) {
  const row = make("tr");
  row.dataset.index = String(index);
  data.cells.forEach((column, place) => {
    const cell = make("td", looks[place]);
    const text = make(place === 0 && data.canChoose ? "button" : "bdi", "", String(column[index] ?? ""));
    if (text.tagName === "BUTTON") text.type = "button";
    cell.append(text);
    row.append(cell);
  });
  return row;
}

/** Whether a column contains only numbers. */
function isOfNumbers(column) {
  const filled = column.filter((cell) => !isBlank(cell));
  return filled.length > 0 && filled.every((cell) => typeof cell === "number" || NUMBER.exec(cell)?.[0] === cell);
}

const isLong = (cell) => String(cell ?? "").length > 30;
const isBlank = (cell) => cell === null || cell === undefined || cell === "" || cell === "–";

function numberOf(cell) {
  if (typeof cell === "number") return cell;
  const found = NUMBER.exec(cell);
  return found ? Number(found[0].replaceAll(",", "").replace("−", "-")) : null;
}

/** The row indices in an order; ties keep their order, and blank cells come last. */
function ordered({ data, rows }, order) {
  const indices = rows.map((_, index) => index);
  if (!order) return indices;
  const [column, isDown] = order;
  const cells = data.cells[column];
  const filled = indices.filter((index) => !isBlank(cells[index]));
  const numbers = filled.map((index) => numberOf(cells[index]));
  const areNumbers = !numbers.includes(null);
  const keys = new Map(filled.map((index, place) => [index, areNumbers ? numbers[place] : String(cells[index])]));
  const compare = (one, other) => (keys.get(one) < keys.get(other) ? -1 : Number(keys.get(one) > keys.get(other)));
  filled.sort((one, other) => (isDown ? compare(other, one) : compare(one, other)));
  return [...filled, ...indices.filter((index) => isBlank(cells[index]))];
}

/** Sort the rows, and mark the heading. */
function arrange(state) {
  const { shown } = state.wish;
  if (shown === state.arranged) return;
  const order = JSON.parse(shown);
  // New rows come unsorted.
  if (order || state.arranged !== undefined) {
    state.table.tBodies[0].append(...ordered(state, order).map((index) => state.rows[index]));
  }
  state.arranged = shown;
  state.headings.forEach((heading, column) => {
    const direction = order?.[0] === column ? (order[1] ? "descending" : "ascending") : null;
    setAttribute(heading, "aria-sort", direction);
  });
}

function press(state, target) {
  const sorting = target.closest(".sorter");
  const row = target.closest("tr[data-index]");
  if (sorting) askFor(state, Number(sorting.dataset.column));
  else if (row && state.data.canChoose) state.setStateValue("choose", Number(row.dataset.index));
}

/** Numbers begin with the largest, words with the first letter; a third press restores the original order. */
function askFor(state, column) {
  const first = state.looks[column] === "number";
  const before = JSON.parse(state.wish.shown);
  const wanted = before?.[0] !== column ? [column, first] : before[1] === first ? [column, !first] : null;
  state.wish.ask(JSON.stringify(wanted), () => arrange(state));
  arrange(state);
  state.setStateValue("order", wanted);
}
