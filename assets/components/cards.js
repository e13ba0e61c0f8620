/**
 * Show what a link to a page leads to: a small picture, its title, its purpose, and how long it takes.
 * @param {HTMLElement} way in the page already, whose colours the picture has
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
