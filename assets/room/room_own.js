/**
 * Ten questions on one's own sentence. The server makes, marks and stores them (attention.classroom.own_questions), and
 * sends the right answer after each.
 */

let round = null; // the open round
let paper = null; // the pupil's questions and answers
let shown = 0; // the index of the visible question; for the results, the number of questions
let entry = null; // the form, which keeps its text
let progress = ""; // on a wall: how many have begun and finished
let results = null; // on a wall: the counts of a round that has ended, while the teacher shows them
let over = null; // the questions of a round that has ended, until the results have been seen

/** Handle the beginning or end of a round. */
function invite(found) {
  if (round?.number !== found?.number) {
    over = found ? null : (paper ?? over);
    paper = entry = null;
    shown = 0;
  } else if (round) return;
  round = found;
  drawOwn();
}

/** Take the questions from the server; visible ones stay. */
function takePaper(found) {
  if (!found || found.number !== round?.number || JSON.stringify(found) === JSON.stringify(paper)) return;
  paper = found;
  const next = paper.questions.findIndex((each) => each.given === undefined);
  shown = next < 0 ? paper.questions.length : next;
  drawOwn();
}

function showProgress(own) {
  progress = own ? message("{begun} started, {finished} finished", own) : "";
  drawOwn();
}

function showResults(found) {
  results = found;
  drawOwn();
}

function drawOwn() {
  const place = part("own");
  place.hidden = !round && !over && !results;
  document.body.classList.toggle("own", Boolean(round || results));
  if (round || results) stopInviting();
  if (results) place.replaceChildren(make("h2", "", message("Results of the ten questions")), tableOf(results));
  else if (!round && over) place.replaceChildren(...ended());
  else if (!round) place.replaceChildren();
  else if (given.isScreen) place.replaceChildren(make("h2", "", message("Ten questions on your own sentence")), make("p", "", message("They are on your own screens.")), make("p", "", progress));
  else if (!paper) place.replaceChildren((entry ??= makeEntry()));
  else if (shown < paper.questions.length) place.replaceChildren(ways(), ...questionOf(paper.questions[shown]));
  else place.replaceChildren(ways(), ...result());
  hold();
}

/** How many answers to each question were right, and the most frequent wrong answer to the hardest. */
function tableOf(questions) {
  const table = make("table");
  for (const { title, answered, right, wrong, isHardest } of questions) {
    const row = table.insertRow();
    const name = make("th", "", title);
    name.scope = "row";
    if (isHardest) name.append(make("em", "", message("most often wrong")));
    if (isHardest && wrong?.answer) name.append(make("p", "", message("Commonest wrong answer: “{answer}” ({count})", wrong)));
    row.append(name, make("td", "", message("{right} of {answered} right", { right, answered })));
  }
  return table;
}

/** Go to another question or to the results. */
function go(place) {
  shown = place;
  drawOwn();
  const heading = part("own").querySelector("h2");
  heading.focus({ preventScroll: true });
  part("own").scrollIntoView({ block: "start" });
}

// ------------------------------------------------------------------------------------- the sentence

function makeEntry() {
  const form = make("form", "entry");
  const told = round.asksNickname
    ? message("Only your teacher sees your nickname and which answers were right.")
    : message("Your teacher sees how many answers were right, but no names.");
  const lead = message("Type a sentence. You get ten questions about it, each marked at once.");
  const text = field(message("Your sentence"), round.longest);
  text.input.placeholder = round.examples[0];
  const examples = make("p", "examples", message("or take one of these:"));
  for (const example of round.examples) {
    const button = pressed("", () => (text.input.value = example));
    button.append(make("bdi", "", example));
    examples.append(button);
  }
  const nickname = round.asksNickname ? field(message("A nickname"), round.longestNickname) : null;
  const send = make("button", "main", message("Begin"));
  const said = make("p", "said");
  said.setAttribute("role", "status");
  form.append(make("h2", "", message("Ten questions on your own sentence")), make("p", "", lead), text.label, examples);
  form.append(...(nickname ? [nickname.label] : []), send, said, make("p", "quiet", told));
  const { number } = round;
  const begin = async () => {
    send.disabled = true;
    setText(said, message("The model reads your sentence …"));
    const found = await post("own/begin", { number, text: text.input.value, nickname: nickname?.input.value ?? "" });
    if (round?.number !== number) return;
    if (found.isAway) {
      setText(said, found.told);
      setTimeout(begin, 1000);
      return;
    }
    send.disabled = false;
    setText(said, found.isDone ? "" : found.told);
    if (!found.isDone) return;
    takePaper(read(found));
    go(shown);
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    begin();
  };
  return form;
}

