// How a text becomes tokens: it is cut, its pieces move to their places, and the model's own tokens appear.

/**
 * @typedef {[string, "" | " " | "\n"]} Piece a token's part of the text, and the space before it
 *
 * @typedef {object} SplitFrame a Frame, and
 * @property {number} cut the opacity of the cuts, from 0 to 1
 * @property {number} apart how far the pieces have moved to their tokens
 * @property {number} chips the opacity of the tokens
 * @property {number} added the opacity of tokens that the model adds
 */

// When the text is cut, when its pieces are in place, and when they are tokens.
const [CUT, APART, CHIPS] = [0.3, 0.65, 0.85];

TURNS.split = { read: ({ change }) => change.parts, frame: splitFrame, draw: drawSplit, isAnew: true };

/**
 * @param {{pieces: (Piece | null)[]}} change one per token, or null for a token outside the text
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
  if (moment <= 0) return { ...frame, told: message("the text, as read") };
  if (added && nAdded) return { ...frame, told: messages("{n} token added by the model", "{n} tokens added by the model", nAdded) };
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

/** Write the text over the tokens, and measure the path of each piece. */
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

/** The distance between the centres of two elements, across and down. */
function wayBetween(from, to) {
  const [start, end] = [from, to].map((element) => element.getBoundingClientRect());
  return [end.x + end.width / 2 - start.x - start.width / 2, end.y + end.height / 2 - start.y - start.height / 2];
}

function uncoverChips(state) {
  state.moving?.line.remove();
  state.moving = null;
  state.strip.classList.remove("turning");
}
