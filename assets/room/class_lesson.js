/** Lesson plans: the notes for each stage, one button through all of them, and the clock. */

let plans = []; // with the script

async function findPlans(code) {
  const answer = await fetch(new URL(`${code}/plans`, ROOMS)).catch(() => null);
  if (!answer?.ok) return;
  plans = await answer.json();
  takePlanOfPage();
  draw();
}

function notesButton() {
  const turn = () => {
    keep({ isOpen: !lesson.isOpen });
    if (lesson.isOpen) see(parts.get("notes").element);
  };
  const found = part("notes button", null, () => button(message("Notes"), turn, "quiet"));
  setAttribute(found, "aria-expanded", String(lesson.isOpen));
  return found;
}

/** The chosen plan, if any. */
const planNow = () => allPlans().find(({ name }) => name === lesson.plan);

/** The notes: the plan, the clock, and the current part. */
function notes() {
  const plan = planNow();
  const box = part("notes", room.code, () => {
    const found = make("section", "notes");
    found.setAttribute("aria-label", message("Notes"));
    return found;
  });
  const head = part("notes head", room.code, () => make("div", "line"));
  put(head, [choiceOfPlan(), ...(plan ? clockOf(plan) : []), ...waysOfPlan(plan)]);
  const results = [...askedSoFar(), ...tasksSoFar(), ...lastResults()];
  if (!plan) return put(box, [head, ...results]);
  const stages = part("stages", [plan.name, plan.parts.map(({ title, minutes }) => [title, minutes])], () => stagesOf(plan));
  [...stages.querySelectorAll("button")].forEach((each, at) => {
    if (at === lesson.at && !each.hasAttribute("aria-current")) queueMicrotask(() => see(each));
    setAttribute(each, "aria-current", at === lesson.at ? "step" : null);
  });
  const beside = part("stage beside", plan.name, () => make("div", "beside"));
  const said = plan.isOwn ? editorOf(plan) : part("said", [plan.name, lesson.at], () => saidOf(plan));
  put(beside, [stages, said]);
  return put(box, [head, beside, ...results]);
}

/** Begin a plan; the class sees nothing of it yet. */
function begin(plan) {
  keep({ plan, at: 0, shown: -1, acted: -1, since: Date.now() });
}

/** Take over the plan chosen on the page *A class*. */
function takePlanOfPage() {
  const { page, link } = here();
  const hasBegun = lesson.plan && (lesson.shown >= 0 || lesson.at > 0 || planNow()?.isOwn);
  if (!room || page !== "classroom" || !plans.length || hasBegun) return;
  const plan = new URLSearchParams(link).get("plan") ?? plans[0].name;
  if (plan !== lesson.plan) begin(plan);
}

function choiceOfPlan() {
  const all = allPlans().map(({ name, label }) => [name, label]);
  const choice = part("plan", all, () => {
    const options = [["", message("Choose a lesson plan")], ...all, [NEW_PLAN, message("New plan")]];
    const found = choiceOf("plan", message("Lesson plan"), options);
    found.onchange = () => begin(found.value === NEW_PLAN ? addPlan(message("My plan"), []) : found.value);
    return found;
  });
  if (choice.value !== lesson.plan) choice.value = lesson.plan;
  return choice;
}

function clockOf(plan) {
  const whole = plan.parts.reduce((sum, { minutes }) => sum + minutes, 0);
  const passed = Math.floor((Date.now() - lesson.since) / 60_000);
  return [words("clock", "clock", message("{passed} of {whole} min", { passed, whole }))];
}

/** All stages; pressing one shows its notes, without moving the class. */
function stagesOf(plan) {
  const list = make("ol", "stages");
  plan.parts.forEach(({ title, minutes }, at) => {
    const item = make("li");
    const name = `${at + 1}. ${title}`;
    const found = button(name, () => keep({ at }), "quiet");
    found.append(make("span", "minutes", message("{minutes} min", { minutes })));
    item.append(found);
    list.append(item);
  });
  return list;
}

