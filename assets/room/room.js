/**
 * A screen of a class: it shows the teacher's view, and sends answers.
 *
 * The server sends events (attention.classroom.rooms): the view, the teacher's pointer, the question, the pupil's
 * answer and verdict, the task, the pupil's best link, and the end.
 */

const given = JSON.parse(document.getElementById("given").textContent);
const isDark = matchMedia("(prefers-color-scheme: dark)");
const isPaper = matchMedia("print");
const at = (act) => new URL(`./${given.folder}/${given.code}/${act}`, document.baseURI);
// A wall screen does not answer, and is not counted.
const EVENTS = given.isScreen ? "screen" : "events";
const part = (name) => document.getElementById(name);
// The current pictures, by component name and number.
let pictures = new Map();
// The question, the pupil's answer and, after the reveal, the verdict.
let question = null;
let mine = null;
let worth = null;

/** Send a request; if it is refused, the answer has the server's reason. */
async function post(act, body) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  try {
    const response = await fetch(at(act), request);
    return { isDone: response.ok, ...(await response.json()) };
  } catch {
    return { isDone: false, isAway: true, told: message("Can't reach the server. This continues by itself.") };
  }
}

async function join() {
  const { isDone, isAway, told } = await post("join", {});
  if (isDone) follow();
  else if (isAway) {
    say(told);
    setTimeout(join, 1000);
  } else refuse(told);
}

/** Say why there is nothing to follow, and ask for another code. */
function refuse(told) {
  say("");
  part("told").textContent = told;
  part("entry").hidden = false;
  part("class").hidden = true;
  part("entry").querySelector("input").select();
}

function follow() {
  part("entry").hidden = true;
  part("class").hidden = false;
  const events = new EventSource(at(EVENTS));
  const on = (kind, take) => events.addEventListener(kind, (event) => take(JSON.parse(event.data)));
  on("view", showView);
  on("present", showPresent);
  on("point", (found) => {
    pointed = found;
    document.body.classList.toggle("joining", Boolean(found?.isCode));
    showResults(found?.isOwn && given.isScreen ? found.questions : null);
    showPointed();
  });
  on("time", setClock);
  on("question", hearQuestion);
  on("mine", (answer) => {
    mine = answer;
    ask(question);
  });
  on("verdict", (found) => {
    worth = found;
    ask(question);
  });
  on("task", showTask);
  on("handed", (found) => {
    handed = found;
    showVerdict();
  });
  on("own", invite);
  on("paper", takePaper);
  on("trouble", (trouble) => say(trouble?.told ?? ""));
  on("over", ({ told, isElsewhere }) => {
    events.close();
    document.body.classList.add("over");
    refuse(told);
    if (isElsewhere) return;
    // The pupil's ten questions stay.
    question = null;
    invite(null);
    part("entry").append(part("own"));
  });
  events.onopen = () => say("");
  events.onerror = () => {
    say(message("Connection lost. Reconnecting …"));
    if (events.readyState !== EventSource.CLOSED) return;
    events.close();
    setTimeout(join, 1000);
  };
}

/** Words that are HTML: the project's own, or from the server, which escapes users' texts. */
function proseOf(html, look = "prose") {
  const found = make("div", look);
  found.innerHTML = html;
  return found;
}

function say(text) {
  setText(part("state"), text);
}

// ------------------------------------------------------------------------------------- the view

// The last view heard of: its scripts may arrive before those of an earlier one.
let newest = null;

// A wall that opens before anybody is there shows how to join until the class sees another view or a question.
let firstView = null; // its mark

const stopInviting = () => document.body.classList.remove("inviting");

