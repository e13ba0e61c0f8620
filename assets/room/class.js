/**
 * The bar of a class at the foot of the app's pages: for whoever has opened a room, and, for whoever follows one and
 * looks around alone, the way back. What the page shows is what its address says, so the address is what a room is sent.
 *
 * What a teacher can have a class do is in files of their own (class_….js), which add themselves to ACTIVITIES.
 */

/**
 * Something that a class can do.
 * @typedef {object} Activity
 * @property {string} name
 * @property {() => string} label what its tab is called
 * @property {() => Element[]} offer the controls to begin it, while the class does nothing
 * @property {() => Going | null} going what there is while the class does this; null while it does not
 * @property {Record<string, (said: any) => void>} [hears] what the server tells of it, by kind
 * @property {() => void} [moved] the room shows another view
 * @property {() => void} [ends] the teacher ends the room
 * @property {() => void} [left] the room is no longer there
 * @property {() => void} [follows] this browser turns out to follow a room
 * @property {() => {above: Element[], line: Element[]}} [alone] what it adds for a pupil who looks around alone
 */

/**
 * An activity that is going on. A page that others see too, on a projector, shows nothing but what is for all of them.
 * @typedef {object} Going
 * @property {Element[]} all what everybody may see
 * @property {Element[]} own what is for the teacher alone
 * @property {Element[]} line the controls
 * @property {boolean} hides whether the page beneath would tell what nobody is to know yet
 * @property {boolean} [aside] whether the teacher has put what is for all out of the way, to see the page
 */

/** @type {Activity[]} */
const ACTIVITIES = [];

const ROOMS = new URL("./_attention/room/", document.baseURI);
// How often the address is looked at where a browser does not tell of its changes.
const LOOK = 250;
// How soon something is tried again that did not reach the server.
const AGAIN = 1000;

const host = document.createElement("div");
const root = host.attachShadow({ mode: "open" });
const style = make("style");
style.textContent = STYLES;
const bar = make("section", "bar");
bar.setAttribute("aria-label", message("Class"));
bar.tabIndex = -1;
const sheet = make("dialog", "code");
root.append(style, bar, sheet);

let room = null; // what the server says of it: its code, its address, and the worksheets of pages
let now = { here: 0, walls: 0, tally: null };
let chosen = 0; // which of the activities is offered
let told = ""; // what could not be done, and why
let events = null;
let sent = "";
let seen = { written: "", view: "" }; // what the class has been shown, and the server's mark of that view
const LOST = message("The connection is lost: it comes back by itself.");

// What a teacher has chosen outlives the page, and goes with the tab and with the room.
const KEPT = "attention.lesson";
let lesson = { plan: "", at: 0, since: 0, isOpen: false, isPrivate: false, ...kept() };

/** What was chosen before in this tab: nothing, where a browser keeps nothing, as it may in a frame of another site. */
function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  } catch {
    return {};
  }
}

function keep(change) {
  lesson = { ...lesson, ...change };
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(lesson));
  } catch {
    // Storage that is denied or full is no reason not to teach.
  }
  draw();
}

/** Ask the server for something; its own sentence says why it is refused. */
async function post(path, body = {}) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  try {
    const response = await fetch(new URL(path, ROOMS), request);
    return { isDone: response.ok, ...(await response.json()) };
  } catch {
    return { isDone: false, isAway: true, told: message("The server cannot be reached.") };
  }
}

/** Have the room do something, and say what came in between. */
async function act(name, body = {}) {
  const answer = await post(`${room.code}/${name}`, body);
  told = answer.isDone ? "" : answer.told;
  if (answer.isDone && name === "end") leave();
  draw();
}

/** What the address says: the page, and its link. */
function here() {
  const page = location.pathname.slice(new URL(document.baseURI).pathname.replace(/[^/]*$/, "").length);
  return { page, link: location.search.slice(1) };
}

