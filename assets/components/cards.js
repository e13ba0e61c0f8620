/**
 * Draw a card in a link to a page: a small picture, title, purpose and duration.
 * @param {HTMLElement} way attached to the page, so that the picture can follow its colours
 * @param {string} title
 * @param {{text: string, minutes: string, pictures: {light: string, dark: string} | null}} card
 */
function drawCard(way, title, { text, minutes, pictures }) {
  const image = make("img");
  image.alt = "";
  image.loading = "lazy";
  image.width = 320;
  image.height = 180;
  image.hidden = !pictures;
  if (pictures) image.src = new URL(pictures[getComputedStyle(way).colorScheme === "dark" ? "dark" : "light"], document.baseURI).href;
  const words = make("span", "card-words");
  words.append(make("b", "", title), make("span", "purpose", text));
  if (minutes) words.append(make("small", "", minutes));
  way.classList.add("card");
  setAttribute(way, "aria-label", title);
  setAttribute(way, "aria-description", [text, minutes].filter(Boolean).join(" "));
  way.replaceChildren(image, words);
}
