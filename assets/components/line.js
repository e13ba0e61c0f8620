// A line of native controls: menus, a field with examples, lists, switches and buttons.

/**
 * @typedef {{kind: "menu", name: string, label: string, current?: boolean, items: Item[]}} Menu
 * @typedef {{kind: "act", name: string, items: [Item]}} Act a menu item that is always visible
 * @typedef {{label: string, card?: object, current?: boolean, page?: string, file?: string, opens?: boolean, act?: "copy",
 *   module?: string, inTab?: string, inRoom?: string, without?: string[]}} Item a page, a file to save (or, if it "opens",
 *   to view in a new tab), an action, or the address of a module that opens something over the page (with its labels in
 *   a frame and during a class); `without` lists the parameters to leave out of the link
 * @typedef {{kind: "field", name: string, label: string, value: string, hint: string, help: string,
 *   examples?: {name: string, label: string, labels: string[], chosen: number}, more: Field[], words?: string,
 *   unlike?: string}} Field where it differs from the field "unlike" is kept visible
 * @typedef {{kind: "list" | "choice" | "scale", name: string, label: string, options: string[], values: string[], value: string,
 *   help: string, silent: boolean, page?: string, pageLabel?: string}} List a choice keeps its options visible, a scale
 *   is a slider
 * @typedef {{kind: "note", name: string, text: string}} Note text in place of a field
 * @typedef {{kind: "switch" | "button", name: string, label: string, value: boolean, help: string, off: boolean}} Switch
 * @typedef {object} LineData
 * @property {string} title the page's, if nothing else shows it; otherwise empty
 * @property {{label: string, fold?: boolean, changed?: boolean, controls: (Menu | Act | Field | List | Switch)[]}[]} groups
 *   each is one tab stop; a folded one opens under a button, which shows whether something in it has changed
 * @property {string} network this server's address for other machines; empty if they cannot reach it
 */

// In ms: how long a button confirms its action.
const THANKS = 2_500;
// How many lines of a text a field shows before it scrolls.
const MOST_ROWS = 4;
// The name of a tab in which a menu item's module opens at once.
const OPENING = "attention_opening";

/** Whether a room for a class is open here. */
const hasRoom = () => document.documentElement.hasAttribute("data-room");