function pressed(label, press, look = "") {
  const found = make("button", look, label);
  found.type = "button";
  found.onclick = press;
  return found;
}

function field(name, longest) {
  const label = make("label", "", name);
  const input = make("input");
  Object.assign(input, { required: true, maxLength: longest, autocomplete: "off", dir: "auto" });
  label.append(input);
  return { label, input };
}

/** Return the server's answer, without the fields that post adds. */
function read({ isDone, ...found }) {
  return found;
}

// ------------------------------------------------------------------------------------- one question

/** The links to the questions, marked right or wrong. */
function ways() {
  const list = make("nav", "ways");
  list.setAttribute("aria-label", message("Questions"));
  const next = paper.questions.findIndex((each) => each.given === undefined);
  paper.questions.forEach((each, index) => {
    const button = pressed(String(index + 1), () => go(index), look(each));
    const sign = each.given === undefined ? message("not answered") : isRight(each) ? message("right") : message("not right");
    button.setAttribute("aria-label", message("Question {number}: {sign}", { number: index + 1, sign }));
    if (index === shown) button.setAttribute("aria-current", "step");
    button.disabled = each.given === undefined && index !== next;
    list.append(button);
  });
  if (next < 0) {
    const button = pressed(message("Result"), () => go(paper.questions.length), "end");
    if (shown === paper.questions.length) button.setAttribute("aria-current", "step");
    list.append(button);
  }
  return list;
}

function isRight(question) {
  return question.right.includes(question.given);
}

function look(question) {
  return question.given === undefined ? "" : isRight(question) ? "right" : "wrong";
}

function questionOf(asked) {
  const isFirst = paper.questions.every((each) => each.given === undefined);
  const heading = makeHeading(message("Question {place} of {n}", { place: shown + 1, n: paper.questions.length }));
  const words = proseOf(asked.question, "prose asked");
  const parts = [heading, sentence(), words, asked.given === undefined ? answers(asked, (index) => choose(index)) : answered(asked)];
  if (asked.given !== undefined) parts.push(...verdict(asked));
  else parts.push(status());
  if (isFirst) parts.push(...notices(), another());
  return parts;
}

function makeHeading(text) {
  const heading = make("h2", "", text);
  heading.tabIndex = -1;
  return heading;
}

function sentence() {
  const place = make("p", "sentence");
  place.append(make("bdi", "", paper.sentence), make("span", "about", paper.about));
  return place;
}

function status() {
  const said = make("p", "said");
  said.setAttribute("role", "status");
  return said;
}

function notices() {
  const found = [...paper.notices];
  const n = paper.questions.length;
  if (n < 10) found.push(message("Questions that fit this sentence: {n}. A longer one allows ten.", { n }));
  return found.map((text) => make("p", "quiet", text));
}

/** Before the first answer, the pupil may choose another sentence. */
function another() {
  const press = () => {
    paper = null;
    drawOwn();
    part("own").querySelector("input").focus();
  };
  return pressed(message("Another sentence"), press, "quiet");
}

