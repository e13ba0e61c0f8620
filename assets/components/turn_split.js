// How a text becomes tokens: it is cut at their borders, its pieces go to their places, and what the model adds comes.

/**
 * @typedef {[string, "" | " " | "\n"]} Piece what of the text a token is, and what stands before it
 *
 * @typedef {object} SplitFrame a Frame, and
 * @property {number} cut how much is seen of the borders, from 0 to 1
 * @property {number} apart how far the pieces are on the way to their tokens
 * @property {number} chips how much is seen of the tokens themselves
 * @property {number} added how much is seen of what the model adds
 */

// When the text is cut, when its pieces are in their places, and when they are tokens.
const [CUT, APART, CHIPS] = [0.3, 0.65, 0.85];

TURNS.split = { read: ({ change }) => change.parts, frame: splitFrame, draw: drawSplit, isAnew: true };

/**
 * @param {{pieces: (Piece | null)[]}} change a piece for each token, or null where it is none of the text
 * @param {number} moment from 0 to 1
 * @returns {SplitFrame}
 */
function splitFrame({ pieces }, moment) {
  const added = part(moment, CHIPS, 1 - CHIPS);
  const frame = {
    ...{ side: moment <= 0 ? "before" : "after", masked: "", numbers: null, added },
    ...{ cut: part(moment, 0, CUT), apart: part(moment, CUT, APART - CUT), chips: part(moment, APART, CHIPS - APART) },
  };
  const nPieces = pieces.filter(Boolean).length;
  const nAdded = pieces.length - nPieces;
  if (moment <= 0) return { ...frame, told: message("the text, as it is read") };
  if (added && nAdded) return { ...frame, told: messages("{n} token that the model adds", "{n} tokens that the model adds", nAdded) };
  return { ...frame, told: messages("cut into {n} piece", "cut into {n} pieces", nPieces) };
}

function drawSplit(state, frame) {
  coverChips(state);
  const { moving, strip } = state;
  const apart = ease(frame.apart);
  for (const { element, way } of moving.pieces) {
    element.style.transform = `translate(${way[0] * apart}px, ${way[1] * apart}px)`;
  }
  moving.line.style.setProperty("--cut", frame.cut);
  moving.line.style.opacity = 1 - frame.chips;
  strip.style.setProperty("--chips", frame.chips);
  strip.style.setProperty("--added", frame.added);
}

/** Write the text over the tokens, and measure the way of each of its pieces. */
function coverChips(state) {
  const { turn, strip, buttons } = state;
  if (state.moving?.turn === turn && state.moving.first === buttons[0]) return;
  uncoverChips(state);
  strip.classList.add("turning");
  const line = make("div", "pieces");
  line.setAttribute("aria-hidden", "true");
  const pieces = [];
  turn.change.pieces.forEach((piece, index) => {
    if (!piece) return;
    const [text, before] = piece;
    line.append(before);
    const element = make("bdi", "piece", text);
    element.classList.toggle("joined", pieces.length > 0 && before === "");
    line.append(element);
    pieces.push({ element, chip: buttons[index] });
  });
  strip.after(line);
  for (const each of pieces) each.way = wayBetween(each.element, each.chip.querySelector(".text"));
  state.moving = { turn, line, pieces, first: buttons[0] };
}

/** How far it is from the middle of one element to that of another, across and down. */
function wayBetween(from, to) {
  const [start, end] = [from, to].map((element) => element.getBoundingClientRect());
  return [end.x + end.width / 2 - start.x - start.width / 2, end.y + end.height / 2 - start.y - start.height / 2];
}

function uncoverChips(state) {
  state.moving?.line.remove();
  state.moving = null;
  state.strip.classList.remove("turning");
}
