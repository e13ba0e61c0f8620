// What a picture asks the server for, once it is needed.

/** The numbers of a picture that came without them: they are asked for once, and anew where that has failed. */
class Numbers {
  named = null;
  found = null;
  isAsked = false;
  isLost = false;

  /**
   * Take in what a picture says of its numbers; those that are there stay for as long as it names the same.
   * @param {{id: string, at: string} | null} named a name of them, and where they can be had
   */
  take(named) {
    if (this.named?.id !== named?.id) Object.assign(this, { found: null, isAsked: false, isLost: false });
    this.named = named;
  }

  /**
   * @param {(address: string) => Promise<ArrayBuffer | null>} ask
   * @param {() => void} then is called once they are there, or cannot be had
   */
  async get(ask, then) {
    const { named } = this;
    if (!named || this.isAsked) return;
    this.isAsked = true;
    const found = await ask(named.at);
    if (this.named?.id !== named.id) return; // by now it is another picture
    this.found = found;
    this.isLost = found === null;
    then();
  }

  /** The same, and anew where it has failed. */
  again(ask, then) {
    if (this.isLost) this.isAsked = this.isLost = false;
    this.get(ask, then);
  }
}

/** What is said of a picture for as long as it is a sketch. */
function toldOfSketch(isSketch) {
  return isSketch ? message("a sketch: point at it to see it with all its shades") : "";
}

// ---- All heads, which come as a sketch ----------------------------------------------------------

/** Take in what the server says: what has been asked for already takes the place of its sketch. */
function receive(state, { data: told, ask }, take) {
  if (state.told === told) return;
  Object.assign(state, { told, ask, take });
  state.numbers ??= new Numbers();
  state.numbers.take(told.numbers ?? null);
  take(state, state.numbers.found ? inFull(state) : told);
}

const inFull = ({ told, numbers }) => ({ ...told, ...told.whole, tiles: numbers.found });
const isSketch = ({ told, numbers }) => Boolean(told.numbers) && !numbers.found;

const sketchNote = (state) => toldOfSketch(isSketch(state));

/** Ask for the pictures that came as a sketch. */
function askWhole(state) {
  if (!state.told || !isSketch(state)) return;
  state.numbers.again(state.ask, () => isSketch(state) || state.take(state, inFull(state)));
}