/** Open a room that shows this page, unless there is one. */
export async function open() {
  await begun;
  if (room) {
    showCode();
    return;
  }
  const answer = await post("open", here());
  if (!answer.isDone) {
    told = answer.told;
    draw();
    return;
  }
  sit(answer.code);
  await new Promise((done) => events.addEventListener("room", done, { once: true }));
  showCode();
}

/** Hear what goes on in a room that was opened here. */
function sit(code) {
  room = room?.code === code ? room : { code, address: "", sheets: {} };
  events?.close();
  events = new EventSource(new URL(`${code}/desk`, ROOMS));
  const on = (kind, take) =>
    events.addEventListener(kind, (event) => {
      take(JSON.parse(event.data));
      draw();
    });
  on("room", (found) => (room = found));
  on("here", (found) => {
    now = found;
    sendPoint();
  });
  on("trouble", (trouble) => (told = trouble?.told ?? ""));
  on("over", leave);
  for (const { hears = {} } of ACTIVITIES) for (const [kind, take] of Object.entries(hears)) on(kind, take);
  void findPlans(code);
  events.onopen = () => {
    if (told === LOST) told = "";
    draw();
  };
  events.onerror = () => {
    told = LOST;
    draw();
    // A browser comes back by itself to a server that it does not reach, but not to one that refuses it.
    if (events?.readyState === EventSource.CLOSED) setTimeout(sitAgain, AGAIN, code);
  };
  sent = "";
  publish();
  draw();
}

async function sitAgain(code) {
  const mine = await fetch(new URL("mine", ROOMS))
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  if (room?.code !== code) return;
  if (!mine) setTimeout(sitAgain, AGAIN, code);
  else if (mine.teaches === code) sit(code);
  else leave();
}

function leave() {
  keep({ plan: "", at: 0, isOpen: false, isPrivate: false });
  events?.close();
  // Whoever teaches may have looked at the room as a pupil does.
  if (follows === room?.code) follows = null;
  room = events = null;
  now = { here: 0, walls: 0, tally: null };
  told = "";
  for (const { left } of ACTIVITIES) left?.();
  parts.clear();
  sheet.close();
  draw();
}

/** Send the room what the page shows now. */
async function publish() {
  if (!room) return;
  const shown = here();
  const written = JSON.stringify(shown);
  if (written === sent) return;
  sent = written;
  const answer = await post(`${room.code}/show`, shown);
  told = answer.told ?? "";
  if (answer.view) seen = { written, view: answer.view };
  pointAgain();
  // What the class has not been shown, it is shown as soon as that can be done.
  if (answer.isAway) setTimeout(() => (sent = sent === written ? "" : sent), AGAIN);
  draw();
  for (const { moved } of ACTIVITIES) moved?.();
}

if (window.navigation) navigation.addEventListener("currententrychange", publish);
setInterval(publish, LOOK);

// ------------------------------------------------------------------------------------- what is seen

/** Parts of the bar that are there, with what they were made of. */
const parts = new Map();

/** Make a part of the bar once, and anew only when what it is made of is another: a list in it stays open. */
function part(name, of, build) {
  const written = JSON.stringify(of);
  if (parts.get(name)?.written !== written) parts.set(name, { written, element: build() });
  return parts.get(name).element;
}

function button(label, press, look = "") {
  const element = make("button", look, label);
  element.type = "button";
  element.onclick = press;
  element.dataset.name = label;
  return element;
}

/** A sentence of the bar, which changes while it stays where it is. */
function words(name, look, text) {
  const element = part(name, null, () => make("span", look));
  setText(element, text);
  return element;
}

const isPresented = () => new URLSearchParams(location.search).get("present") === "1";

/** Whether the class sees this very screen: it is no secret of the teacher's, and there is none on the wall. */
const isShared = () => isPresented() || !(now.walls > 0 || lesson.isPrivate);

/** Tell the page's own menus whether a room is open here: what they lead to is called by another name then. */
function tellMenus() {
  const page = document.documentElement;
  if (page.hasAttribute("data-room") === Boolean(room)) return;
  page.toggleAttribute("data-room", Boolean(room));
  page.dispatchEvent(new Event("attention-room"));
}

