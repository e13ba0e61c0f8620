/** Lesson plans: what to say at each view, the way to the next one, and the clock. */

let plans = []; // with what to say

async function findPlans(code) {
  const answer = await fetch(new URL(`${code}/plans`, ROOMS)).catch(() => null);
  if (!answer?.ok) return;
  plans = await answer.json();
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

/** The notes: the plan, the clock, and the current part. */
function notes() {
  const plan = plans.find(({ name }) => name === lesson.plan);
  const box = part("notes", room.code, () => {
    const found = make("section", "notes");
    found.setAttribute("aria-label", message("Notes"));
    return found;
  });
  const head = part("notes head", room.code, () => make("div", "line"));
  put(head, [choiceOfPlan(), ...(plan ? clockOf(plan) : [])]);
  return put(box, [head, ...(plan ? [part("said", [plan.name, lesson.at], () => saidOf(plan))] : [])]);
}

function choiceOfPlan() {
  const choice = part("plan", plans.map(({ name }) => name), () => {
    const found = make("select");
    found.setAttribute("aria-label", message("Lesson plan"));
    found.dataset.name = "plan";
    const options = [["", message("Choose a lesson plan")], ...plans.map(({ name, label }) => [name, label])];
    found.append(...options.map(([value, label]) => new Option(label, value)));
    found.onchange = () => keep({ plan: found.value, at: 0, since: Date.now() });
    return found;
  });
  if (choice.value !== lesson.plan) choice.value = lesson.plan;
  return choice;
}

function clockOf(plan) {
  const whole = plan.parts.reduce((sum, { minutes }) => sum + minutes, 0);
  const passed = Math.floor((Date.now() - lesson.since) / 60_000);
  const { minutes } = plan.parts[lesson.at];
  const go = (at) => () => {
    keep({ at });
    location.assign(new URL(plan.parts[at].address, document.baseURI));
  };
  const way = (name, label, at, look) => part(name, [plan.name, at], () => button(label, go(at), look));
  const ways = [];
  if (lesson.at > 0) ways.push(way("to before", message("Back"), lesson.at - 1));
  ways.push(way("again", message("Show this view"), lesson.at));
  if (lesson.at + 1 < plan.parts.length) ways.push(way("on", message("Next view"), lesson.at + 1, "main"));
  return [
    words("clock", "clock", message("{passed} of {whole} min", { passed, whole })),
    words("place", "here", message("{place} of {n}, {minutes} min", { place: lesson.at + 1, n: plan.parts.length, minutes })),
    ...ways,
  ];
}

function saidOf(plan) {
  const found = make("div", "words");
  // Focusable, so that the keyboard can scroll it.
  found.tabIndex = 0;
  found.innerHTML = plan.parts[lesson.at].words; // the project's own text
  return found;
}

// Update the clock.
setInterval(() => {
  if (room && lesson.isOpen && lesson.plan) draw();
}, 15_000);