const stateOf = remembering((parent) => {
  const root = make("div", "root line");
  parent.append(root);
  const state = { root, title: make("h1", "title"), controls: new Map(), groups: [] };
  state.onRoom = () => {
    for (const each of state.controls.values()) if (each.data.items) update(state, each, each.data);
  };
  return state;
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  state.send = setStateValue;
  state.data = data;
  setAttribute(state.root, "data-line", data.name);
  state.title.textContent = data.title;
  state.title.hidden = !data.title;
  const shape = JSON.stringify(data.groups.map(({ fold, controls }) => [fold, controls.map(({ kind, name }) => [kind, name])]));
  if (shape !== state.shape) build(state);
  state.shape = shape;
  data.groups.forEach((group, index) => {
    const box = state.groups[index];
    setAttribute(box, "aria-label", group.label);
    if (group.fold) tellFold(box, group);
    group.controls.forEach((control) => update(state, state.controls.get(control.name), control));
    rove(box);
  });
  showUnlike(state);
  document.documentElement.addEventListener("attention-room", state.onRoom);
  return whenGone(state, () => {
    document.documentElement.removeEventListener("attention-room", state.onRoom);
    for (const each of state.controls.values()) each.wish.stop();
  });
}

/** Controls are made once per line and then updated, so that the focus and open lists stay. */
function build(state) {
  const before = state.controls;
  const focused = state.root.querySelector(":focus");
  state.controls = new Map();
  state.groups = state.data.groups.map(({ fold, controls }) => {
    const box = fold ? makeFold(state.fold) : make("div", `group ${controls[0].kind}s`);
    if (fold) state.fold = box;
    else if (controls.length > 1) {
      box.setAttribute("role", "toolbar");
      box.onkeydown = (event) => moveIn(box, event);
      box.onfocusin = () => rove(box);
    }
    for (const control of controls) {
      const known = before.get(control.name);
      const made = known?.kind === control.kind ? known : MAKERS[control.kind](state, control.name);
      made.kind = control.kind;
      made.wish ??= new Wish();
      state.controls.set(control.name, made);
      (box.panel ?? box).append(made.element);
    }
    return box;
  });
  const parts = [state.title, ...state.groups];
  for (const each of [...state.root.children]) if (!parts.includes(each)) each.remove();
  putInOrder(state.root, parts);
  markMore(state.root, state.groups);
  if (focused?.isConnected) focused.focus();
}

// ------------------------------------------------------------------ what is shown and what was asked for

function update(state, made, control) {
  made.data = control;
  made.wish.settle(control.value);
  UPDATERS[control.kind](state, made, made.wish.shown);
}

function choose(state, made, value) {
  if (value === made.wish.shown) return;
  made.wish.ask(value, () => update(state, made, made.data));
  state.send(made.data.name, value);
}

// ------------------------------------------------------------------------------------ lists and switches

const MAKERS = {
  note() {
    return { element: make("span", "note") };
  },
  list(state) {
    const element = make("label", "control");
    const made = { element, name: make("span", "label"), list: make("select"), told: make("bdi", "told") };
    element.append(made.name, made.list, made.told);
    made.list.onchange = () => {
      const chosen = made.data.values[made.list.selectedIndex];
      if (chosen !== undefined) {
        choose(state, made, chosen);
        return;
      }
      show(made, made.wish.shown);
      state.send("page", made.data.page);
    };
    return made;
  },
  choice(state) {
    const element = make("div", "control choice");
    const made = { element, name: make("span", "label"), box: make("div", "options"), told: make("bdi", "told") };
    made.box.setAttribute("role", "radiogroup");
    element.append(made.name, made.box, made.told);
    made.box.onchange = ({ target }) => choose(state, made, made.data.values[Number(target.dataset.index)]);
    return made;
  },
  scale(state) {
    const element = make("label", "control scale");
    const made = { element, name: make("span", "label"), slider: make("input"), told: make("output") };
    made.slider.type = "range";
    made.slider.min = "0";
    element.append(made.name, made.slider, made.told);
    // While it moves, it shows its place; releasing it chooses.
    made.slider.oninput = () => tellPlace(made, made.slider.valueAsNumber);
    made.slider.onchange = () => choose(state, made, made.data.values[made.slider.valueAsNumber]);
    return made;
  },
  switch(state) {
    const element = make("label", "control");
    const made = { element, box: make("input"), name: make("span", "label") };
    made.box.type = "checkbox";
    made.box.setAttribute("role", "switch");
    element.append(made.box, made.name);
    made.box.onchange = () => choose(state, made, made.box.checked);
    // After a click, the arrow keys belong to the steps again.
    element.onclick = ({ detail }) => {
      if (detail) made.box.blur();
    };
    return made;
  },
  button(state) {
    const element = make("button", "framed");
    element.type = "button";
    const made = { element };
    element.onclick = () => choose(state, made, !made.wish.shown);
    return made;
  },
  act(state) {
    const element = make("div", "control act");
    const made = { element };
    element.onclick = (event) => press(state, made, event);
    return made;
  },
  menu: makeMenu,
  field: makeField,
};

const UPDATERS = {
  note(_, made) {
    made.element.textContent = made.data.text;
  },
  list(_, made, value) {
    const { list, data } = made;
    const labels = [...data.options, ...(data.page === undefined ? [] : [data.pageLabel])];
    const written = JSON.stringify(labels);
    if (written !== made.written) list.replaceChildren(...labels.map((label) => make("option", "", label)));
    made.written = written;
    show(made, value);
    made.name.textContent = data.label;
    setAttribute(made.name, "data-silent", data.silent ? "" : null);
    setAttribute(made.element, "title", data.help || null);
    setAttribute(list, "aria-description", data.help || null);
  },
  choice(_, made, value) {
    const { box, data } = made;
    const written = JSON.stringify(data.options);
    if (written !== made.written) box.replaceChildren(...data.options.map((label, index) => optionOf(made, label, index)));
    made.written = written;
    [...box.querySelectorAll("input")].forEach((input, index) => (input.checked = data.values[index] === value));
    made.told.textContent = data.options[data.values.indexOf(value)] ?? "";
    made.name.textContent = data.label;
    setAttribute(made.name, "data-silent", data.silent ? "" : null);
    setAttribute(made.element, "title", data.help || null);
    setAttribute(box, "aria-label", data.label);
    setAttribute(box, "aria-description", data.help || null);
  },
  scale(_, made, value) {
    const { slider, data } = made;
    const place = data.values.indexOf(value);
    slider.max = String(data.values.length - 1);
    slider.value = String(place);
    tellPlace(made, place);
    made.name.textContent = data.label;
    setAttribute(made.element, "title", data.help || null);
    setAttribute(slider, "aria-description", data.help || null);
  },
  switch(_, made, value) {
    made.box.checked = value;
    made.box.disabled = made.data.off;
    made.name.textContent = made.data.label;
    setAttribute(made.element, "title", made.data.help || null);
    setAttribute(made.element, "data-on", value ? "" : null);
  },
  button(_, made, value) {
    made.element.textContent = made.data.label;
    made.element.disabled = made.data.off;
    setAttribute(made.element, "aria-pressed", String(value));
    setAttribute(made.element, "title", made.data.help || null);
  },
  act(_, made) {
    const written = JSON.stringify([made.data.items, hasRoom()]);
    if (written === made.written) return;
    made.written = written;
    const way = wayOf(made.data.items[0]);
    way.classList.add("framed");
    made.element.replaceChildren(way);
    bringClass(made.data.items);
  },
  menu: updateMenu,
  field: updateField,
};

function tellPlace({ slider, told, data }, place) {
  told.textContent = data.options[place] ?? "";
  setAttribute(slider, "aria-valuetext", told.textContent);
}

/** One option of a choice: it looks like a button, and is a radio button for the keyboard. */
function optionOf(made, label, index) {
  const element = make("label", "option");
  const input = make("input");
  input.type = "radio";
  input.name = made.data.name;
  input.dataset.index = String(index);
  element.append(input, make("span", "", label));
  return element;
}

function show({ list, told, data }, value) {
  list.selectedIndex = data.values.indexOf(value);
  told.textContent = data.options[list.selectedIndex] ?? "";
}

// ------------------------------------------------------------------------------- what opens under a button

/** A button that opens controls, reused. */
function makeFold(before) {
  if (before) {
    before.panel.replaceChildren();
    return before;
  }
  const box = make("div", "group fold");
  const button = make("button", "opener framed");
  button.type = "button";
  box.panel = makePanel(button, "auto");
  box.append(button, box.panel);
  button.popoverTargetElement = box.panel;
  return box;
}

function tellFold(box, { label, changed }) {
  setText(box.firstChild, changed ? `${label} •` : label);
}

// ------------------------------------------------------------------------------------------------ menus

function makeMenu(state) {
  const element = make("div", "control menu");
  const button = make("button", "opener");
  button.type = "button";
  button.setAttribute("aria-haspopup", "true");
  const panel = makePanel(button, "auto");
  const list = make("ul");
  panel.append(list);
  element.append(button, panel);
  button.popoverTargetElement = panel;
  const made = { element, button, panel, list };
  panel.addEventListener("beforetoggle", () => hideWhatIsTheSame(made));
  panel.addEventListener("toggle", ({ newState }) => {
    setAttribute(button, "aria-expanded", String(newState === "open"));
  });
  panel.onkeydown = (event) => moveDown(panel, event);
  list.onclick = (event) => press(state, made, event);
  return made;
}

function updateMenu(_, made) {
  const { button, list, data } = made;
  button.textContent = data.label;
  setAttribute(button, "aria-expanded", String(made.panel.matches(":popover-open")));
  setAttribute(made.element, "data-current", data.current ? "" : null);
  // A card's picture depends on the theme.
  const written = JSON.stringify([data.items, hasRoom(), getComputedStyle(made.element).colorScheme]);
  if (written === made.written) return;
  made.written = written;
  list.replaceChildren(...data.items.map(itemOf));
  list.classList.toggle("cards", data.items.some(({ card }) => card));
  data.items.forEach(({ label, card }, index) => card && drawCard(list.children[index].firstChild, label, card));
  bringClass(data.items);
}

/** Hide links without some parameters if the address has none of them. */
function hideWhatIsTheSame({ list, data }) {
  data.items.forEach(({ act, without }, index) => {
    if (act === "copy" && without) list.children[index].hidden = linkWithout(without).href === location.href;
  });
}

function itemOf(item, index) {
  const element = make("li");
  const way = wayOf(item, index);
  // The browser moves the focus there before the next key press.
  if (index === 0) way.autofocus = true;
  element.append(way);
  return element;
}

function wayOf(item, index = 0) {
  const isApart = item.module !== undefined && isFramedElsewhere();
  const address = isApart ? "" : item.page === undefined ? item.file : `./${item.page}`;
  const way = make(address === undefined ? "button" : "a", "", isApart ? item.inTab : (hasRoom() && item.inRoom) || item.label);
  way.dataset.index = String(index);
  if (address === undefined) way.type = "button";
  else way.href = address;
  if (isApart) way.target = OPENING;
  else if (item.opens) way.target = "_blank";
  else if (item.file !== undefined) way.download = item.file.split("/").at(-1);
  if (item.current) way.setAttribute("aria-current", "page");
  return way;
}

/** A plain click on a page stays in the session; any other click is left to the browser. */
function press(state, made, event) {
  const way = event.target.closest("[data-index]");
  if (!way) return;
  const item = made.data.items[Number(way.dataset.index)];
  if (item.page !== undefined) {
    way.href = item.current ? location.href : `./${item.page}${linkWithout(item.without).search}`;
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    made.panel.togglePopover(false);
    state.send("page", item.page);
  } else if (item.file !== undefined) {
    // The file is made from the page's current address.
    way.href = item.file + location.search;
    made.panel.togglePopover(false);
  } else if (item.module !== undefined) {
    made.panel?.togglePopover(false);
    if (isFramedElsewhere()) way.href = linkWithout(FRAMING).href;
    else void bring(item.module).then((found) => found.open());
  } else void share(state, made, way, item);
}

/** A panel over the page, below its opener. */
function makePanel(opener, kind) {
  const panel = make("div", "panel");
  panel.popover = kind;
  if (kind === "auto") takeTapsBeside(panel);
  panel.addEventListener("beforetoggle", ({ newState }) => {
    if (newState !== "open") return;
    const { left, bottom, width } = opener.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    panel.style.top = `${bottom + 4}px`;
    panel.style.minWidth = `${Math.min(width, room - 16)}px`;
    const isRight = left > room / 2;
    panel.style.left = isRight ? "auto" : `${Math.max(8, left)}px`;
    panel.style.right = isRight ? `${Math.max(8, room - left - width)}px` : "auto";
    panel.style.maxWidth = `${isRight ? left + width - 8 : room - Math.max(8, left) - 8}px`;
  });
  return panel;
}

function bring(address) {
  return import(new URL(address, document.baseURI).href);
}

/** Load the overlay for members of a class, and the view that a frame sent to a new tab. */
function bringClass(items) {
  const modules = items.flatMap(({ module }) => module ?? []);
  if (!modules.length) return;
  if (isOpenedByFrame()) void bring(modules[0]).then((found) => found.open());
  else if (location.hash.startsWith("#plan=") || document.cookie.includes("attention_class_here=")) void bring(modules[0]);
}

/** Whether a frame has opened this tab for a module; true only once, not after a reload. */
function isOpenedByFrame() {
  if (window.name !== OPENING) return false;
  window.name = "";
  // Another site may give a tab any name, but must not control it.
  return isOurs(window.opener);
}

/** Whether the page is framed by another site: there, browsers do not send the cookies that identify a room's owner. */
const isFramedElsewhere = () => !isOurs(window.top);

/** Whether a window shows a page of this server. */
function isOurs(other) {
  try {
    return other.location.origin === location.origin;
  } catch {
    return false;
  }
}

// ------------------------------------------------------------------------------------------- copy the link

// Streamlit's parameters for embedding (https://docs.streamlit.io/deploy).
const FRAMING = ["embed", "embed_options"];

/** Return the page's address without some parameters. */
function linkWithout(names = []) {
  const link = new URL(location.href);
  // Deleting a parameter rewrites all others.
  for (const name of names) if (link.searchParams.has(name)) link.searchParams.delete(name);
  return link;
}

async function share(state, made, way, item) {
  const { hostname } = location;
  const { href } = linkWithout(item.without);
  const isLocal = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  const { network } = state.data;
  const isCopied = await copyText(isLocal && network ? href.replace(location.origin, network) : href);
  const said = isCopied ? message("Link copied") : message("Copy it from the address bar");
  way.textContent = said;
  made.status ??= made.panel.appendChild(make("p", "status"));
  made.status.setAttribute("role", "status");
  made.status.textContent = isLocal ? whereTo(network) : "";
  clearTimeout(made.timer);
  made.timer = setTimeout(() => {
    way.textContent = item.label;
  }, THANKS);
}

function whereTo(network) {
  if (network) return message("The copied link begins with {network}, for others on your network.", { network });
  return message("This link works on this machine only. For others on your network, start the app with HOST=0.0.0.0.");
}

// ------------------------------------------------------------------------------------------------ fields

/** A field; examples and optional further fields open below it. */
function makeField(state) {
  const element = make("div", "control field");
  const name = make("span", "label");
  const frame = make("div", "frame");
  const input = make("textarea");
  input.autocomplete = "off";
  input.spellcheck = false;
  input.enterKeyHint = "go";
  input.wrap = "off";
  frame.append(input);
  element.append(name, frame);
  const made = { element, name, frame, input, second: new Map() };
  input.onchange = () => commit(state, made);
  made.lookForMore = markMore(input, []);
  // On blur, browsers scroll a field to its beginning.
  input.onblur = () => requestAnimationFrame(() => showUnlike(state));
  new ResizeObserver(() => showUnlike(state)).observe(input);
  input.onkeydown = (event) => pressInField(state, made, event);
  input.addEventListener("input", () => growWithText(input));
  return made;
}

/** As many rows as the text has lines. */
function growWithText(input) {
  input.rows = Math.min(MOST_ROWS, input.value.split("\n").length);
}

function commit(state, made) {
  made.shown = made.input.value;
  choose(state, made, made.input.value);
}

function pressInField(state, made, event) {
  if (event.isComposing) return;
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    commit(state, made);
    made.panel?.togglePopover(false);
  } else if (event.key === "Escape") {
    made.input.value = made.shown;
    growWithText(made.input);
    made.panel?.togglePopover(false);
  } else if (event.key === "ArrowDown" && made.panel && isInLastLine(made.input)) {
    event.preventDefault();
    made.panel.togglePopover(true);
    made.panel.querySelector("button, textarea")?.focus();
  }
}