function draw() {
  tellMenus();
  const had = root.activeElement?.dataset.name;
  const going = room && ACTIVITIES.map((each) => each.going()).find((each) => each !== null);
  const isLarge = Boolean(going) && isShared() && !going.aside;
  const shown = [];
  if (room && isLarge) shown.push(...going.all, lineOf(going, true));
  else if (room && (going || !isPresented())) {
    if (lesson.isOpen && !isPresented()) shown.push(notes());
    if (going) shown.push(...going.own, ...(going.hides || going.aside ? [] : going.all));
    shown.push(lineOf(going, false));
  } else if (!room && follows) shown.push(...alone());
  if (told) {
    const sentence = part("told", told, () => make("p", "told", told));
    sentence.setAttribute("role", "alert");
    shown.push(sentence);
  }
  host.toggleAttribute("data-told", Boolean(told));
  bar.hidden = !shown.length;
  cover(isLarge);
  put(bar, shown);
  refocus(had, isLarge);
  const theme = getComputedStyle(document.querySelector(".page") ?? document.body).colorScheme;
  if (host.style.colorScheme !== theme) host.style.colorScheme = theme;
}

/** Have an element hold exactly these; what is there already stays untouched, and a list in it open. */
function put(place, children) {
  for (const each of [...place.children]) if (!children.includes(each)) each.remove();
  children.forEach((each, index) => {
    if (place.children[index] !== each) place.insertBefore(each, place.children[index] ?? null);
  });
  return place;
}

/** Have what was opened be seen, where the bar is scrolled. */
function see(opened) {
  opened.scrollIntoView({ block: "nearest" });
}

// Whether something has opened, only the element itself is told, and those who listen before it.
bar.addEventListener("toggle", ({ target }) => target.open && see(target), true);

/** The last line of the bar: the code, who is there, what can be done, and the end. */
function lineOf(going, isLarge) {
  const line = part("line", null, () => make("div", "line last"));
  const code = part("code", room.code, () => {
    const found = button(room.code, showCode, "letter");
    found.title = message("Show the code to the class");
    return found;
  });
  const children = [code, words("here", "here", messages("{n} is here", "{n} are here", now.here))];
  if (going) children.push(...going.line);
  else children.push(...tabs(), ...ACTIVITIES[chosen].offer());
  if (going?.hides && !isPresented() && !(now.walls > 0)) children.push(privacy());
  if (!isLarge && !isPresented()) children.push(notesButton(), ...sheetWays(), part("end", null, () => button(message("End the class"), end, "quiet end")));
  return put(line, children);
}

/** The choice between the activities, if there are several. */
function tabs() {
  if (ACTIVITIES.length < 2) return [];
  const group = part("tabs", null, () => {
    const found = make("div", "tabs");
    found.setAttribute("role", "group");
    found.setAttribute("aria-label", message("What the class does"));
    ACTIVITIES.forEach(({ label }, index) => {
      const choose = () => {
        chosen = index;
        draw();
      };
      found.append(button(label(), choose));
    });
    return found;
  });
  [...group.children].forEach((each, index) => setAttribute(each, "aria-pressed", String(index === chosen)));
  return [group];
}

/** Where nothing hangs on the wall, whether the class sees this screen. */
function privacy() {
  const label = part("privacy", null, () => {
    const found = make("label", "check");
    const box = make("input");
    box.type = "checkbox";
    box.dataset.name = "privacy";
    box.onchange = () => keep({ isPrivate: box.checked });
    found.append(box, make("span", "", message("Only I see this screen")));
    return found;
  });
  label.firstElementChild.checked = lesson.isPrivate;
  return label;
}

/** The way to the view as a worksheet, of what the address says when it is pressed; none where the page has none. */
function sheetWays() {
  return room.sheets?.[here().page] ? [part("worksheet", null, sheetWay)] : [];
}

