/**
 * The bar of a class at the bottom of the app's pages: for the owner of a room, and for a pupil who explores alone (with
 * the way back). A page is its address, so the room receives the address.
 *
 * A class's activities are in files of their own (class_….js), which add themselves to ACTIVITIES.
 */

/**
 * @typedef {object} Activity an activity of a class
 * @property {string} name
 * @property {() => string} label of its tab
 * @property {() => Element[]} offer the controls to begin it, while the class does nothing
 * @property {() => Going | null} going its state; null unless it is going on
 * @property {Record<string, (said: any) => void>} [hears] handlers of the server's messages, by kind
 * @property {() => void} [moved] the room shows another view
 * @property {() => void} [ends] the teacher ends the room
 * @property {() => void} [left] the room no longer exists
 * @property {() => void} [follows] this browser follows a room
 * @property {() => {above: Element[], line: Element[]}} [alone] its part for a pupil who explores alone
 */

/**
 * An activity that is going on. A projected page shows only content for everyone.
 * @typedef {object} Going
 * @property {Element[]} all for everyone
 * @property {Element[]} own for the teacher only
 * @property {Element[]} line the controls
 * @property {boolean} hides whether the page beneath would reveal the answer
 * @property {string} [ends] the request that ends it, once its result is shown; "" for none
 * @property {boolean} [aside] whether the teacher has moved it aside, to see the page
 * @property {() => void} [turn] moves it aside, or back
 */

/** @type {Activity[]} */
const ACTIVITIES = [];

const ROOMS = new URL("./_attention/room/", document.baseURI);
// In ms: how often to read the address if the browser does not report changes.
const LOOK = 250;
// In ms: the wait before a retry.
const AGAIN = 1000;
// In ms: a second press of a remote so soon is a mistake.
const MISTAKEN = 1000;
// In s: the time limits for a question.
const TIME_LIMITS = [30, 60, 90];

const host = document.createElement("div");
const root = host.attachShadow({ mode: "open" });
const style = make("style");
style.textContent = STYLES;
const bar = make("section", "bar");
bar.setAttribute("aria-label", message("Class"));
bar.tabIndex = -1;
const sheet = make("dialog", "code");
root.append(style, bar, sheet);

let room = null; // from the server: its code and address
let now = { here: 0, exploring: 0, walls: 0, tally: null };
let chosen = 0; // the index of the offered activity
let told = ""; // the failed request, and the reason
let events = null;
let sent = "";
let advancedAt = -Infinity; // in ms: when the remote was last pressed
let seen = { written: "", view: "" }; // the view that the class saw, and the server's mark of it
const LOST = message("Connection lost. Reconnecting …");

// The teacher's choices last as long as the room, in all tabs of this browser; whether the class sees the screen is
// stored per tab. Stages of the plan: `at` in the notes, `shown` on the class's screens, `acted` the last one asked or
// skipped. `results` is the round of ten questions whose results were shown last, and `isTold` whether they are now.
const KEPT = "attention.lesson";
const NO_LESSON = { plan: "", at: 0, shown: -1, acted: -1, since: 0, isOpen: false, isPrivate: false, asked: [], found: [], results: 0, isTold: false };
let lesson = NO_LESSON;

/** The earlier choices for a room; the defaults if storage is denied, as in another site's frame. */
function kept(code) {
  try {
    const [plan, tab] = [localStorage, sessionStorage].map((storage) => JSON.parse(storage.getItem(KEPT) ?? "{}"));
    return { ...NO_LESSON, ...(plan.code === code && plan.lesson), isPrivate: tab.code === code && tab.isPrivate };
  } catch {
    return NO_LESSON;
  }
}

function keep(change) {
  lesson = { ...lesson, ...change };
  const code = room?.code;
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ code, isPrivate: lesson.isPrivate }));
    if (code) localStorage.setItem(KEPT, JSON.stringify({ code, lesson }));
    else localStorage.removeItem(KEPT);
  } catch {
    // Denied or full storage must not prevent teaching.
  }
  draw();
}