function isInLastLine({ value, selectionEnd }) {
  return !value.includes("\n", selectionEnd);
}

function updateField(state, made, value) {
  const { input, data } = made;
  made.name.textContent = data.label;
  setAttribute(input, "aria-label", data.label);
  setAttribute(input, "placeholder", data.hint);
  setAttribute(input, "title", data.help || null);
  // Text being typed stays.
  const isTyped = made.shown !== undefined && input.value !== made.shown && made.input.matches(":focus");
  if (!isTyped) {
    if (input.value !== value) input.value = value;
    made.shown = value;
    growWithText(input);
  }
  made.lookForMore();
  if (data.examples || data.more.length) fill(state, made);
  if (data.words && !made.words) offerWords(made);
  if (made.words) {
    made.words.root.hidden = !data.words;
    if (made.panel.matches(":popover-open")) showWords(made);
  }
}

/** Scroll to the first difference of two long fields. */
function showUnlike(state) {
  for (const one of state.controls.values()) {
    const other = state.controls.get(one.data?.unlike);
    if (!other) continue;
    scrollTo(one.input, unlike(one.input.value, other.input.value));
    scrollTo(other.input, unlike(other.input.value, one.input.value));
  }
}

/** The range of a text in which its words differ from another one's. */
function unlike(text, other) {
  const [words, others] = [text, other].map((each) => each.split(/(?<=\s)/));
  const from = words.findIndex((word, index) => word !== others[index]);
  const after = words.toReversed().findIndex((word, index) => word !== others.at(-1 - index));
  if (from < 0) return [0, 0];
  const length = (count) => words.slice(0, count).join("").length;
  return [length(from), length(Math.max(from + 1, words.length - after))];
}