function sheetWay() {
  const way = make("a", "quiet", message("Worksheet"));
  way.target = "_blank";
  way.href = "#";
  const lead = () => {
    const { page, link } = here();
    const sheet = room.sheets[page];
    if (sheet) way.href = new URL(`${sheet}?${link}`, document.baseURI).href;
  };
  for (const kind of ["pointerdown", "focus", "click"]) way.addEventListener(kind, lead);
  return way;
}

/** What somebody of the class sees who looks around alone: what there is to do, and the way back. */
function alone() {
  const added = ACTIVITIES.map((each) => each.alone?.() ?? { above: [], line: [] });
  const line = part("way back line", null, () => make("div", "line"));
  put(line, [...added.flatMap((each) => each.line), part("way back", follows, wayBack)]);
  return [...added.flatMap((each) => each.above), line];
}

function wayBack() {
  const way = make("a", "", message("Back to the class"));
  way.href = `./room?code=${follows}`;
  return way;
}

function end() {
  if (!confirm(message("End the class? Its answers are deleted."))) return;
  for (const { ends } of ACTIVITIES) ends?.();
  act("end");
}

// ------------------------------------------------------------------------------------- over the page

let isCovering = false;

/** Have the bar lie over the whole page, which then is neither seen nor reached; or stand below it. */
function cover(isLarge) {
  isCovering = isLarge;
  bar.toggleAttribute("data-large", isLarge);
  const page = document.getElementById("root");
  if (page && page.inert !== isLarge) page.inert = isLarge;
}

/** Have the focus where it was; where that is gone, on the bar: a second press of a key is not to press what came there. */
function refocus(had, isLarge) {
  if (sheet.open || (!had && !(isLarge && document.activeElement === document.body))) return;
  if (had && root.activeElement?.dataset.name === had) return;
  const same = had && bar.querySelector(`[data-name="${CSS.escape(had)}"]`);
  (same || bar).focus();
}

// Beneath the cover, no key leads to another view, which would end the question. A presenter's remote, which has the
// keys for pages, does what comes next.
addEventListener(
  "keydown",
  (event) => {
    if (!isCovering || sheet.open) return;
    event.stopPropagation();
    if (event.key !== "PageDown") return;
    event.preventDefault();
    bar.querySelector(".last button.main")?.click();
  },
  true,
);

// The page ends where the bar begins.
new ResizeObserver(() => {
  const height = bar.hidden || isCovering ? 0 : bar.getBoundingClientRect().height;
  document.documentElement.style.setProperty("--class-bar", `${height}px`);
}).observe(bar);

function showCode() {
  const close = button(message("Close"), () => sheet.close(), "main");
  const picture = make("img");
  picture.src = new URL(`${room.code}/code.svg`, ROOMS).href;
  picture.alt = message("QR code of the address");
  const address = make("p", "address", room.address);
  const isAlone = ["localhost", "127.0.0.1", "[::1]"].includes(new URL(room.address).hostname);
  const alone = message("This address is for this machine alone. For the devices of pupils, start the app with HOST=0.0.0.0.");
  if (isAlone) address.append(make("br"), make("span", "alone", alone));
  const wall = make("a", "", message("A screen for the wall"));
  wall.href = `./room?code=${room.code}&screen=1`;
  wall.target = "_blank";
  wall.rel = "opener";
  wall.title = message("A page without controls, for a projector; your own screen keeps them");
  sheet.replaceChildren(make("h2", "", message("Join the class")), make("p", "letters", room.code), picture, address, wall, close);
  sheet.setAttribute("aria-label", message("Join the class"));
  sheet.showModal();
}

// ------------------------------------------------------------------------------------- the beginning

let follows = null;
document.body.append(host);
const begun = fetch(new URL("mine", ROOMS))
  .then((response) => response.json())
  .then((mine) => {
    follows = mine.follows;
    if (mine.teaches) sit(mine.teaches);
    else {
      draw();
      if (mine.follows) for (const each of ACTIVITIES) each.follows?.();
    }
  })
  .catch(() => {});
