// Something long that the server does: a button that starts it, how far it is, and a button that stops it.

/**
 * @typedef {object} WorkData
 * @property {string} label of the button that starts it
 * @property {string} told what there is to say of it
 * @property {number | null} share how much is done, from 0 to 1; null while nothing goes on
 * @property {boolean} isOff whether the button that is there cannot be pressed
 */

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
  root.append(start, bar, told, stop);
  parent.append(root);
  return { root, start, stop, bar, told };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const { start, stop, bar, told } = stateOf(parentElement);
  const isGoing = data.share !== null;
  start.firstChild.textContent = data.label;
  stop.firstChild.textContent = message("Stop");
  told.textContent = data.told;
  setAttribute(bar, "aria-label", data.told);
  bar.value = data.share ?? 0;
  start.hidden = isGoing;
  bar.hidden = !isGoing;
  stop.hidden = !isGoing || data.isOff;
  start.disabled = data.isOff;
  start.onclick = () => send(setStateValue, "press", "start");
  stop.onclick = () => send(setStateValue, "press", "stop");
}
