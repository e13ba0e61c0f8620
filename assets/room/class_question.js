/** Questions to the class: about the view, or ready ones. */

// In ms: look for questions once the view has been stable this long.
const SETTLED = 400;
const MOST_ASKED = 50;

let asked = null; // the open question
let ready = []; // the questions that fit the view
let hasOwn = true; // whether the view has a question of its own
let fitting = null; // the timer of the search
let finding = new AbortController(); // cancels the search
let isAside = false; // whether the answers were moved aside, to see the picture
let isAsking = false; // whether the class has an open question, for a pupil who explores alone

ACTIVITIES.push({
  name: "question",
  label: () => message("Question"),
  offer: offerQuestion,
  going: goingQuestion,
  hears: {
    question: (found) => {
      if (!found?.told || found.number !== asked?.number) isAside = false;
      asked = found;
      if (found?.told) remember(found);
    },
  },
  moved: () => {
    giveUpFinding();
    fitting = setTimeout(findQuestions, SETTLED);
  },
  alone: aloneWithQuestion,
  ends: giveUpFinding,
  left: () => {
    giveUpFinding();
    asked = null;
    ready = [];
    hasOwn = true;
  },
});

/** Keep a question with its result until the class ends. */
function remember({ number, question, shape, told }) {
  const others = lesson.asked.filter((each) => each.number !== number);
  keep({ asked: [...others, { number, question, shape, told }].slice(-MOST_ASKED) });
}

/** All questions so far with their results, shown in the notes. */
function askedSoFar() {
  if (!lesson.asked.length) return [];
  const fold = part("asked", null, () => foldOf("asked", message("Asked so far")));
  const results = part("asked results", lesson.asked, () => {
    const found = make("div", "asked");
    for (const { question, shape, told } of lesson.asked) found.append(htmlOf(question), tallyOf(told, shape));
    return found;
  });
  return [put(fold, [fold.firstElementChild, results, part("results csv", room.code, () => csvOf("results.csv"))])];
}

/** A link to a file of answers. */
function csvOf(file, label = message("Download as CSV")) {
  const found = make("a", "", label);
  found.href = new URL(`${room.code}/${file}`, ROOMS).href;
  found.download = "";
  return found;
}

/** Offer the questions that fit the view; if the request fails, keep the old ones. */
async function findQuestions() {
  if (!room) return;
  const { code } = room;
  finding = new AbortController();
  const { signal } = finding;
  const found = await fetch(new URL(`${code}/questions`, ROOMS), { signal })
    .then((answer) => (answer.ok ? answer.json() : null))
    .catch(() => null);
  if (!found || room?.code !== code) return;
  ({ questions: ready, hasOwn } = found);
  draw();
}

/** Cancel a search for another view, or for a room that has ended. */
function giveUpFinding() {
  clearTimeout(fitting);
  finding.abort();
}

function offerQuestion() {
  const choice = part("choice", room.code, () => choiceOf("choice", message("What to ask")));
  const own = hasOwn ? [{ name: "", title: message("About this view") }] : [];
  const names = JSON.stringify([...own, ...ready]);
  if (choice.dataset.of !== names) {
    const { value } = choice;
    const options = [...own, ...ready].map(({ name, title }) => new Option(title, name));
    choice.replaceChildren(...options);
    choice.dataset.of = names;
    if (ready.some(({ name }) => name === value)) choice.value = value;
  }
  const limit = part("limit", room.code, () => choiceOfLimit(null));
  const ask = async () => {
    const seconds = limitOf(limit);
    await act("ask", choice.value ? { ready: choice.value, seconds } : { seconds });
    if (!told) choice.selectedIndex = 0;
  };
  const press = part("ask", room.code, () => button(message("Ask"), ask, "main"));
  press.disabled = !choice.options.length;
  return [choice, limit, press];
}

/** A choice of the time limit in seconds; null for none. */
function choiceOfLimit(seconds) {
  const options = [["", message("No time limit")], ...TIME_LIMITS.map((n) => [n, message("{n} s", { n })])];
  const found = choiceOf("limit", message("Time limit"), options);
  found.value = seconds ?? "";
  return found;
}

const limitOf = ({ value }) => (value ? Number(value) : null);
const limitInBar = () => limitOf(parts.get("limit")?.element ?? { value: "" });

function goingQuestion() {
  if (!asked) return null;
  return asked.told ? answered() : openNow();
}