/** Send an answer; retry while the server is away. */
async function choose(index, place = shown, number = round.number) {
  for (const button of part("own").querySelectorAll(".answers button")) button.disabled = true;
  const marked = await post("own/answer", { number, place, given: index });
  // Retry, even after the display has changed, unless another round has begun.
  if (marked.isAway && (!round || round.number === number)) setTimeout(choose, 1000, index, place, number);
  if (round?.number !== number || shown !== place || !paper) return;
  if (!marked.isDone) {
    setText(part("own").querySelector(".said"), marked.told);
    if (!marked.isAway) for (const button of part("own").querySelectorAll(".answers button")) button.disabled = false;
    return;
  }
  const { given: counts, right, reason, why, way } = marked;
  paper.questions[place] = { ...paper.questions[place], given: counts, right, reason, why, way };
  drawOwn();
  const said = part("own").querySelector(".verdict");
  setText(said, verdictOf(paper.questions[place]));
  part("own").querySelector("button.main").focus({ preventScroll: true });
  part("own").querySelector("button.main").scrollIntoView({ block: "nearest" });
}

function answered(asked) {
  const list = make("ul", "marked");
  list.setAttribute("aria-label", asked.label);
  asked.answers.forEach((answer, index) => {
    const signs = [asked.right.includes(index) ? message("right") : "", index === asked.given ? message("your answer") : ""];
    const item = make("li", asked.right.includes(index) ? "right" : index === asked.given ? "wrong" : "");
    item.append(make("bdi", "", visible(answer)), make("span", "sign", signs.filter(Boolean).join(" · ")));
    list.append(item);
  });
  return list;
}

function verdictOf(asked) {
  return isRight(asked) ? message("Right.") : message("Not this time.");
}

/** The verdict on an answer, the reason, and the way on. */
function verdict(asked) {
  const said = make("p", "verdict", verdictOf(asked));
  said.setAttribute("role", "status");
  const reason = proseOf(asked.reason + asked.why);
  const next = paper.questions.findIndex((each) => each.given === undefined);
  const label = next < 0 ? message("To the result") : message("Next question");
  return [said, reason, pressed(label, () => go(next < 0 ? paper.questions.length : next), "main")];
}

// ------------------------------------------------------------------------------------- results

/** The results of a round that the teacher has ended, above the class's view. */
function ended() {
  const answered = over.questions.filter((each) => each.given !== undefined);
  const right = answered.filter(isRight).length;
  const told = message("Your teacher ended the questions. You got {right} of {n} right.", { n: answered.length, right });
  const close = pressed(message("Close"), () => {
    over = null;
    drawOwn();
  });
  return [make("h2", "", message("The questions are over")), make("p", "", told), waysTo(answered.filter((each) => !isRight(each))), close];
}

/** The links to views that explain the wrong answers. */
function waysTo(questions) {
  const list = make("ul", "again");
  for (const each of questions) {
    const way = make("a", "", `${each.title} ▸`);
    way.href = each.way;
    const item = make("li", look(each));
    item.append(way);
    list.append(item);
  }
  return list;
}

function result() {
  const right = paper.questions.filter(isRight).length;
  const heading = makeHeading(message("{right} of {n} right", { right, n: paper.questions.length }));
  const parts = [heading, sentence()];
  const wrong = paper.questions.filter((each) => !isRight(each));
  if (wrong.length) parts.push(make("h3", "", message("Review these")), lookAt(wrong));
  if (right) parts.push(make("h3", "", message("These were right")), lookAt(paper.questions.filter(isRight)));
  return parts;
}

/** For each question, links to its explanation, and to the view in the app. */
function lookAt(questions) {
  const list = make("ul", "again");
  for (const each of questions) {
    const item = make("li", look(each));
    const why = pressed(each.title, () => go(paper.questions.indexOf(each)));
    const way = make("a", "", message("See it ▸"));
    way.href = each.way;
    way.setAttribute("aria-label", message("See it ▸ {title}", { title: each.title }));
    item.append(why, way);
    list.append(item);
  }
  return list;
}
