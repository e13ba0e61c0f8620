// A question: answers to press, or bars to share out; then the truth beside the guess.

/**
 * @typedef {object} QuestionData
 * @property {string} mark identifies the question
 * @property {string} label
 * @property {string[]} answers
 * @property {"one"|"shares"} shape
 * @property {number[]} [given] the user's answer; the fields below appear only with it
 * @property {"right"|"close"|"other"|"shown"} [verdict]
 * @property {number[]} [right] the answers that are right
 * @property {number[]} [shares] the true shares, in percent
 * @property {boolean} [canGoOn] whether another word can be asked about
 * @property {boolean} stays whether it keeps its size once answered
 */

// This visit's guesses by question; the first one counts.
const KEPT = "attention.guesses";

const stateOf = remembering((parent) => {
  const root = make("div", "root question");
  parent.append(root);
  return { root };
});

/** @param {Mount} mount */
export default function ({ data, parentElement, setStateValue }) {
  const state = stateOf(parentElement);
  const drawn = JSON.stringify(data);
  // Redrawing the same question keeps the bars and the focus.
  if (state.drawn === drawn) return;
  state.drawn = drawn;
  const tell = (name, value) => setStateValue(name, value);
  const had = parentElement.activeElement !== null;
  state.root.classList.toggle("answered", Boolean(data.given));
  state.root.classList.toggle("stays", data.stays);
  state.root.replaceChildren(shownOf(data, tell), line(data, tell));
  if (data.given || data.stays) count(state.root, data);
  if (had) state.root.querySelector("button:enabled, input:enabled")?.focus();
}

function shownOf(data, tell) {
  if (data.shape === "one") return answers(data, tell);
  return bars(data, message("Check"), (values) => tell("share", values));
}

/** A button for each answer; after a choice, signs and words mark the right one. */
function answers(data, tell) {
  const group = make("div", "answers");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", data.label);
  data.answers.forEach((answer, index) => {
    const button = make("button", "framed");
    button.type = "button";
    button.append(make("bdi", "", visible(answer)));
    button.onclick = () => tell("choose", index);
    if (data.given) {
      const isRight = data.right.includes(index);
      const isGiven = data.given[0] === index;
      button.disabled = true;
      button.classList.toggle("right", isRight);
      button.classList.toggle("told", isRight && data.verdict === "shown");
      button.classList.toggle("given", isGiven);
      const sign = data.verdict === "shown" ? message("the answer") : message("right");
      const said = [isRight ? sign : "", isGiven ? message("your guess") : ""].filter(Boolean);
      if (said.length) button.append(make("span", "said", said.join(" · ")));
    }
    group.append(button);
  });
  return group;
}

/** Further actions: show the answer or, afterwards, ask about another word or again. */
function line(data, tell) {
  const place = make("div", "line");
  const [act, label] = otherAct(data);
  const button = make("button", "quiet", label);
  button.type = "button";
  button.onclick = () => tell(act, null);
  place.append(button);
  return place;
}

function otherAct(data) {
  if (!data.given) return ["show", message("Show me")];
  return data.canGoOn ? ["next", message("Try another word")] : ["again", message("Try again")];
}

/** Say how many guesses of this visit were right, if the browser allows storage. */
function count(root, data) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
    if (data.given && data.verdict !== "shown" && !(data.mark in kept)) kept[data.mark] = data.verdict;
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
    const verdicts = Object.values(kept);
    // It reserves its space, so that nothing moves.
    if (!verdicts.length && !data.stays) return;
    const right = verdicts.filter((verdict) => verdict === "right").length;
    const close = verdicts.filter((verdict) => verdict === "close").length;
    const told = messages("{n} guess in this visit", "{n} guesses in this visit", verdicts.length);
    const sorted = message("{right} right, {close} close", { right, close });
    const counted = make("span", "count", `${told}: ${sorted}`);
    counted.classList.toggle("none", !verdicts.length);
    counted.title = message("Close is the next best answer, a number off by one, or shares that mostly agree.");
    root.querySelector(".line").append(counted);
  } catch {
    // Denied or full storage must not hide the answer.
  }
}