/** Before the reveal: the possible answers, and how many have answered. */
function openNow() {
  const { answered: n = 0 } = now.tally ?? {};
  const line = [
    words("answered", "here", howMany(n)),
    ...(asked.ends ? [words("left", "clock", timeLeft(asked.ends)), part("more time", null, () => button(message("30 s more"), () => act("more-time")))] : []),
    part("reveal", null, () => button(message("Show the answers"), reveal, "main")),
    part("again", null, againButton),
    part("withdraw", null, () => button(message("Withdraw"), () => act("withdraw"))),
  ];
  const about = words("sentence", "sentence", asked.sentence);
  return { all: [about, questionOf(), possible()], own: [questionOf(), untilNow()], line, hides: true };
}

setInterval(() => {
  if (asked?.ends) draw();
}, LOOK);

/** Peer instruction: the class discusses, and answers once more. */
function againButton() {
  const found = button(message("Ask again"), () => act("ask-again"));
  found.title = message("Let neighbours discuss, then answer again: the result shows both");
  return found;
}

/** Show the answers, and open the view that the question hid. */
async function reveal() {
  const { isDone, opened } = await act("reveal");
  if (!isDone || opened === undefined) return;
  const isPresent = isPresented() ? "&present=1" : "";
  if (asked) openHere(opened + isPresent);
}

/** How many of those present have answered, including any who have left. */
function howMany(n) {
  if (n > now.here) return messages("{n} answered", "{n} answered", n);
  return message("{answered} of {here} answered", { answered: n, here: now.here });
}

function answered() {
  const label = isAside ? message("See the answers") : message("See the picture");
  const turn = () => {
    isAside = !isAside;
    draw();
  };
  const next = nextOfPlan({ ends: "withdraw", aside: isAside, turn });
  const line = [
    // In a plan, the plan's button goes on, except at its end.
    ...(next && next.press !== end ? [] : [part("next", null, () => button(message("Next"), () => act("withdraw"), "main"))]),
    ...(next?.press === turn ? [] : [part("aside", label, () => {
      const found = button(label, turn);
      found.dataset.name = "aside";
      return found;
    })]),
  ];
  const tally = part("tally", asked.told, () => tallyOf(asked.told, asked.shape));
  const all = [questionOf(), ...truth(), tally, part("reason", asked.told, reasonOf)];
  return { all, own: [], line, hides: false, ends: "withdraw", aside: isAside, turn };
}

/** The class's shares beside the true ones, where shares were asked for. */
function truth() {
  if (asked.shape !== "shares") return [];
  const { label, answers, told } = asked;
  return [part("truth", told, () => bars({ label, answers, given: [], shares: told.shares, means: told.means }))];
}

const questionOf = () => part("question", asked.question, () => htmlOf(asked.question, "words question"));

/** The possible answers, for everyone. */
function possible() {
  return part("possible", asked.answers, () => {
    const list = make("ul", `possible ${asked.shape}`);
    list.setAttribute("aria-label", asked.label);
    for (const answer of asked.answers) {
      const item = make("li");
      item.append(make("bdi", "", visible(answer)));
      list.append(item);
    }
    return list;
  });
}

const reasonOf = () => htmlOf(asked.told.reason + asked.told.wrong);

/** The answers so far, for the teacher. */
function untilNow() {
  const fold = part("until now", null, () => foldOf("until now", message("Answers so far: for you alone")));
  put(fold, [fold.firstElementChild, ...(now.tally ? [part("tally now", now.tally, () => tallyOf(now.tally, asked.shape))] : [])]);
  return fold;
}

/** A note to a pupil who explores alone that there is a question on the class's page. */
function aloneWithQuestion() {
  const said = part("asks", null, () => {
    const found = make("p", "asks");
    found.setAttribute("role", "status");
    return found;
  });
  setText(said, isAsking ? message("Your teacher asks a question: see the class page.") : "");
  return { above: [said], line: [] };
}

/** The count of each answer. */
function tallyOf(tally, shape) {
  const found = make("table");
  const most = Math.max(1, ...tally.counts);
  if (tally.legend) found.createCaption().textContent = tally.legend;
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
    // Shares are counted by verdict, which the labels name.
    const said = shape === "shares" ? "" : sign;
    row.append(name, length, make("td", "count", tally.counted[index]), make("td", "sign", said));
  });
  return found;
}