function saidOf(plan) {
  const found = htmlOf(plan.parts[lesson.at].words);
  // Focusable, so that the keyboard can scroll it.
  found.tabIndex = 0;
  return found;
}

// ------------------------------------------------------------------- one button through the whole plan

/** The button and the request for each kind of activity. */
const ACTS = {
  ask: ({ subject, own }, seconds) => ({ label: message("Ask the class"), path: "ask", body: { ...(own ? { own } : subject ? { ready: subject } : {}), seconds } }),
  find: ({ subject }) => ({ label: message("Set the task"), path: "task", body: { name: subject } }),
  own: () => ({ label: message("Start the ten questions"), path: "own/start", body: {} }),
};

/** The request that ends each kind, once its result is shown. */
const ENDS = { ask: "withdraw", find: "end-task", own: "own/finish" };

/** Whether the stage on the class's screens waits for its activity. */
const waits = (stage) => stage?.act && lesson.shown === lesson.at && lesson.acted !== lesson.at;

/** The next action of the plan, with its label; null outside a plan, and during an activity. */
function nextOfPlan(going) {
  const plan = planNow();
  if (!plan || (going && going.ends === undefined)) return null;
  const stage = plan.parts[lesson.at];
  if (!stage) return null;
  // Where the answers cover the page, its picture comes first.
  if (going?.turn && isShared() && !going.aside) return { label: message("See the picture"), press: going.turn };
  const after = (press) => async () => {
    if (going?.ends && !(await act(going.ends)).isDone) return;
    stopTelling();
    press();
  };
  if (stage.act?.kind === "own" && hasNewResults()) return { label: message("Show the results"), press: tellResults };
  if (lesson.shown !== lesson.at) return { label: message("Show: {title}", stage), press: after(() => showStage(plan, lesson.at)) };
  // A task set by hand does not stand for the stage's question, nor a question asked by hand for its task.
  if (waits(stage) && going?.ends !== ENDS[stage.act.kind]) {
    const { label, press } = actOf(stage);
    return { label, press: after(press) };
  }
  const following = plan.parts[lesson.at + 1];
  if (!following) return { label: message("End the class"), press: end };
  return { label: message("Next: {title}", following), press: after(() => showStage(plan, lesson.at + 1)) };
}

/** The request for a stage's activity; a question without a time limit takes the one chosen in the bar. */
function actOf({ act: found, seconds = null }) {
  const { label, path, body } = ACTS[found.kind](found, seconds ?? limitInBar());
  const press = async () => {
    const { isDone } = await act(path, body);
    if (isDone) keep({ acted: lesson.at });
  };
  return { label, press };
}

/** A remote takes the next step, in the plan or in the activity, but ends neither the class nor the ten questions. */
function advance() {
  const next = nextOfPlan(goingNow());
  if (!next) bar.querySelector(".last button.main:not(.by-hand)")?.click();
  else if (next.press !== end) next.press();
}

function showStage(plan, at) {
  keep({ at, shown: at, acted: lesson.acted === at ? at : -1 });
  const view = new URL(plan.parts[at].address, document.baseURI);
  if (view.pathname.endsWith("/step_by_step")) view.searchParams.set("plain", "1");
  location.assign(view);
}

/** The plan's button, and the one that skips an activity. */
function planButtons(going) {
  const next = nextOfPlan(going);
  if (!next) return [];
  const press = part("plan next", null, () => button("", () => nextOfPlan(goingNow())?.press(), "main plan"));
  setText(press, next.label);
  press.dataset.name = "plan next";
  if (going || !waits(planNow().parts[lesson.at])) return [press];
  return [press, part("plan skip", null, () => button(message("Skip"), skip, "quiet"))];
}

/** Skip the stage's activity, and open a view that was closed for it. */
function skip() {
  keep({ acted: lesson.at });
  const { link } = here();
  const opened = new URLSearchParams(link);
  if (!opened.has("guess")) return;
  opened.delete("guess");
  openHere(opened.toString());
}

// Update the clock.
setInterval(() => {
  if (room && lesson.isOpen && lesson.plan) draw();
}, 15_000);
