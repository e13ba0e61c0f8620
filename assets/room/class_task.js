/** Tasks: the teacher sets a search, and pupils hand in views of the app. */

// In ms: how often a pupil who explores alone looks for a task or a question.
const LOOK_FOR_TASK = 5000;

let tasks = []; // the available tasks
let task = null; // the current one
let isTaskAside = false; // whether it was moved aside, to see the picture
let handed = null; // the best link handed in here
let verdict = null; // the verdict on the last one, and its view
let isJudging = false;
let isKnown = false; // whether the class has said what it does

ACTIVITIES.push({
  name: "find",
  label: () => message("Find it"),
  offer: offerTask,
  going: goingTask,
  hears: {
    task: (found) => {
      const isOther = found?.number !== task?.number;
      if (isOther || found?.told) isTaskAside = false;
      if (isOther && task) rememberTask(task, task.told ?? now.finds);
      // With the list, the class sees the winning view or, without one, a solution.
      if (task && !isOther && !task.told && found.told?.best[0]?.isSolved) location.assign(found.told.best[0].address);
      task = found;
    },
  },
  moved: findTasks,
  left: () => {
    task = null;
    tasks = [];
  },
  follows: lookForTask,
  alone: aloneWithTask,
});

// ------------------------------------------------------------------------------------- the teacher

/** Fetch the available tasks once. */
async function findTasks() {
  if (!room || tasks.length) return;
  const { code } = room;
  const answer = await fetch(new URL(`${code}/tasks`, ROOMS)).catch(() => null);
  if (!answer?.ok || room?.code !== code) return;
  ({ tasks } = await answer.json());
  draw();
}

/** Keep the result of a task that has ended until the class ends. */
function rememberTask({ number, title }, result) {
  if (!result || lesson.found.some((each) => each.number === number)) return;
  const { handed: n, solved, best } = result;
  keep({ found: [...lesson.found, { number, title, n, solved, best: best[0] }] });
}

/** The results of all tasks that have ended, in the notes. */
function tasksSoFar() {
  return lesson.found.map((each) => part(`found ${each.number}`, each, () => {
    const line = make("div", "line found", message("Find it: {title}", each));
    line.append(" · ", message("{handed} handed in, {solved} found it", { handed: each.n, solved: each.solved }));
    if (each.best) line.append(wayToBest(each.best));
    return line;
  }));
}

function wayToBest({ address, headline }) {
  const way = make("a", "", headline);
  way.href = address;
  return way;
}

function offerTask() {
  const options = tasks.map(({ name, title }) => [name, title]);
  const choice = part("task choice", tasks, () => choiceOf("task choice", message("Task"), options));
  const set = part("set task", tasks, () => {
    const found = button(message("Set this task"), () => setTask(choice.value), "main");
    found.disabled = !tasks.length;
    return found;
  });
  return [choice, set];
}

/** Set a task by hand: it replaces the view of a plan's stage. */
async function setTask(name) {
  const { isDone } = await act("task", { name });
  if (isDone) keep({ shown: -1 });
}

function goingTask() {
  if (!task) return null;
  const told = task.told ?? now.finds ?? { handed: 0, solved: 0, best: [] };
  const { handed: n, solved } = told;
  const line = [words("handed in", "here", message("{handed} handed in, {solved} found it", { handed: n, solved }))];
  if (!task.told) line.push(part("reveal task", null, () => button(message("Show the best"), () => act("reveal-task"), "main")));
  line.push(part("end task", Boolean(task.told), () => button(message("End the task"), () => act("end-task"), task.told ? "main" : "")));
  line.push(taskAside());
  if (task.told) return { all: [titleOfTask(), bestOf("best", told)], own: [], line, hides: false, ends: "end-task", aside: isTaskAside };
  return { all: [titleOfTask(), ruleOfTask()], own: [bestUntilNow(told)], line, hides: false, aside: isTaskAside };
}

