// A button that copies the link of the page as it is now.

// How long the button says that it has copied.
const THANKS = 2_500;

const stateOf = remembering((parent) => {
  const root = make("div", "root share");
  const button = make("button", "framed copy", message("Copy link"));
  button.type = "button";
  const said = make("span", "unseen");
  said.setAttribute("role", "status");
  root.append(button, said);
  parent.append(root);
  return { root, button, said };
});

/** @param {Mount} mount */
export default function ({ parentElement }) {
  const state = stateOf(parentElement);
  state.button.onclick = () => void share(state);
  return whenGone(state, () => clearTimeout(state.timer));
}

async function share(state) {
  const isCopied = await copy(location.href);
  state.button.textContent = isCopied ? message("Link copied") : message("Copy it from the address bar");
  state.said.textContent = state.button.textContent;
  clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    state.button.textContent = message("Copy link");
    state.said.textContent = "";
  }, THANKS);
}

/** Browsers give pages a clipboard only over HTTPS or on localhost; a class often comes over plain HTTP. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
}

function copyFromField(text) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  field.style.position = "fixed";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return isCopied;
}
