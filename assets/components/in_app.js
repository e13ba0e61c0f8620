// What stands between a picture and the app around it. Python puts this file after every component's own script there,
// and not into a file that stands alone: that has all its numbers, and asks nobody.

/**
 * @param {string} address from the page
 * @returns {Promise<ArrayBuffer | null>} what lies there; nothing, if it cannot be had
 */
export async function ask(address) {
  try {
    const response = await fetch(new URL(address, document.baseURI));
    return response.ok ? await response.arrayBuffer() : null;
  } catch {
    return null; // the server is out of reach
  }
}

// What is drawn in each place, and the places by the components' keys; shared by all modules of the page.
const drawn = (document[Symbol.for("attention.drawn")] ??= new WeakMap());
const places = (document[Symbol.for("attention.places")] ??= new Map());

/**
 * Draw a component where Streamlit wants it. With the data, it gives the key and the number of the server's run; given
 * the same once more, as for another theme, what a leaf has brought since stays (see leaves.js).
 */
export function mount(given, draw, styles) {
  const root = given.parentElement;
  const [data, key, run] = given.data;
  // To set them again would have the browser look at every element anew.
  if (styles && root.adoptedStyleSheets[0] !== styles) root.adoptedStyleSheets = [styles];
  const before = drawn.get(root);
  const place = before?.run === run ? before : { run, data };
  const redraw = (data) => {
    place.data = data;
    place.clean = draw({ ...given, ask, data });
  };
  place.redraw = redraw;
  drawn.set(root, place);
  places.set(key, new WeakRef(root));
  redraw(place.data);
  return () => {
    // A newer call has the place.
    if (drawn.get(root)?.redraw === redraw) place.clean?.();
  };
}
