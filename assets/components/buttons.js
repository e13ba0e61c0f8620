// Buttons in a row, each with an action.

/**
 * @typedef {object} ButtonsData
 * @property {string} label of the whole
 * @property {{text: string, title: string, isOff: boolean}[]} buttons
 */

const stateOf = remembering((parent) => {
  const root = make("div", "root buttons");
  root.setAttribute("role", "group");
  parent.append(root);
  return { root };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const { root } = stateOf(parentElement);
  setAttribute(root, "aria-label", data.label);
  while (root.children.length > data.buttons.length) root.lastChild.remove();
  while (root.children.length < data.buttons.length) root.append(button(root.children.length));
  data.buttons.forEach(({ text, title, isOff }, index) => {
    const element = root.children[index];
    element.firstChild.textContent = text;
    setAttribute(element, "title", title || null);
    element.disabled = isOff;
  });
  onChosen(root, (index) => setStateValue("press", index));
}

function button(index) {
  const element = make("button", "framed");
  element.type = "button";
  element.dataset.index = String(index);
  element.append(make("bdi"));
  return element;
}
