// A field for a text file. The browser reads its beginning, which the server keeps under its hash.

/**
 * @typedef {object} UploadData
 * @property {string} label
 * @property {string} hint how much of a file counts, and who sees it
 * @property {string} kept the key of the current file; empty if there is none
 * @property {string} remove the label of the button that removes it
 * @property {number} most the number of bytes that count
 */

const stateOf = remembering((parent) => {
  const root = make("div", "root upload");
  const [label, name, file] = [make("label"), make("span"), make("input")];
  const hint = make("p", "hint");
  const remove = make("button", "framed");
  file.type = "file";
  file.accept = ".txt,text/plain";
  remove.type = "button";
  label.append(name, file);
  root.append(label, remove, hint);
  parent.append(root);
  return { root, name, file, hint, remove };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  const { name, file, hint, remove } = state;
  setText(name, data.label);
  setText(hint, data.hint);
  setText(remove, data.remove);
  remove.hidden = !data.kept;
  file.onchange = async () => {
    const chosen = file.files[0];
    if (!chosen) return;
    try {
      // One byte above the limit shows the server that the file is longer.
      const beginning = new Uint8Array(await chosen.slice(0, data.most + 1).arrayBuffer());
      setStateValue("take", base64Of(beginning));
    } catch {
      setText(hint, message("Couldn't read this file. Choose it again."));
    }
  };
  remove.onclick = () => {
    file.value = "";
    setStateValue("take", null);
  };
}

function base64Of(bytes) {
  if (bytes.toBase64) return bytes.toBase64();
  let text = "";
  // Each byte is an argument, of which browsers allow a limited number.
  for (let at = 0; at < bytes.length; at += 2 ** 15) text += String.fromCharCode(...bytes.subarray(at, at + 2 ** 15));
  return btoa(text);
}