/** Send a request; if it is refused, the answer has the server's reason. */
async function post(path, body = {}) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  try {
    const response = await fetch(new URL(path, ROOMS), request);
    return { isDone: response.ok, ...(await response.json()) };
  } catch {
    return { isDone: false, isAway: true, told: message("Can't reach the server.") };
  }
}

/** Send the room a command, and report failures. */
async function act(name, body = {}) {
  const answer = await post(`${room.code}/${name}`, body);
  told = answer.isDone ? "" : answer.told;
  if (answer.isDone && name === "end") leave();
  // A task brings its page, which is not shown before.
  if (answer.start) location.assign(answer.start);
  draw();
  return answer;
}

/** Show another view of this page in place. */
function openHere(link) {
  history.replaceState(history.state, "", `${location.pathname}?${link}`);
  dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}

/** The page and link in the address. */
function here() {
  const page = location.pathname.slice(new URL(document.baseURI).pathname.replace(/[^/]*$/, "").length);
  return { page, link: location.search.slice(1) };
}

/** Hide the weights at the steps before softmax, as on the class's screens, or show them again. */
function setPlain(isOn) {
  const { page, link } = here();
  const query = new URLSearchParams(link);
  if (page !== "step_by_step" || query.has("plain") === isOn) return;
  if (isOn) query.set("plain", "1");
  else query.delete("plain");
  openHere(query.toString());
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

/** Follow the room that was opened here. */
function sit(code) {
  if (room?.code !== code) {
    room = { code, address: "" };
    lesson = kept(code);
  }
  events?.close();
  events = new EventSource(new URL(`${code}/desk`, ROOMS));
  const on = (kind, take) =>
    events.addEventListener(kind, (event) => {
      take(JSON.parse(event.data));
      draw();
    });
  on("room", (found) => (room = found));
  on("time", setClock);
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
    // A browser reconnects by itself to an unreachable server, but not to one that refuses.
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
  events?.close();
  // The teacher may have followed the room as a pupil does.
  if (follows === room?.code) follows = null;
  room = events = null;
  now = { here: 0, exploring: 0, walls: 0, tally: null };
  told = "";
  for (const { left } of ACTIVITIES) left?.();
  parts.clear();
  sheet.close();
  keep(NO_LESSON);
  setPlain(false);
}

/** Send the page's current view to the room. */
async function publish() {
  if (!room) return;
  setPlain(true);
  const shown = here();
  const written = JSON.stringify(shown);
  if (written === sent) return;
  sent = written;
  const answer = await post(`${room.code}/show`, shown);
  told = answer.told ?? "";
  if (answer.view) seen = { written, view: answer.view };
  pointAgain();
  // Retry requests that did not reach the class.
  if (answer.isAway) setTimeout(() => (sent = sent === written ? "" : sent), AGAIN);
  draw();
  for (const { moved } of ACTIVITIES) moved?.();
  takePlanOfPage();
}

if (window.navigation) navigation.addEventListener("currententrychange", publish);
setInterval(publish, LOOK);

// ------------------------------------------------------------------------------------- display

/** The parts of the bar, with the data they were made from. */
const parts = new Map();

/** Make a part of the bar, again only if its data changes: an open list in it stays open. */
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

function choiceOf(name, label, options = []) {
  const found = make("select");
  found.setAttribute("aria-label", label);
  found.dataset.name = name;
  found.append(...options.map(([value, title]) => new Option(title, value)));
  return found;
}

function tickOf(name, label, turn = () => {}) {
  const found = make("label", "check");
  const box = make("input");
  box.type = "checkbox";
  box.dataset.name = name;
  box.onchange = () => turn(box.checked);
  found.append(box, make("span", "", label));
  return found;
}

function foldOf(name, label, look = "") {
  const found = make("details", look);
  found.append(make("summary", "", label));
  found.firstElementChild.dataset.name = name;
  return found;
}

/** Words that are HTML: the project's own, or from the server, which escapes users' texts. */
function htmlOf(html, look = "words") {
  const found = make("div", look);
  found.innerHTML = html;
  return found;
}

/** A sentence of the bar, updated in place. */
function words(name, look, text) {
  const element = part(name, null, () => make("span", look));
  setText(element, text);
  return element;
}

const isPresented = () => new URLSearchParams(location.search).get("present") === "1";

/** Whether the class sees this screen: there is no wall screen, and it is not private. */
const isShared = () => isPresented() || !(now.walls > 0 || lesson.isPrivate);

/** Tell the page's menus whether a room is open: some items have other labels then. */
function tellMenus() {
  const page = document.documentElement;
  if (page.hasAttribute("data-room") === Boolean(room)) return;
  page.toggleAttribute("data-room", Boolean(room));
  page.dispatchEvent(new Event("attention-room"));
}

function draw() {
  tellMenus();
  const had = root.activeElement?.dataset.name;
  const going = room && goingNow();
  const isLarge = Boolean(going) && isShared() && !going.aside;
  const shown = [];
  const areNotesOpen = Boolean(room) && !isLarge && lesson.isOpen && !isPresented();
  if (room && isLarge) shown.push(...going.all, lineOf(going, true));
  else if (room && (going || !isPresented())) {
    if (areNotesOpen) shown.push(notes());
    if (going) shown.push(...going.own, ...(going.hides || going.aside ? [] : going.all));
    shown.push(lineOf(going, false));
  } else if (!room && follows) shown.push(...alone());
  if (told) {
    const sentence = part("told", told, () => make("p", "told", told));
    sentence.setAttribute("role", "alert");
    shown.push(sentence);
  }
  document.documentElement.toggleAttribute("data-notes", areNotesOpen);
  // The page's own question may show what the class is about to be asked, or repeats it.
  const isAsked = going ? going.hides || going.ends === ENDS.ask : waits(planNow()?.parts[lesson.at]);
  document.documentElement.toggleAttribute("data-class-asks", Boolean(room && isAsked));
  // Nor does the page judge what the class looks for.
  document.documentElement.toggleAttribute("data-class-seeks", Boolean(task && !task.told));
  document.documentElement.toggleAttribute("data-class-follows", Boolean(follows && !room));
  host.toggleAttribute("data-told", Boolean(told));
  bar.hidden = !shown.length;
  cover(isLarge);
  put(bar, shown);
  refocus(had, isLarge);
  const theme = getComputedStyle(document.querySelector(".page") ?? document.body).colorScheme;
  if (host.style.colorScheme !== theme) host.style.colorScheme = theme;
}

/** The current activity, if any. */
function goingNow() {
  return ACTIVITIES.map((each) => each.going()).find((each) => each !== null);
}

/** Set an element's children, leaving those in place untouched (an open list stays open). */
function put(place, children) {
  for (const each of [...place.children]) if (!children.includes(each)) each.remove();
  children.forEach((each, index) => {
    if (place.children[index] !== each) place.insertBefore(each, place.children[index] ?? null);
  });
  return place;
}

/** Scroll the bar to something that was opened. */
function see(opened) {
  opened.scrollIntoView({ block: "nearest" });
}

// Toggle events do not bubble: listen in the capture phase.
bar.addEventListener("toggle", ({ target }) => target.open && see(target), true);

/** The bar's last line: the code, attendance, actions, and the end. */
function lineOf(going, isLarge) {
  const line = part("line", null, () => make("div", "line last"));
  const code = part("code", room.code, () => {
    const found = button(room.code, showCode, "letter");
    found.title = message("Show the code to the class");
    return found;
  });
  const children = [code, words("here", "here", whoIsHere(now.here, now.exploring))];
  const planned = planButtons(going);
  line.toggleAttribute("data-planned", planned.length > 0);
  children.push(...planned);
  if (going) children.push(...going.line);
  else children.push(...tabs(), ...ACTIVITIES[chosen].offer());
  if (going?.hides && !isPresented() && !(now.walls > 0)) children.push(privacy());
  if (!isLarge && !isPresented()) children.push(notesButton(), ...(nextOfPlan(going)?.press === end ? [] : [part("end", null, () => button(message("End the class"), end, "quiet end"))]));
  return put(line, children);
}

/** The tabs of the activities, if there are several. */
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

/** Without a wall screen: whether the class sees this screen. */
function privacy() {
  const turn = (isPrivate) => keep({ isPrivate });
  const label = part("privacy", null, () => tickOf("privacy", message("Only I see this screen"), turn));
  label.firstElementChild.checked = lesson.isPrivate;
  return label;
}

/** For a pupil who explores alone: the open question or task, and the way back. */
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

/** Offer the results before they are deleted. */
function end() {
  const close = button(message("Cancel"), () => sheet.close());
  const go = button(message("End the class"), finish, "main");
  const files = lesson.asked.length ? [csvOf("results.csv", message("Download the answers"))] : [];
  if (ten) files.push(csvOf("own/results.csv", message("Download the ten questions")));
  sheet.replaceChildren(make("h2", "", message("End the class? Its answers will be deleted.")), ...files, go, close);
  openSheet(message("End the class"));
}

function openSheet(label) {
  sheet.setAttribute("aria-label", label);
  sheet.showModal();
}

function finish() {
  for (const { ends } of ACTIVITIES) ends?.();
  act("end");
}

// ------------------------------------------------------------------------------------- covering the page

let isCovering = false;

/** Cover the whole page with the bar, so that it can be neither seen nor reached, or place the bar below it. */
function cover(isLarge) {
  isCovering = isLarge;
  bar.toggleAttribute("data-large", isLarge);
  const page = document.getElementById("root");
  if (page && page.inert !== isLarge) page.inert = isLarge;
}

/** Restore the focus, or move it to the bar, so that a repeated key does not press something new. */
function refocus(had, isLarge) {
  if (sheet.open || (!had && !(isLarge && document.activeElement === document.body))) return;
  if (had && root.activeElement?.dataset.name === had) return;
  const same = had && bar.querySelector(`[data-name="${CSS.escape(had)}"]`);
  (same || bar).focus();
}

// Under the cover, no key changes the view, which would end the question. A presenter's remote, which sends the page keys,
// triggers the next action; in a plan, also where nothing is covered.
addEventListener(
  "keydown",
  (event) => {
    if (!room || sheet.open || (!isCovering && !lesson.plan)) return;
    if (isCovering) event.stopPropagation();
    if (event.key !== "PageDown") return;
    event.stopPropagation();
    event.preventDefault();
    // A key that is held, or pressed twice by mistake, asks and answers nothing at once.
    if (event.repeat || Date.now() - advancedAt < MISTAKEN) return;
    advancedAt = Date.now();
    advance();
  },
  true,
);

// The page ends where the bar begins.
new ResizeObserver(() => {
  const height = bar.hidden || isCovering ? 0 : bar.getBoundingClientRect().height;
  document.documentElement.style.setProperty("--class-bar", `${height}px`);
}).observe(bar);

let isCodeShown = false;
sheet.onclose = () => {
  isCodeShown = false;
  sendPoint();
};

function showCode() {
  const close = button(message("Close"), () => sheet.close(), "main");
  const picture = make("img");
  picture.src = new URL(`${room.code}/code.svg`, ROOMS).href;
  picture.alt = message("QR code of the address");
  const address = make("p", "address", room.address);
  const isAlone = ["localhost", "127.0.0.1", "[::1]"].includes(new URL(room.address).hostname);
  const alone = message("This link works on this machine only. For others on your network, start the app with HOST=0.0.0.0.");
  if (isAlone) address.append(make("br"), make("span", "alone", alone));
  const wall = make("a", "", message("A screen for the wall"));
  wall.href = `./room?code=${room.code}&screen=1`;
  wall.target = "_blank";
  wall.rel = "opener";
  wall.title = message("A page without controls, for a projector");
  sheet.replaceChildren(make("h2", "", message("Join the class")), make("p", "letters", room.code), picture, address, wall, close);
  openSheet(message("Join the class"));
  isCodeShown = true;
  sendPoint();
}

// ------------------------------------------------------------------------------------- start

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