/** Scroll an unfocused field just enough to show this range of its text, or the range's first line. */
function scrollTo(input, [from, to]) {
  if (input.matches(":focus")) return;
  const style = getComputedStyle(input);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = style.font;
  const above = input.value.slice(0, from).split("\n");
  const begin = from - above.at(-1).length;
  const [line] = input.value.slice(begin).split("\n");
  input.scrollTop = (above.length - 1) * parseFloat(style.lineHeight);
  const [start, end] = [from, to].map((count) => pen.measureText(line.slice(0, count - begin)).width);
  const room = input.clientWidth - 2 * parseFloat(style.paddingLeft);
  // If the end does not fit, show it with the text before it.
  input.scrollLeft = Math.min(start, Math.max(0, end + 2 - room));
}

/** Under a field with a fixed vocabulary, offer the words that begin like the one being typed. */
function offerWords(made) {
  const root = make("div", "words");
  const told = make("p", "status");
  const list = make("ul");
  told.setAttribute("role", "status");
  root.append(told, list);
  made.panel.append(root);
  made.words = { root, told, list };
  made.input.addEventListener("input", () => {
    if (!made.data.words) return;
    made.panel.togglePopover(true);
    showWords(made);
  });
  made.input.addEventListener("click", () => showWords(made));
  // There are hundreds: make them when the panel opens.
  made.panel.addEventListener("toggle", ({ newState }) => {
    if (newState === "open") showWords(made);
    else list.replaceChildren();
  });
  // The field keeps the focus, because leaving it submits.
  list.onpointerdown = (event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  list.onclick = (event) => {
    const button = event.target.closest("button");
    if (button) putIn(made, button.textContent);
  };
}

/** The word before the caret, and its start. */
function wordAt({ input }) {
  const end = input.selectionStart ?? input.value.length;
  const [word] = input.value.slice(0, end).match(/[\p{L}\p{M}’'-]*$/u);
  return { word, start: end - word.length, end };
}

const plain = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace("’", "'");

function showWords(made) {
  const { words, data } = made;
  if (!data.words) return;
  const all = data.words.split(" ");
  const { word } = wordAt(made);
  const begun = all.filter((each) => plain(each).startsWith(plain(word)));
  // A complete word has no completions: offer all.
  const found = begun.length === 1 && plain(begun[0]) === plain(word) ? all : begun;
  const facts = { word, of: all.length };
  if (!found.length) words.told.textContent = message("None of the {of} known words begins with “{word}”.", facts);
  else words.told.textContent = messages("{n} known word, of {of}:", "{n} known words, of {of}:", found.length, facts);
  words.list.replaceChildren(
    ...found.map((each) => {
      const item = make("li");
      const button = make("button", "", each);
      button.type = "button";
      button.tabIndex = -1;
      item.append(button);
      return item;
    }),
  );
}

/** Replace the word being typed. */
function putIn(made, chosen) {
  const { input } = made;
  const { start, end } = wordAt(made);
  const after = input.value.slice(end).replace(/^(?! |$)/, " ") || (chosen.endsWith("'") ? "" : " ");
  input.value = input.value.slice(0, start) + chosen + after;
  const caret = start + chosen.length + (chosen.endsWith("'") ? 0 : 1);
  input.focus();
  input.setSelectionRange(caret, caret);
  showWords(made);
}

/** Fill the panel under a field. */
function fill(state, made) {
  const { data } = made;
  if (!made.panel) openUnder(made);
  const { panel, opener, list } = made;
  setAttribute(opener, "aria-label", data.more.length ? message("Examples, and a second text") : message("Examples"));
  const { labels, chosen } = data.examples ?? { labels: [], chosen: -1 };
  const written = JSON.stringify([labels, chosen]);
  if (written !== made.written) list.replaceChildren(...labels.map((label, index) => exampleOf(label, index, chosen)));
  made.written = written;
  list.onclick = (event) => {
    const button = event.target.closest("[data-index]");
    if (!button) return;
    // The example replaces text that was not submitted.
    made.shown = made.input.value;
    state.send(data.examples.name, Number(button.dataset.index));
    panel.togglePopover(false);
  };
  for (const more of data.more) {
    if (!made.second.has(more.name)) {
      const field = makeField(state);
      field.wish = new Wish();
      field.kind = "field";
      const label = make("label", "second");
      label.append(make("span", "label", more.label), field.element);
      panel.append(label);
      made.second.set(more.name, { field, label });
    }
    update(state, made.second.get(more.name).field, more);
  }
  for (const [name, { label }] of made.second) {
    if (data.more.some((more) => more.name === name)) continue;
    label.remove();
    made.second.delete(name);
  }
}

function openUnder(made) {
  const { frame, input, element } = made;
  made.panel = makePanel(frame, "manual");
  made.list = make("ul", "examples");
  made.opener = make("button", "opens");
  made.opener.append(make("span", "", message("Examples")), " ▾");
  made.opener.type = "button";
  made.opener.tabIndex = -1;
  made.panel.append(made.list);
  frame.append(made.opener);
  element.append(made.panel);
  made.panel.addEventListener("toggle", ({ newState }) => {
    setAttribute(made.opener, "aria-expanded", String(newState === "open"));
  });
  setAttribute(made.opener, "aria-expanded", "false");
  // On a click, not on focus: the Tab key should not pass through all examples.
  input.onpointerup = () => made.panel.togglePopover(true);
  made.opener.onclick = () => made.panel.togglePopover();
  made.panel.onkeydown = (event) => {
    if (event.key === "Escape") {
      made.panel.togglePopover(false);
      input.focus();
    } else if (!event.target.matches("input, textarea")) moveDown(made.panel, event);
  };
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (!element.contains(relatedTarget)) made.panel.togglePopover(false);
  });
  // A press between the panel's items must not take the focus.
  made.panel.onpointerdown = (event) => {
    if (!event.target.matches("input, textarea, button")) event.preventDefault();
  };
}

function exampleOf(label, index, chosen) {
  const element = make("li");
  const button = make("button");
  button.type = "button";
  button.dataset.index = String(index);
  button.append(make("bdi", "", label));
  if (index === chosen) button.setAttribute("aria-current", "true");
  element.append(button);
  return element;
}

// -------------------------------------------------------------------------------------------- the keyboard

/** Make several controls one tab stop: the last one focused, or the first. */
function rove(box) {
  const stops = stopsIn(box);
  if (stops.length < 2) return;
  const at = stops.find((stop) => stop.matches(":focus")) ?? stops.find((stop) => stop.tabIndex === 0 && box.dataset.roves);
  box.dataset.roves = "yes";
  for (const stop of stops) stop.tabIndex = stop === (at ?? stops[0]) ? 0 : -1;
}

function stopsIn(box) {
  const stops = [...box.querySelectorAll("select, input, textarea, button")];
  return stops.filter((stop) => !stop.closest(".panel") && stop.checkVisibility());
}

function moveIn(box, event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const stops = stopsIn(box);
  const at = stops.indexOf(event.target);
  if (!by || at < 0) return;
  event.preventDefault();
  stops[(at + by + stops.length) % stops.length].focus();
}

function moveDown(panel, event) {
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const stops = [...panel.querySelectorAll("a, button, input, textarea")].filter((each) => !each.closest("[hidden]"));
  const at = stops.indexOf(event.target);
  if (!by || at < 0) return;
  event.preventDefault();
  stops[(at + by + stops.length) % stops.length].focus();
}
