// What stands around a picture in a notebook: a place of its own, into which no style of the page reaches, in the page's
// light or dark. Python puts GIVEN in front of it: what is to be drawn; HOSTS are the elements to draw it in.

/**
 * Open a place for a picture, and draw it there now and in every new theme.
 * @param {HTMLElement} host what it shows without scripts gives way
 * @param {(place: HTMLElement) => () => void} fill makes the content, and returns what draws it
 */
function openPlace(host, fill) {
  const place = make("div", "notebook");
  const style = make("style", "", GIVEN.css);
  host.attachShadow({ mode: "open" }).append(style, place);
  const render = fill(place);
  let [dressed, isHidden] = [null, false];
  // What has no width is not drawn, and where a notebook hides it for less than a frame, no observer is told.
  const redraw = () => {
    render();
    isHidden = !place.clientWidth;
  };
  const mend = () => isHidden && redraw();
  new ResizeObserver(mend).observe(place);
  const dress = () => {
    const theme = GIVEN.theme || (isDarkAround(host) ? "dark" : "light");
    if (theme === dressed) return;
    dressed = theme;
    place.dataset.theme = theme;
    for (const [name, colour] of Object.entries(GIVEN.colours[theme])) place.style.setProperty(`--st-${name}-color`, colour);
    redraw();
    requestAnimationFrame(mend);
  };
  const observer = new MutationObserver(dress);
  for (const element of [document.documentElement, document.body]) observer.observe(element, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  dress();
}

/** Whether the page is dark where an element stands: as what is behind it, or else as the reader prefers. */
function isDarkAround(host) {
  for (let element = host; element; element = element.parentElement) {
    const ground = getComputedStyle(element).backgroundColor;
    if (!/transparent|, 0\)$/.test(ground)) return luminance(rgbOf(ground)) < 0.2;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}
