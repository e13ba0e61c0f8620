/** Lesson plans of the teacher's own: views collected while preparing, with notes and questions; kept in this browser. */

/**
 * @typedef {object} Stage a stage of a plan, as in a file or a link
 * @property {string} title
 * @property {string} address of its view: ./page?link
 * @property {number} minutes
 * @property {string} notes plain text
 * @property {{kind: string, subject: string, own?: Question} | null} act
 * @property {number | null} [seconds] the time limit of its question
 * @property {Question} [draft] a typed question while the stage has another activity; in this browser only
 *
 * @typedef {{question: string, answers: string[], right: number | null, isTyped: boolean}} Question
 */

const OWN_PLANS = "attention.plans";
const NEW_PLAN = "new";
// A link to a plan has the plan after its #, which no server sees.
const PLAN_IN_LINK = "#plan=";
const MOST_STAGES = 60;
const MOST_LETTERS = 4000;

let edition = 0; // raised when the fields of a plan are out of date

/** All plans: the ready ones, and the teacher's own. */
const allPlans = () => [...plans, ...ownPlans.map((plan) => ({ ...plan, label: plan.title, isOwn: true }))];

function keptPlans() {
  try {
    const found = JSON.parse(localStorage.getItem(OWN_PLANS) ?? "[]");
    return Array.isArray(found) ? found.filter((each) => typeof each?.name === "string" && isPlan(each)) : [];
  } catch {
    return [];
  }
}

function keepPlans() {
  try {
    localStorage.setItem(OWN_PLANS, JSON.stringify(ownPlans));
  } catch {
    told = message("This browser can't keep the plan. Save it as a file.");
  }
  draw();
}

/** Add a plan, and return its name; an existing plan is not changed. */
function addPlan(title, parts) {
  const same = ownPlans.find((plan) => writtenPlan(plan) === writtenPlan({ title, parts }));
  if (same && parts.length) return same.name;
  const plan = { name: `own-${Date.now()}`, title, parts };
  ownPlans = [...ownPlans, plan];
  keepPlans();
  return plan.name;
}

/** Change the plan in the notes; its fields are built again unless the change was typed into one. */
function editPlan(change, isTyped = false) {
  ownPlans = ownPlans.map((plan) => (plan.name === lesson.plan ? { ...plan, ...change(plan) } : plan));
  if (!isTyped) edition += 1;
  keepPlans();
}

function editStage(change, isTyped = false) {
  editPlan(({ parts }) => ({ parts: parts.map((stage, at) => (at === lesson.at ? { ...stage, ...change } : stage)) }), isTyped);
}

// ------------------------------------------------------------------------------------- files and links

const isText = (value, most = MOST_LETTERS) => typeof value === "string" && value.length <= most;
const isQuestion = (own) =>
  own === undefined || (isText(own?.question) && Array.isArray(own.answers) && own.answers.every((each) => isText(each)) && (own.right === null || Number.isInteger(own.right)) && typeof own.isTyped === "boolean");
const isAct = (found) => found === null || (Object.hasOwn(ACTS, found?.kind) && isText(found.subject) && isQuestion(found.own));
const isStage = (stage) =>
  isText(stage?.title) && isText(stage.notes) && isText(stage.address, 2 * MOST_LETTERS) && /^\.\/\w*\?/.test(stage.address) && Number.isFinite(stage.minutes) && stage.minutes >= 0 && isAct(stage.act) && isQuestion(stage.draft) && [undefined, null, ...TIME_LIMITS].includes(stage.seconds);
const isPlan = (plan) => isText(plan?.title) && Array.isArray(plan.parts) && plan.parts.length <= MOST_STAGES && plan.parts.every(isStage);

let ownPlans = keptPlans();

/** Import a plan from a file or a link; report anything else. */
function takePlan(written) {
  let plan = null;
  try {
    plan = JSON.parse(written);
  } catch {
    // Not a plan; the error follows.
  }
  if (!isPlan(plan)) {
    told = message("This is not a lesson plan. Choose a file that was saved here.");
    return draw();
  }
  const name = addPlan(plan.title, plan.parts);
  if (room) return begin(name);
  told = message("The plan “{title}” is kept in this browser. Open a room to use it: it is under Notes.", { title: plan.title });
  return draw();
}

const writtenPlan = ({ title, parts: stages }) => JSON.stringify({ title, parts: stages.map(({ draft, ...stage }) => stage) });

