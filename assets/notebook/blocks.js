// Blocks in a notebook: the page as Python has written it, and in it the pictures, each in a place of its own.

for (const host of HOSTS) {
  openPlace(host, (place) => {
    place.innerHTML = GIVEN.html;
    const draws = Array.from(place.querySelectorAll("[data-picture]"), drawing);
    return () => draws.forEach((draw) => draw());
  });
}

/** What draws one picture, with its component. */
function drawing(element) {
  const { component, data, isStill } = GIVEN.pictures[Number(element.dataset.picture)];
  const parentElement = element.attachShadow({ mode: "open" });
  parentElement.append(make("style", "", GIVEN.styles[component]));
  if (isStill) still(parentElement, component);
  const nobody = () => {};
  return () => components[component]({ data, parentElement, setStateValue: nobody, setTriggerValue: nobody });
}
