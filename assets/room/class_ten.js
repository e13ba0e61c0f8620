/** Ten questions for each pupil on a sentence of their own: progress and results. */

let ten = null; // the state from the server; after a round, its results

ACTIVITIES.push({
  name: "ten",
  label: () => message("On their own"),
  offer: offerTen,
  going: goingTen,
  hears: {
    own: (found) => {
      ten = found;
      sendPoint();
    },
  },
  left: () => (ten = null),
});

function offerTen() {
  const label = message("Ask for nicknames, which you alone see");
  const tick = part("ten tick", room.code, () => tickOf("ten tick", label));
  const start = part("ten start", room.code, () => {
    const found = button(message("Start"), () => act("own/start", { asksNickname: tick.firstElementChild.checked }), "main");
    found.title = message("Ten questions per pupil; earlier answers are deleted");
    return found;
  });
  const again = part("ten tell", room.code, () => button(message("Show the results"), tellResults));
  return ten ? [tick, start, again] : [tick, start];
}

/** Whether the class sees the results of the last round. */
const isTellingTen = () => Boolean(ten && !ten.isOpen && lesson.isTold);

/** Whether a round has ended with answers that the class has not seen. */
const hasNewResults = () => Boolean(ten && !ten.isOpen && ten.questions.length && lesson.results !== ten.number);

function tellResults() {
  keep({ results: ten.number, isTold: true });
  sendPoint();
}

function stopTelling() {
  keep({ isTold: false });
  sendPoint();
}

/** The results, for everyone: counts, without names. */
function goingResults() {
  const close = part("ten close", null, () => button(message("Close"), stopTelling));
  const title = part("ten told", null, () => make("p", "question", message("Results of the ten questions")));
  const box = put(part("ten all", null, () => make("div", "ten")), [part("ten rows", ten.questions, rowsOfTen)]);
  return { all: [title, box], own: [], line: [close], hides: false, ends: "" };
}

function goingTen() {
  if (isTellingTen()) return goingResults();
  if (!ten?.isOpen) return null;
  const title = part("ten title", null, () => make("p", "question", message("Ten questions on your own sentence")));
  const count = () => {
    if (ten.begun > now.here) return message("{begun} started, {finished} finished", ten);
    return message("{begun} of {here} started, {finished} finished", { ...ten, here: now.here });
  };
  const finish = part("ten end", null, () => button(message("End the questions"), () => act("own/finish"), "main by-hand"));
  return { all: [title], own: [resultsOfTen()], line: [words("ten count", "here", count()), finish], hides: true };
}

/** The results of the last round, in the notes. */
const lastResults = () => (ten && !ten.isOpen && !lesson.isTold ? [resultsOfTen()] : []);

/** The results so far: by question, without names; by nickname on request. */
function resultsOfTen() {
  const label = message("Results of the ten questions: for you alone");
  const fold = part("ten results", room.code, () => foldOf("ten results", label, "ten"));
  const way = part("ten csv", room.code, () => csvOf("own/results.csv"));
  const places = ten.isOpen && ten.underWay.length ? [words("ten places", "here", placesOfTen())] : [];
  const rows = part("ten rows", ten.questions, rowsOfTen);
  return put(fold, [fold.firstElementChild, ...places, rows, ...(ten.asksNickname ? [nicknames()] : []), way]);
}

/** How many pupils are at each question, without names. */
function placesOfTen() {
  const counts = ten.underWay.map(([question, count]) => message("question {question}: {count}", { question, count }));
  return message("Under way at {counts}", { counts: counts.join(", ") });
}

/** How many answers to each question were right. */
function rowsOfTen() {
  const open = new Set([...bar.querySelectorAll(".ten td details[open], .ten th details[open]")].map((each) => each.dataset.title));
  const found = make("table");
  for (const each of ten.questions) {
    const row = found.insertRow();
    row.className = "right";
    const name = make("th", "", each.title);
    name.scope = "row";
    if (each.isHardest) name.append(make("em", "", message("most often wrong")));
    if (each.wrong) name.append(wrongOf(each, open.has(each.title)));
    const length = make("td", "length");
    const shade = make("i");
    shade.style.width = `${(100 * each.right) / each.answered}%`;
    const whole = make("div", "whole");
    whole.append(shade);
    length.append(whole);
    row.append(name, length, make("td", "count", message("{right} of {answered} right", each)));
  }
  return found;
}

/** The most frequent wrong answer, and the thinking behind it. */
function wrongOf({ title, wrong }, isOpen) {
  const fold = make("details");
  fold.dataset.title = title;
  fold.open = isOpen;
  const { answer, count } = wrong;
  const told = answer
    ? message("Commonest wrong answer: “{answer}” ({count})", { answer, count })
    : message("Commonest misconception ({count})", { count });
  fold.append(make("summary", "", told), make("p", "", wrong.why));
  return fold;
}

function nicknames() {
  const fold = part("ten names", ten.number, () => {
    const found = foldOf("ten names", message("Nicknames"));
    found.append(make("div"));
    found.ontoggle = () => findNicknames(found);
    return found;
  });
  const written = JSON.stringify(ten);
  if (fold.dataset.of !== written) {
    fold.dataset.of = written;
    void findNicknames(fold);
  }
  return fold;
}

/** Fetch the results by nickname when they are opened. */
async function findNicknames(fold) {
  if (!fold.open || !room) return;
  const answer = await fetch(new URL(`${room.code}/own/pupils`, ROOMS)).catch(() => null);
  if (!answer?.ok) return;
  const found = make("table");
  for (const each of (await answer.json()).pupils) {
    const row = found.insertRow();
    const name = make("th");
    name.scope = "row";
    name.append(make("bdi", "", each.nickname));
    row.append(name, make("td", "", message("{right} right, {answered} of {questions} answered", each)));
  }
  fold.lastElementChild.replaceChildren(found);
}