/** Import the plan of a link, once. */
function takePlanOfLink() {
  if (!location.hash.startsWith(PLAN_IN_LINK)) return;
  const code = location.hash.slice(PLAN_IN_LINK.length).replaceAll("-", "+").replaceAll("_", "/");
  history.replaceState(history.state, "", location.pathname + location.search);
  let written = "";
  try {
    written = new TextDecoder().decode(Uint8Array.from(atob(code), (each) => each.charCodeAt(0)));
  } catch {
    // Not a plan; the error is shown.
  }
  takePlan(written);
}

function linkTo(plan) {
  const bytes = new TextEncoder().encode(writtenPlan(plan));
  const code = btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join(""));
  const found = new URL("./classroom", document.baseURI);
  found.hash = PLAN_IN_LINK + code.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return found.href;
}

function savePlan(plan) {
  const way = make("a");
  way.href = URL.createObjectURL(new Blob([writtenPlan(plan)], { type: "application/json" }));
  way.download = `${plan.title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "plan"}.json`;
  way.click();
  URL.revokeObjectURL(way.href);
}

function openPlan() {
  const field = make("input");
  field.type = "file";
  field.accept = ".json,application/json";
  field.onchange = async () => takePlan(await field.files[0].text());
  field.click();
}

// ------------------------------------------------------------------------------------- the editor

/** The actions for the plan in the notes. */
function waysOfPlan(plan) {
  return [part("ways of plan", [plan?.name, edition], () => {
    const line = make("div", "line");
    if (plan?.isOwn) {
      line.append(
        button(message("Add this view"), addView),
        button(message("Save as a file"), () => savePlan(planNow()), "quiet"),
        button(message("Copy the link"), copyLink, "quiet"),
        button(message("Delete the plan"), deletePlan, "quiet"),
      );
    } else if (plan) line.append(button(message("Copy to edit"), () => begin(addPlan(message("{title}, mine", { title: plan.label }), ownStages(plan))), "quiet"));
    line.append(button(message("Open a file"), openPlan, "quiet"));
    return line;
  })];
}

/** The stages of a ready plan, to edit. */
const ownStages = (plan) =>
  plan.parts.map(({ title, address, minutes, act: acted, words: html }) => {
    const text = make("div");
    text.innerHTML = html; // the project's own text
    text.querySelector("h3")?.remove();
    const notes = [...text.children].map((each) => each.textContent.trim()).join("\n\n");
    return { title, address, minutes, act: acted, notes };
  });

async function copyLink({ target }) {
  if (await copyText(linkTo(planNow()))) setText(target, message("Copied ✓"));
}

/** The address of the view on this screen, as a stage has it. */
function addressNow() {
  const { page, link } = here();
  return `./${page}?${link}`;
}

function addView() {
  const title = document.querySelector(":is(h1, h2):not([hidden])")?.textContent.replace(/^\d+\. /, "") || document.title;
  const stage = { title, address: addressNow(), minutes: 5, notes: "", act: null };
  const { parts: stages } = planNow();
  if (stages.length === MOST_STAGES) {
    told = message("A plan has room for {n} stages.", { n: MOST_STAGES });
    return draw();
  }
  const at = stages.length ? lesson.at + 1 : 0;
  lesson = { ...lesson, at };
  return editPlan(() => ({ parts: stages.toSpliced(at, 0, stage) }));
}

function deletePlan() {
  if (!confirm(message("Delete this plan from this browser?"))) return;
  ownPlans = ownPlans.filter(({ name }) => name !== lesson.plan);
  begin("");
  keepPlans();
}

function removeStage() {
  const { parts: stages } = planNow();
  const { at } = lesson;
  lesson = { ...lesson, at: Math.max(0, Math.min(at, stages.length - 2)) };
  editPlan(() => ({ parts: stages.toSpliced(at, 1) }));
}

function moveStage(by) {
  const { parts: stages } = planNow();
  const { at } = lesson;
  if (!stages[at + by]) return;
  lesson = { ...lesson, at: at + by };
  editPlan(() => ({ parts: stages.toSpliced(at, 1).toSpliced(at + by, 0, stages[at]) }));
}