function taskAside() {
  const label = isTaskAside ? message("See the task") : message("See the picture");
  return part("task aside", label, () => {
    const found = button(label, () => {
      isTaskAside = !isTaskAside;
      draw();
    });
    found.dataset.name = "task aside";
    return found;
  });
}

/** The best links so far, for the teacher. */
function bestUntilNow(told) {
  const label = message("Best so far: for you alone");
  const fold = part("best until now", task.number, () => foldOf("best until now", label));
  return put(fold, [fold.firstElementChild, bestOf("best now", told)]);
}

function titleOfTask() {
  return part("task title", task.title, () => {
    const found = make("div", "words question");
    found.append(make("strong", "", message("Find it: {title}", { title: task.title })));
    return found;
  });
}

const ruleOfTask = () => part("task rule", task.rule, () => htmlOf(task.rule));

/** The best links. */
function bestOf(name, told) {
  return part(name, [told.best, told.solved], () => {
    // Failed attempts are not ranked.
    const list = make(told.solved ? "ol" : "ul", "best");
    for (const each of told.best) {
      const item = make("li");
      item.append(wayToBest(each), htmlOf(each.told));
      list.append(item);
    }
    return list;
  });
}

// ------------------------------------------------------------------- a pupil who explores alone

/** The current view, as handed in. */
const view = () => location.pathname + location.search;

/** The task, the verdict on the last link, and a button to hand in the current view. */
function aloneWithTask() {
  const isOver = isKnown && new URLSearchParams(location.search).has("find");
  if (!task || task.told) return { above: [], line: isOver ? [words("task over", "", message("This task is over."))] : [] };
  const fold = part("task fold", task.number, () => {
    const found = foldOf("task", "");
    found.firstElementChild.append(make("strong", "", message("Find it: {title}", { title: task.title })));
    found.append(ruleOfTask());
    return found;
  });
  const said = part("verdict", null, () => {
    const found = make("div", "words");
    found.setAttribute("role", "status");
    return found;
  });
  put(said, verdict ? [part("verdict of", verdict, verdictOf)] : []);
  const press = part("hand in", null, () => button("", handIn, "main"));
  setText(press, isJudging ? message("Judging …") : message("Hand in this view"));
  press.dataset.name = "hand in";
  press.disabled = isJudging;
  const best = handed?.number === task.number ? handed.best : null;
  const line = best ? [press, words("own best", "here", message("Your best: {score}", { score: best.score }))] : [press];
  return { above: [fold, said], line };
}

function verdictOf() {
  const box = make("div");
  if (verdict.verdict) box.append(make("strong", "", verdict.verdict.headline), htmlOf(verdict.verdict.told));
  else box.append(make("p", "", verdict.told));
  return box;
}

async function handIn() {
  const link = view();
  const { number } = task;
  isJudging = true;
  draw();
  const answer = await post(`${follows}/hand-in`, { number, link });
  isJudging = false;
  if (answer.isDone) handed = answer;
  verdict = { ...answer, link };
  draw();
  if (!answer.isDone) lookForTask();
}

/** Ask for tasks and questions: a pupil's page of the app gets no messages. */
async function lookForTask() {
  if (!follows || room || document.hidden) return;
  const answer = await fetch(new URL(`${follows}/task`, ROOMS)).catch(() => null);
  if (!answer || room) return;
  if (answer.status === 404) {
    follows = null;
    told = message("The class is over.");
    draw();
  }
  if (!answer.ok) return;
  const found = await answer.json();
  if (isKnown && JSON.stringify([task, handed, isAsking]) === JSON.stringify([found.task, found.handed, found.asks])) return;
  isKnown = true;
  ({ task, handed, asks: isAsking } = found);
  draw();
}

setInterval(lookForTask, LOOK_FOR_TASK);
document.addEventListener("visibilitychange", lookForTask);

// A verdict is about one view, and disappears with it.
setInterval(() => {
  if (!verdict || verdict.link === view()) return;
  verdict = null;
  draw();
}, LOOK);
