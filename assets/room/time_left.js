// What the bar of a class and its screens say alike: who is here, and the time left by the server's clock.

/** How many take part, and how many of them explore the app on their own. */
function whoIsHere(n, exploring) {
  const here = messages("{n} is here", "{n} are here", n);
  return exploring ? message("{here}, {n} of them exploring", { here, n: exploring }) : here;
}

let ahead = 0; // in ms: how much the server's clock is ahead of this browser's

/** Set the clock by the server's time, in seconds. */
function setClock(now) {
  ahead = 1000 * now - Date.now();
}

/** The whole seconds left until a time of the server. */
const secondsLeft = (ends) => Math.max(0, Math.ceil(ends - (Date.now() + ahead) / 1000));

function timeLeft(ends) {
  const n = secondsLeft(ends);
  return n ? message("{n} s", { n }) : message("Time is up.");
}
