// While the class sees this view, the teacher's pointer appears in the class's picture: the picture's key and the
// indices of the place are sent. While the code is shown here, a wall shows it, too.

const POINT_PACE = 200; // in ms, between two messages
const NOTHING = "null";

let pointed = null; // the picture's element, and the place in it
let pointSent = ""; // the last message; unknown at first, so that nothing remains from a closed tab
let isPointing = false;

document.addEventListener("attention-point", (event) => {
  const figure = event.composedPath().find((each) => each.dataset?.block?.startsWith("picture "));
  if (event.detail && figure) pointed = { figure, at: event.detail };
  else if (pointed?.figure === figure) pointed = null;
  sendPoint();
});

addEventListener("pagehide", () => {
  if (room && pointSent !== NOTHING) navigator.sendBeacon(new URL(`${room.code}/point`, ROOMS), '{"point":null}');
});

/** The message for the class: none if no one is following, or another view is shown. */
function pointNow() {
  if (isCodeShown && now.walls > 0) return JSON.stringify({ isCode: true });
  if (isTellingTen() && now.walls > 0) return JSON.stringify({ isOwn: true });
  const isSeen = now.here + now.walls > 0 && seen.written === JSON.stringify(here()) && pointed?.figure.isConnected;
  if (!isSeen) return NOTHING;
  const picture = pointed.figure.dataset.block.slice("picture ".length);
  return JSON.stringify({ view: seen.view, picture, at: pointed.at });
}

/** Send the pointer's target, one message at a time, always the latest. */
async function sendPoint() {
  if (isPointing) return;
  isPointing = true;
  while (room && pointNow() !== pointSent) {
    pointSent = pointNow();
    const { isAway } = await post(`${room.code}/point`, { point: JSON.parse(pointSent) });
    if (isAway) pointSent = "";
    await new Promise((go) => setTimeout(go, isAway ? AGAIN : POINT_PACE));
  }
  isPointing = false;
}

/** The class sees another view, without a message yet. */
function pointAgain() {
  if (pointSent !== NOTHING) pointSent = "";
  sendPoint();
}
