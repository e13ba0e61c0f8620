/**
 * The bar of a class over the pages of the app: for whoever has opened a room, and, for whoever follows one and looks
 * around alone, the way back. What the page shows is what its address says, so the address is what a room is sent.
 */

const ROOMS = new URL("./_attention/room/", document.baseURI);
// How often the address is looked at where a browser does not tell of its changes.
const LOOK = 250;
// When nothing has moved for so long, it is time to find questions.
const SETTLED = 400;
// How soon something is tried again that did not reach the server.
const AGAIN = 1000;

const host = document.createElement("div");
const root = host.attachShadow({ mode: "open" });
const style = make("style");
style.textContent = STYLES;
const bar = make("section", "bar");
bar.setAttribute("aria-label", message("Class"));
const sheet = make("dialog", "code");
root.append(style, bar, sheet);

let room = null; // what the server says of it: its code and its address
let asked = null; // the question that is asked
let now = { here: 0, tally: null };
// The lesson: all plans, the chosen one, and how far it is. It outlives the page, and goes with the tab.
const KEPT = "attention.lesson";
let lesson = { plan: "", at: 0, since: 0, isOpen: false, ...JSON.parse(sessionStorage.getItem(KEPT) ?? "{}") };
let plans = [];
let told = ""; // what could not be done, and why
let events = null;
let sent = "";
let fitting = null; // the timer after which it is asked which questions fit what is shown
let idle = null; // what stands in the bar while nothing is asked
const LOST = message("The connection is lost: it comes back by itself.");

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
  room = { code, address: room?.code === code ? room.address : "" };
  events?.close();
  events = new EventSource(new URL(`${code}/desk`, ROOMS));
  const on = (kind, take) =>
    events.addEventListener(kind, (event) => {
      take(JSON.parse(event.data));
      draw();
    });
  on("room", (found) => (room = found));
  on("question", (question) => (asked = question));
  on("here", (found) => (now = found));
  on("trouble", (trouble) => (told = trouble?.told ?? ""));
  on("over", leave);
  fetch(new URL(`${code}/plans`, ROOMS))
    .then((response) => response.json())
    .then((found) => {
      plans = Array.isArray(found) ? found : [];
      draw();
    })
    .catch(() => {});
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
  idle = makeIdle();
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
  sessionStorage.removeItem(KEPT);
  events?.close();
  clearTimeout(fitting);
  room = asked = events = null;
  told = "";
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
  told = answer.isDone ? "" : answer.told;
  // What the class has not been shown, it is shown as soon as that can be done.
  if (answer.isAway) setTimeout(() => (sent = sent === written ? "" : sent), AGAIN);
  draw();
  clearTimeout(fitting);
  fitting = setTimeout(findQuestions, SETTLED);
}

/** Offer the questions that fit what is shown; while they cannot be had, there are those that there were. */
async function findQuestions() {
  if (!room) return;
  const { code } = room;
  const answer = await fetch(new URL(`${code}/questions`, ROOMS)).catch(() => null);
  if (!answer?.ok || room?.code !== code) return;
  const { questions } = await answer.json();
  const chosen = idle.choice.value;
  const options = [{ name: "", title: message("About this view") }, ...questions].map(({ name, title }) => new Option(title, name));
  idle.choice.replaceChildren(...options);
  if (questions.some(({ name }) => name === chosen)) idle.choice.value = chosen;
}

if (window.navigation) navigation.addEventListener("currententrychange", publish);
setInterval(publish, LOOK);

// ------------------------------------------------------------------------------------- what is seen

async function act(name, body = {}) {
  const answer = await post(`${room.code}/${name}`, body);
  told = answer.isDone ? "" : answer.told;
  if (answer.isDone && name === "end") leave();
  draw();
}

function button(label, press, look = "") {
  const element = make("button", look, label);
  element.type = "button";
  element.onclick = press;
  element.dataset.name = label;
  return element;
}

function draw() {
  const had = root.activeElement?.dataset.name;
  const isPresented = new URLSearchParams(location.search).get("present") === "1";
  const parts = [];
  if (room && !(isPresented && !asked?.told)) parts.push(...(isPresented ? outcome() : desk()));
  else if (follows) {
    const way = make("a", "", message("Back to the class"));
    way.href = `./room?code=${follows}`;
    parts.push(way);
  }
  if (told) {
    const sentence = make("p", "told", told);
    sentence.setAttribute("role", "alert");
    parts.push(sentence);
  }
  bar.hidden = !parts.length;
  bar.toggleAttribute("data-large", isPresented);
  put(parts);
  if (had && root.activeElement?.dataset.name !== had) bar.querySelector(`[data-name="${CSS.escape(had)}"]`)?.focus();
}

/** Have these parts in the bar; one that is there already stays untouched, and a list in it open. */
function put(parts) {
  for (const each of [...bar.children]) if (!parts.includes(each)) each.remove();
  parts.forEach((each, index) => {
    if (bar.children[index] !== each) bar.insertBefore(each, bar.children[index] ?? null);
  });
}

/** The line while nothing is asked. */
function makeIdle() {
  const line = make("div", "line");
  const code = makeCode();
  const count = make("span", "here");
  const choice = make("select");
  choice.setAttribute("aria-label", message("What to ask"));
  choice.dataset.name = "choice";
  choice.append(new Option(message("About this view"), ""));
  const notes = notesButton();
  const ask = async () => {
    await act("ask", choice.value ? { ready: choice.value } : {});
    if (!told) choice.value = "";
  };
  line.append(code, count, choice, button(message("Ask"), ask, "main"), notes, button(message("End the class"), end, "quiet"));
  return { line, count, choice, notes };
}

