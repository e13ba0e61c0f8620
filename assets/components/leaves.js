// A leaf: the same page with another value of a parameter, drawn in the browser without a run of the app. It is asked
// for by the page's link; the server is told afterwards, with the press itself (attention.ui.leaf).

const LEAF = Symbol.for("attention.leaf");
/** In milliseconds: longer than a leaf takes that is to be had, shorter than anybody waits without a sign. */
const LEAF_PATIENCE = 1_500;

/** Whether the app runs, or a press is on its way to it: then what the page shows is about to change. */
function isRunning() {
  const app = document.querySelector("[data-testid=stApp]");
  return app?.dataset.testScriptState !== "notRunning" || document[SENT] === drawnPage();
}

/**
 * Draw the page with another value of a parameter, if there is such a leaf.
 * @returns {Promise<boolean | null>} whether it is drawn; if not, the app has to run for it. Nothing, if overtaken.
 */
async function turnLeaf(name, value) {
  const page = document[LEAF];
  page?.coming?.abort();
  if (!page?.outline || isRunning()) return false;
  const coming = (page.coming = new AbortController());
  const root = document.documentElement;
  root.dataset.turns = "";
  try {
    const address = `${page.address}/${name}/${encodeURIComponent(value)}${location.search}`;
    const signal = AbortSignal.any([coming.signal, AbortSignal.timeout(LEAF_PATIENCE)]);
    const response = await fetch(new URL(address, document.baseURI), { signal });
    const leaf = response.ok ? await response.json() : null;
    if (page.coming !== coming) return null;
    return leaf !== null && document[LEAF] === page && leaf.outline === page.outline && !isRunning() && drawLeaf(leaf);
  } catch {
    // Where another leaf is wanted meanwhile, this one is not; otherwise the server is slow, or out of reach.
    return page.coming === coming ? false : null;
  } finally {
    if (page.coming === coming) delete root.dataset.turns;
  }
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
