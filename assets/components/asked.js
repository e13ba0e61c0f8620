// Data that a picture requests from the server when it needs it.

/** The numbers of a picture that came without them, requested once, and again after a failure. */
class Numbers {
  named = null;
  found = null;
  isAsked = false;
  isLost = false;

  /**
   * Take the name of a picture's numbers; numbers already here stay while the name is the same.
   * @param {{id: string, at: string} | null} named their ID and address
   */
  take(named) {
    if (this.named?.id !== named?.id) Object.assign(this, { found: null, isAsked: false, isLost: false });
    this.named = named;
  }

  /**
   * @param {(address: string) => Promise<ArrayBuffer | null>} ask
   * @param {() => void} then called when they have arrived or failed
   */
  async get(ask, then) {
    const { named } = this;
    if (!named || this.isAsked) return;
    this.isAsked = true;
    const found = await ask(named.at);
    if (this.named?.id !== named.id) return; // the picture has changed
    this.found = found;
    this.isLost = found === null;
    then();
  }

  /** Request them again after a failure. */
  again(ask, then) {
    if (this.isLost) this.isAsked = this.isLost = false;
    this.get(ask, then);
  }
}

/** The caption of a sketch. */
function toldOfSketch(isSketch) {
  return isSketch ? message("a sketch: press it for full detail") : "";
}

// ---- All heads, which arrive as a sketch --------------------------------------------------------

/** Take the server's data; pictures already requested replace their sketch. */
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

/** Request the pictures that arrived as a sketch. */
function askWhole(state) {
  if (!state.told || !isSketch(state)) return;
  state.numbers.again(state.ask, () => isSketch(state) || state.take(state, inFull(state)));
}