function notesButton() {
  const found = button(message("Notes"), () => keep({ isOpen: !lesson.isOpen }), "quiet");
  found.setAttribute("aria-expanded", String(lesson.isOpen));
  return found;
}

function makeCode() {
  const code = button(room.code, showCode, "quiet");
  code.title = message("Show the code to the class");
  return code;
}

function desk() {
  if (!asked) {
    setText(idle.count, messages("{n} is here", "{n} are here", now.here));
    setAttribute(idle.notes, "aria-expanded", String(lesson.isOpen));
    return lesson.isOpen ? [notesOf(), idle.line] : [idle.line];
  }
  const line = make("div", "line");
  line.append(makeCode(), make("span", "here", messages("{n} is here", "{n} are here", now.here)));
  if (!asked.told) {
    const { answered = 0 } = now.tally ?? {};
    const count = make("span", "here", message("{answered} of {here} answered", { answered, here: now.here }));
    line.append(count, button(message("Show the answers"), () => act("reveal"), "main"), button(message("Withdraw"), () => act("withdraw")));
  } else line.append(button(message("Next"), () => act("withdraw"), "main"));
  line.append(button(message("End the class"), end, "quiet"));
  if (asked.told) return [...outcome(), line];
  const fold = make("details");
  fold.open = isOpen;
  fold.ontoggle = () => (isOpen = fold.open);
  fold.append(make("summary", "", message("Answers until now: for you alone")), ...table(now.tally));
  return [fold, line];
}

let isOpen = false;

// ------------------------------------------------------------------------------------- the lesson

function keep(change) {
  lesson = { ...lesson, ...change };
  sessionStorage.setItem(KEPT, JSON.stringify(lesson));
  draw();
}

/** What to say at this place of the lesson, the way to the next one, and the clock. */
function notesOf() {
  const box = make("section", "notes");
  box.setAttribute("aria-label", message("Notes"));
  const plan = plans.find(({ name }) => name === lesson.plan);
  const choice = make("select");
  choice.setAttribute("aria-label", message("Lesson plan"));
  choice.dataset.name = "plan";
  for (const [value, label] of [["", message("Choose a lesson plan")], ...plans.map(({ name, label }) => [name, label])]) {
    const option = make("option", "", label);
    option.value = value;
    option.selected = value === lesson.plan;
    choice.append(option);
  }
  choice.onchange = () => keep({ plan: choice.value, at: 0, since: Date.now() });
  const head = make("div", "line");
  head.append(choice);
  box.append(head);
  if (!plan) return box;
  const part = plan.parts[lesson.at];
  const whole = plan.parts.reduce((sum, { minutes }) => sum + minutes, 0);
  const passed = Math.floor((Date.now() - lesson.since) / 60_000);
  const clock = make("span", "clock", message("{passed} of {whole} min", { passed, whole }));
  const place = message("{place} of {n}, {minutes} min", { place: lesson.at + 1, n: plan.parts.length, minutes: part.minutes });
  head.append(clock, make("span", "here", place));
  const words = make("div", "words");
  words.innerHTML = part.words; // the project's own text
  const ways = make("div", "line");
  const go = (at) => () => {
    keep({ at });
    location.assign(new URL(plan.parts[at].address, document.baseURI));
  };
  ways.append(button(message("Show this view"), go(lesson.at)));
  if (lesson.at > 0) ways.append(button(message("Back"), go(lesson.at - 1)));
  if (lesson.at + 1 < plan.parts.length) ways.append(button(message("Next view"), go(lesson.at + 1), "main"));
  box.append(words, ways);
  return box;
}

// The clock goes on.
setInterval(() => {
  if (room && lesson.isOpen && lesson.plan) draw();
}, 15_000);

function end() {
  if (confirm(message("End the class? Its answers are deleted."))) act("end");
}

function outcome() {
  const words = make("div", "words");
  words.innerHTML = asked.question; // written by the server, which escapes what was typed
  const reason = make("div", "words");
  reason.innerHTML = asked.told.reason + asked.told.why;
  return [words, ...table(asked.told), reason];
}

/** How many gave each answer. */
function table(tally) {
  if (!tally) return [];
  const found = make("table");
  const most = Math.max(1, ...tally.counts);
  tally.labels.forEach((label, index) => {
    const row = found.insertRow();
    row.className = tally.right.includes(index) ? "right" : "";
    const name = make("th");
    name.scope = "row";
    name.append(make("bdi", "", visible(label)));
    const length = make("td", "length");
    const shade = make("i");
    shade.style.width = `${(100 * tally.counts[index]) / most}%`;
    length.append(shade);
    const sign = tally.right.includes(index) ? message("right") : tally.close.includes(index) ? message("close") : "";
    row.append(name, length, make("td", "count", String(tally.counts[index])), make("td", "sign", sign));
  });
  return [found];
}

function showCode() {
  const close = button(message("Close"), () => sheet.close(), "main");
  const picture = make("img");
  picture.src = new URL(`${room.code}/code.svg`, ROOMS).href;
  picture.alt = message("QR code of the address");
  const address = make("p", "address", room.address);
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
    else draw();
  })
  .catch(() => {});
