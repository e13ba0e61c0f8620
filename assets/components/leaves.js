// A leaf: the same page with another value of a parameter, drawn in the browser without a run of the app. It is asked
// for by the page's link; the server is told afterwards, with the press itself (attention.ui.leaf).

const LEAF = Symbol.for("attention.leaf");
/** In milliseconds: longer than a leaf takes that is to be had, shorter than anybody waits without a sign. */
const LEAF_PATIENCE = 1_500;
/** Pictures are drawn by then. */
const LEAF_REST = 150;
/** A leaf that was fetched ahead is not kept for longer: the server's models may change. */
const LEAF_AGE = 60_000;

/** Whether the app runs, or a press is on its way to it: then what the page shows is about to change. */
function isRunning() {
  const app = document.querySelector("[data-testid=stApp]");
  return app?.dataset.testScriptState !== "notRunning" || document[SENT] === drawnPage();
}

/**
 * Draw the page with another value of a parameter, if there is such a leaf.
 * @param {string} name the parameter
 * @param {string} value
 * @param {string} [following] the value that is likely to be wanted after it, whose leaf is fetched ahead
 * @returns {Promise<boolean | null>} whether it is drawn; if not, the app has to run for it. Nothing, if overtaken.
 */
async function turnLeaf(name, value, following) {
  const page = document[LEAF];
  page?.coming?.abort();
  if (!page?.outline || isRunning()) return false;
  const coming = (page.coming = new AbortController());
  const root = document.documentElement;
  root.dataset.turns = "";
  try {
    const address = leafAddress(page, name, value);
    const leaf = await leafAt(page, address, coming.signal);
    if (page.coming !== coming) return null;
    // A run that has ended meanwhile shows in the link at once, and in what is drawn a moment later.
    const isSame = document[LEAF] === page && leafAddress(page, name, value) === address;
    const fits = leaf?.outline === page.outline && isSame && !isRunning();
    if (!fits || !drawLeaf(leaf)) return false;
    if (following) fetchAhead(page, name, following);
    return true;
  } catch {
    // Where another leaf is wanted meanwhile, this one is not; otherwise the server is slow, or out of reach.
    return page.coming === coming ? false : null;
  } finally {
    if (page.coming === coming) delete root.dataset.turns;
  }
}

function leafAddress(page, name, value) {
  return new URL(`${page.address}/${name}/${encodeURIComponent(value)}${location.search}`, document.baseURI).href;
}

/** The leaf at an address, or null; whoever goes on in the same direction finds it here already. */
async function leafAt(page, address, signal) {
  const { ahead } = page;
  const isHere = ahead?.address === address && performance.now() - ahead.since < LEAF_AGE;
  const found = isHere ? await ahead.leaf : null;
  return found ?? fetchLeaf(address, AbortSignal.any([signal, AbortSignal.timeout(LEAF_PATIENCE)]));
}

async function fetchLeaf(address, signal) {
  const response = await fetch(address, { signal });
  return response.ok ? response.json() : null;
}

function fetchAhead(page, name, value) {
  clearTimeout(page.rest);
  page.rest = setTimeout(() => {
    if (document[LEAF] !== page || isRunning()) return;
    const address = leafAddress(page, name, value);
    const leaf = fetchLeaf(address, AbortSignal.timeout(LEAF_PATIENCE)).catch(() => null);
    page.ahead = { address, leaf, since: performance.now() };
  }, LEAF_REST);
}

function drawLeaf({ link, parts }) {
  const places = document[Symbol.for("attention.places")];
  const drawn = document[Symbol.for("attention.drawn")];
  const found = Object.entries(parts).map(([key, data]) => ({ data, root: places.get(key)?.deref() }));
  if (found.some(({ root }) => !(root?.host ?? root)?.isConnected)) return false;
  // How the page is framed is said in the address, too (https://docs.streamlit.io/deploy: embed your app).
  const framed = [...new URLSearchParams(location.search)].filter(([name]) => /^embed(_options)?$/i.test(name));
  const said = [new URLSearchParams(framed).toString(), link].filter(Boolean).join("&");
  history.pushState({}, "", `${location.pathname}${said && "?"}${said}`);
  for (const { root, data } of found) drawn.get(root).redraw(data);
  return true;
}
