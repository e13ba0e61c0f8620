// A long job of the server: a button that starts or stops it, and its progress.

/**
 * @typedef {object} WorkData
 * @property {string} label of the start button
 * @property {string} told the status
 * @property {number | null} share from 0 to 1; null while nothing runs
 * @property {boolean} isOff whether the start button is disabled
 * @property {string} stops the label of the stop button; empty if it cannot be stopped
 * @property {LongText | null} text the input it accepts
 *
 * @typedef {{label: string, hint: string, least: number, most: number, is_line: boolean,
 *   value: string}} LongText a line of text, or one of many lines
 */

// The fields' contents by label, even while another page is open; stored nowhere else.
const typed = new Map();

const stateOf = remembering((parent) => {
  const root = make("div", "root work");
  const [start, stop] = ["start", "stop"].map((name) => {
    const button = make("button", `framed ${name}`);
    button.type = "button";
    button.append(make("bdi"));
    return button;
  });
  const bar = make("progress");
  const told = make("span", "told");
  const given = make("div", "given");
  const [label, area, count] = [make("label"), make("textarea"), make("span", "count")];
  const [name, line] = [make("span"), make("input")];
  line.type = "text";
  line.dir = "auto";
  line.spellcheck = false;
  area.rows = 3;
  area.dir = "auto";
  area.spellcheck = false;
  label.append(name);
  given.append(label, count);
  root.append(given, start, bar, told, stop);
  parent.append(root);
  return { root, start, stop, bar, told, given, label, name, area, line, count };
});

/** Draw the text field; text being typed stays. */
function drawGiven(state, text, isHidden) {
  const { root, start, given, label, name, area, line, count } = state;
  given.hidden = isHidden || text === null;
  root.classList.toggle("of-line", Boolean(text?.is_line));
  if (text === null) return;
  setText(name, text.label);
  const field = text.is_line ? line : area;
  if (field.parentElement !== label) label.append(field);
  if (text.is_line) {
    count.hidden = true;
    line.placeholder = text.hint;
    line.maxLength = text.most;
    // A text from a link stays until another is typed.
    if (state.linked !== text.value) line.value = text.value;
    state.linked = text.value;
    line.onkeydown = (event) => {
      if (event.key === "Enter") start.click();
    };
    return;
  }
  const counted = () => {
    typed.set(text.label, area.value);
    const n = [...area.value].length;
    const [said, least, most] = [n, text.least, text.most].map((each) => each.toLocaleString("en"));
    const facts = { n: said, least, most };
    setText(count, messages("{n} character ({least} to {most})", "{n} characters ({least} to {most})", n, facts));
    count.hidden = n === 0;
  };
  area.placeholder = text.hint;
  if (!area.value) area.value = typed.get(text.label) ?? "";
  area.oninput = counted;
  counted();
}

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  const { start, stop, bar, told, area, line } = state;
  const isGoing = data.share !== null;
  start.firstChild.textContent = data.label;
  stop.firstChild.textContent = data.stops;
  told.textContent = data.told;
  told.hidden = !data.told;
  setAttribute(bar, "aria-label", data.told);
  bar.value = data.share ?? 0;
  bar.hidden = !isGoing;
  start.hidden = Boolean(data.stops);
  stop.hidden = !data.stops;
  start.disabled = data.isOff;
  drawGiven(state, data.text, Boolean(data.stops));
  // Of a text that is too long, send only enough to show that.
  const field = data.text?.is_line ? line : area;
  const given = () => (data.text ? { start: field.value.slice(0, 2 * data.text.most + 2) } : "start");
  start.onclick = () => setStateValue("press", given());
  stop.onclick = () => setStateValue("press", "stop");
}