/** The fields of the plan and of its current stage. */
function editorOf(plan) {
  return part("editor", [plan.name, lesson.at, edition], () => {
    const found = make("div", "editor");
    const stage = plan.parts[lesson.at];
    found.append(labelled(message("Plan"), typedInto("input", plan.title, (title) => editPlan(() => ({ title }), true))));
    if (!stage) {
      found.append(make("p", "", message("Go to a view, then press “Add this view”.")));
      return found;
    }
    const minutes = typedInto("input", stage.minutes, (value) => editStage({ minutes: Number(value) || 0 }, true));
    Object.assign(minutes, { type: "number", min: 0, max: 600 });
    found.append(
      labelled(message("Stage"), typedInto("input", stage.title, (title) => editStage({ title }, true))),
      labelled(message("Minutes"), minutes),
      labelled(message("Notes"), typedInto("textarea", stage.notes, (notes) => editStage({ notes }, true))),
      labelled(message("Activity"), choiceOfAct(stage)),
      ...(stage.act?.kind === "ask" ? [labelled(message("Time limit"), limitOfStage(stage))] : []),
      ...(stage.act?.own ? questionFields(stage.act) : []),
      stageButtons(),
    );
    return found;
  });
}

function limitOfStage({ seconds = null }) {
  const found = choiceOfLimit(seconds);
  found.dataset.name = "limit of stage";
  found.onchange = () => editStage({ seconds: limitOf(found) }, true);
  return found;
}

function stageButtons() {
  const line = make("div", "line");
  line.append(
    button(message("Earlier"), () => moveStage(-1), "quiet"),
    button(message("Later"), () => moveStage(1), "quiet"),
    button(message("Use the view on this screen"), () => editStage({ address: addressNow() }), "quiet"),
    button(message("Remove"), removeStage, "quiet"),
  );
  return line;
}

function labelled(name, field) {
  const found = make("label", "", name);
  found.append(field);
  return found;
}

function typedInto(kind, value, take) {
  const field = make(kind);
  field.value = value;
  field.maxLength = MOST_LETTERS;
  field.oninput = () => take(field.value);
  // The app's own keys are for the page.
  field.onkeydown = (event) => event.stopPropagation();
  return field;
}

/** The class's activity at a stage; a task of a copied plan can be kept. */
function choiceOfAct(stage) {
  const own = { kind: "ask", subject: "", own: stage.draft ?? { question: "", answers: [], right: null, isTyped: false } };
  const acts = [[null, message("none")], [{ kind: "ask", subject: "" }, message("the question about the view")]];
  acts.push([stage.act?.own ? stage.act : own, message("a question of my own")], [{ kind: "own", subject: "" }, message("ten questions each")]);
  const written = JSON.stringify(stage.act);
  if (acts.every(([each]) => JSON.stringify(each) !== written)) acts.push([stage.act, ACTS[stage.act.kind](stage.act).label]);
  const found = make("select");
  found.append(...acts.map(([each, label]) => new Option(label, JSON.stringify(each))));
  found.value = written;
  found.onchange = () => {
    const chosen = JSON.parse(found.value);
    const { act: left, draft } = planNow().parts[lesson.at];
    editStage({ act: chosen, draft: left?.own ?? draft, address: closedFor(stage.address, chosen) });
  };
  return found;
}

/** The address of a view that hides the answer to its own question; without that question, the open view. */
function closedFor(address, chosen) {
  const [page, link] = address.split("?");
  const query = new URLSearchParams(link);
  query.delete("guess");
  if (chosen?.kind === "ask" && !chosen.own) query.set("guess", "1");
  return `${page}?${query}`;
}

/** A question of the teacher's own: its text, and one answer per line, the right one after a star; typed answers need none. */
function questionFields(found) {
  const { question, answers, right, isTyped } = found.own;
  const set = (change, isBeingTyped = true) => {
    const { act: kept } = planNow().parts[lesson.at];
    editStage({ act: { ...kept, own: { ...kept.own, ...change } } }, isBeingTyped);
  };
  const lines = answers.map((answer, index) => (index === right ? `* ${answer}` : answer)).join("\n");
  const take = (text) => {
    const given = text.split("\n").map((line) => line.trim()).filter(Boolean);
    const starred = given.findIndex((line) => line.startsWith("*"));
    set({ answers: given.map((line) => line.replace(/^\*\s*/, "")), right: starred < 0 ? null : starred });
  };
  return [
    Object.assign(labelled(message("Question"), typedInto("input", question, (text) => set({ question: text }))), { className: "wide" }),
    labelled(isTyped ? message("Right answers, one per line") : message("Answers, one per line; * before the right one"), typedInto("textarea", lines, take)),
    isTypedBox(isTyped, set),
  ];
}

function isTypedBox(isTyped, set) {
  const label = message("Pupils type a number or a few words");
  const found = tickOf("typed", label, (isOn) => set({ isTyped: isOn, right: null }, false));
  found.firstElementChild.checked = isTyped;
  return found;
}

begun.then(takePlanOfLink);