async function showView(view) {
  newest = view;
  firstView ??= view.mark;
  if (view.mark !== firstView) stopInviting();
  const modules = Object.entries(view.modules);
  const loaded = await Promise.all(modules.map(([, address]) => import(new URL(address, document.baseURI))));
  if (view !== newest) return;
  const components = Object.fromEntries(modules.map(([name], index) => [name, loaded[index]]));
  // A wall's header names the head, too: the room below it is for the picture.
  setText(part("page"), given.isScreen && view.caption ? view.caption : view.page);
  setText(part("title"), view.title);
  setText(part("caption"), view.caption);
  link = view.link ?? null;
  document.body.classList.toggle("waits", !link);
  const open = new Set([...part("view").querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  const before = pictures;
  pictures = new Map();
  const body = document.createElement("template");
  body.innerHTML = view.html;
  for (const summary of body.content.querySelectorAll("details > summary")) {
    if (open.has(summary.textContent)) summary.parentElement.open = true;
  }
  const counts = {};
  for (const element of body.content.querySelectorAll("[data-picture]")) {
    const picture = view.pictures[Number(element.dataset.picture)];
    counts[picture.component] = (counts[picture.component] ?? 0) + 1;
    const name = `${picture.component} ${counts[picture.component]}`;
    // A picture on both views is not redrawn: it turns into the next.
    const host = before.get(name)?.host ?? document.createElement("div");
    element.append(host);
    pictures.set(name, { host, picture, component: components[picture.component] });
  }
  part("view").replaceChildren(body.content);
  hold();
  for (const [name, each] of pictures) draw(name, each);
  mark = view.mark;
  showPointed();
  reach();
}

// The teacher's pointer, and the mark of the current view.
let pointed = null;
let mark = "";

/** Show where the teacher points in that picture, and nothing in the others. */
function showPointed() {
  for (const { host, picture } of pictures.values()) {
    const isIt = pointed?.view === mark && pointed.picture === picture.key;
    host.shadowRoot.dispatchEvent(new CustomEvent("attention-pointed", { detail: isIt ? pointed.at : null }));
  }
}

/** Make boxes that scroll focusable for the keyboard. */
function reach() {
  for (const each of part("view").querySelectorAll(".formula, pre")) {
    const isLarger = each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight;
    setAttribute(each, "tabindex", isLarger ? "0" : null);
  }
}

addEventListener("resize", reach);

// On a wall, a picture's small letters are for the back row.
const larger = new CSSStyleSheet();
larger.replaceSync(`.root .title, .root .text { font-size: max(1rem, 2vh); }
  .root :is(.legend, .shape, .caption, .place, .numbers, div.later) { font-size: max(1rem, 1.7vh); }
  .tokens .text { font-size: var(--token-size, 1.5rem); }
  .stream { zoom: 1.1; }
  @media (min-width: 100rem) { .stream { zoom: 1.4; } }`);

function draw(_name, { host, picture, component }) {
  if (!host.shadowRoot) {
    host.attachShadow({ mode: "open" });
    if (picture.isStill) still(host.shadowRoot, picture.component);
  }
  host.dataset.component = picture.component;
  const { default: show, styles, ask } = component;
  if (host.shadowRoot.adoptedStyleSheets[0] !== styles) host.shadowRoot.adoptedStyleSheets = given.isScreen ? [styles, larger] : [styles];
  show({ data: picture.data, parentElement: host.shadowRoot, setStateValue: () => {}, ask });
}

for (const media of [isDark, isPaper]) {
  media.addEventListener("change", () => pictures.forEach((each, name) => draw(name, each)));
}

// ------------------------------------------------------------------------------------- the question

// The address of the class's view in the app; null until a question about it is answered.
let link = null;

/** Block the links to the app before the answers are shown: they would lead to them. A round's own lead to its answers. */
function hold() {
  const isHeld = question !== null && !question.told;
  const isOpen = !isHeld && !round && link !== null;
  const sought = task && !task.told ? `&${task.sought}` : "";
  setAttribute(part("alone"), "href", isOpen ? link + sought : null);
  setAttribute(part("alone"), "aria-disabled", isOpen ? null : "true");
  part("held").hidden = isOpen || round !== null;
  for (const way of document.querySelectorAll("main a:not(#alone)")) way.inert = way.closest("#own") ? isHeld : !isOpen;
}

/** On a wall screen: attendance and, while questions are open, the number of answers or of those who have finished. */
function showPresent({ here, exploring, answered, handed, own }) {
  const isFirst = !part("present").textContent && (newest?.mark ?? null) === firstView && !question;
  if (isFirst && here === 0) document.body.classList.add("inviting");
  const said = [whoIsHere(here, exploring)];
  if (answered !== null) said.push(messages("{n} answered", "{n} answered", answered));
  if (handed !== null) said.push(messages("{n} handed in", "{n} handed in", handed));
  setText(part("present"), said.join(" · "));
  showProgress(own);
}

/** Show a question; one that is open already may only have more time, and what is being typed stays. */
function hearQuestion(asked) {
  if (asked) stopInviting();
  const isOpen = asked && !asked.told && question && !question.told && question.number === asked.number;
  if (!isOpen) return ask(asked);
  question = asked;
  return keepTime();
}

/** Show the time left; then nothing more can be sent. */
function keepTime() {
  const place = part("question");
  const isTimed = Boolean(question?.ends);
  const isOver = isTimed && !secondsLeft(question.ends);
  const clock = place.querySelector(".time");
  if (!clock) return;
  clock.hidden = !isTimed;
  if (isTimed) setText(clock, timeLeft(question.ends));
  if (given.isScreen || place.hasAttribute("data-over") === isOver) return;
  place.toggleAttribute("data-over", isOver);
  for (const field of place.querySelectorAll("button, input")) field.disabled = isOver;
  setText(place.querySelector(".said"), isOver ? lateFor(question) : saidOf(question));
}

/** What pupils read when the time is up: shares that were dragged and not sent don't count. */
function lateFor(asked) {
  return asked.shape === "shares" ? message("Time is up. Only sent answers count.") : message("Time is up.");
}

setInterval(keepTime, 250);

/** The answer of this browser, if it has given one. */
const ownAnswer = (asked) => (mine?.number === asked.number ? mine.given : null);

/** The answer to discuss, of the question that is asked again. */
const earlierAnswer = (asked) => (asked.isAgain && mine?.number === asked.number - 1 ? mine.given : null);

/** Whether the answer has arrived. */
function saidOf(asked) {
  if (!ownAnswer(asked)) return asked.isAgain ? message("Asked again: discuss it, then answer once more.") : "";
  return asked.ends ? message("Sent ✓") : message("Sent. You can change it until the answers are shown.");
}

function ask(asked) {
  const isSame = asked !== null && question?.number === asked.number;
  question = asked;
  const place = part("question");
  place.hidden = asked === null;
  place.classList.toggle("told", Boolean(asked?.told));
  hold();
  if (asked === null) {
    place.replaceChildren();
    return;
  }
  const had = isSame ? document.activeElement?.dataset.answer : undefined;
  const words = proseOf(asked.question);
  const own = ownAnswer(asked);
  const said = make("p", "said");
  said.setAttribute("role", "status");
  const clock = make("p", "time");
  clock.setAttribute("role", "timer");
  const shown = asked.told ? outcome(asked, own) : choicesOf(asked, own);
  place.replaceChildren(words, clock, shown, said);
  place.removeAttribute("data-over");
  if (!asked.told && (!given.isScreen || asked.isAgain)) setText(said, saidOf(asked));
  keepTime();
  if (had !== undefined) place.querySelector(`[data-answer="${had}"]`)?.focus();
  // A user who has scrolled down would miss the question.
  if (!isSame) place.scrollIntoView({ block: "nearest" });
}

const MOST_TYPED = 60; // characters of a typed answer
let nGiven = 0;

/** Send an answer; while the server is away, retry until there is another answer or the question is over. */
async function give(values, given = (nGiven += 1)) {
  const { number } = question;
  const sent = await post("answer", { number, given: values });
  if (given !== nGiven || question?.number !== number) return;
  if (sent.isDone) {
    mine = sent;
    ask(question);
    return;
  }
  if (question.told) return;
  setText(part("question").querySelector(".said"), sent.told);
  const again = () => given === nGiven && question?.number === number && !question.told && give(values, given);
  if (sent.isAway) setTimeout(again, 1000);
}

function choicesOf(asked, own) {
  if (asked.shape === "one") {
    const group = answers(asked, (index) => give([index]));
    [...group.children].forEach((each, index) => each.setAttribute("aria-pressed", String(own?.[0] === index)));
    return group;
  }
  if (asked.shape === "words") return fieldFor(asked, own);
  const start = earlierAnswer(asked);
  const form = bars({ ...asked, given: own, start }, message("Send"), give);
  const send = form.querySelector("button");
  send.disabled = !own && !start;
  form.addEventListener("input", () => (send.disabled = false));
  return form;
}

function answers(asked, take) {
  const group = make("div", "answers");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", asked.label);
  asked.answers.forEach((answer, index) => {
    const button = pressed("", () => take(index));
    button.dataset.answer = String(index);
    button.append(make("bdi", "", visible(answer)));
    group.append(button);
  });
  return group;
}

/** A field for a number or a few words; nothing on a wall. */
function fieldFor(asked, own) {
  const form = make("form", "answers");
  if (given.isScreen) return form;
  const field = make("input");
  field.setAttribute("aria-label", asked.label);
  field.maxLength = MOST_TYPED;
  field.value = (own ?? earlierAnswer(asked))?.[0] ?? "";
  field.dataset.answer = "typed";
  const send = make("button", "", message("Send"));
  form.append(field, send);
  form.onsubmit = (event) => {
    event.preventDefault();
    if (field.value.trim()) give([field.value]);
  };
  return form;
}

/** The verdict, one's own shares beside the true ones, the count of each answer, and the reason. */
function outcome({ number, label, answers, told, shape }, own) {
  const box = make("div", "outcome");
  const table = make("table");
  const most = Math.max(1, ...told.counts);
  if (told.legend) table.createCaption().textContent = told.legend;
  told.labels.forEach((label, index) => {
    const row = table.insertRow();
    const isRight = told.right.includes(index);
    row.classList.toggle("right", isRight);
    const name = make("th");
    name.scope = "row";
    name.append(make("bdi", "", visible(label)));
    const signs = [isRight ? message("right") : "", told.close.includes(index) ? message("close") : ""];
    const isOwn = shape === "words" ? own?.[0].toLowerCase() === label.toLowerCase() : shape === "one" && own?.[0] === index;
    if (isOwn) signs.push(message("your answer"));
    const bar = make("i");
    bar.style.width = `${(100 * told.counts[index]) / most}%`;
    const length = make("td", "length");
    length.append(bar);
    const known = shape !== "shares" ? signs.filter(Boolean).join(" · ") : "";
    row.append(name, length, make("td", "count", told.counted[index]), make("td", "sign", known));
  });
  const reason = proseOf(told.reason);
  const came = make("div", "came");
  if (worth?.number === number) came.append(proseOf(worth.told));
  if (shape === "shares") {
    // On a wall, the counts stand beside the true shares.
    const all = make("div", "all");
    all.append(make("p", "", message("The class:")), table);
    came.append(bars({ label, answers, given: own ?? [], shares: told.shares, means: told.means }));
    box.append(came, all, reason);
  } else {
    came.append(table);
    box.append(came, reason);
  }
  if (told.wrong) box.append(proseOf(told.wrong));
  return box;
}

// -------------------------------------------------------------------------------- the task

// The task, the best link handed in, and the verdict on the last one.
let task = null;
let handed = null;
let lastJudged = null;

function showTask(found) {
  const isSame = found && !found.told && task?.number === found.number;
  task = found;
  // Text being typed stays.
  if (isSame) return;
  lastJudged = null;
  const place = part("task");
  place.hidden = !task;
  place.replaceChildren();
  if (!task) return hold();
  place.append(make("h2", "", message("Find it: {title}", { title: task.title })), proseOf(task.rule, "prose rule"));
  if (task.told) place.append(best(task.told));
  else if (!given.isScreen) place.append(wayToLook(), handIn());
  const said = make("div", "said");
  said.setAttribute("role", "status");
  place.append(said);
  // A user who has scrolled down would miss the task.
  place.scrollIntoView({ block: "nearest" });
  showVerdict();
  return hold();
}

function wayToLook() {
  const way = make("a", "start", message("Look for it in the app ▸"));
  way.href = task.start;
  const line = make("p");
  line.append(way, " ", message("Hand in your view there, or paste its address here:"));
  return line;
}

function handIn() {
  const form = make("form", "hand-in");
  const input = make("input");
  Object.assign(input, { type: "text", name: "link", required: true, autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-label", message("Address of a view"));
  const button = make("button", "", message("Hand in"));
  form.append(input, button);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const { number } = task;
    button.disabled = true;
    const answer = await post("hand-in", { number, link: input.value });
    button.disabled = false;
    if (task?.number !== number) return;
    if (answer.isDone) handed = answer;
    lastJudged = answer;
    showVerdict();
  };
  return form;
}

/** Show the verdict on the last link, and the best one. */
function showVerdict() {
  const said = part("task").querySelector(".said");
  if (!said) return;
  const own = handed?.number === task.number ? handed.best : null;
  const last = lastJudged?.isDone ? lastJudged.verdict : null;
  const parts = [];
  if (lastJudged && !last) parts.push(make("p", "", lastJudged.told));
  if (last) parts.push(judged(last));
  if (own && own.address !== last?.address) parts.push(judged(own, message("Your best:")));
  said.replaceChildren(...parts);
}

function judged(found, lead = "") {
  const box = make("div", found.isSolved ? "verdict solved" : "verdict");
  box.append(make("strong", "", [lead, found.headline].filter(Boolean).join(" ")));
  box.append(proseOf(found.told));
  return box;
}

/** How many have solved it, and the best links. */
function best(told) {
  const box = make("div", "best");
  const { handed: n, solved } = told;
  if (n) box.append(make("p", "", messages("{solved} of {n} found it.", "{solved} of {n} found it.", n, { solved })));
  // Failed attempts are not ranked.
  const list = make(solved ? "ol" : "ul");
  for (const each of told.best) {
    const item = make("li");
    const way = make("a", "", message("Open this view ▸"));
    way.href = each.address;
    item.append(judged(each), way);
    list.append(item);
  }
  box.append(list);
  return box;
}

document.body.classList.toggle("screen", given.isScreen);
if (given.isScreen && given.code) part("qr").src = at("code.svg").href;
if (given.code) join();
else refuse(given.told);
