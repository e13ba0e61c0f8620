// A picture that stands still: what is pressed there would show another view; pins, heads that are switched and sizes
// stay within the picture.
const ELSEWHERE = { atlas: ".picture", head_grid: ".root", model_map: ".chip, .dot, .other, .fold", order: ".root", overlay: ".root", question: ".root", stream: ".part", tokens: ".root" };

/** Have presses in a picture of this component do nothing where they would lead to another view. */
function still(parent, component) {
  const selector = ELSEWHERE[component];
  if (!selector) return;
  const stop = (event) => {
    const isPress = event.type === "click" || event.key === "Enter" || event.key === " ";
    if (isPress && event.target.closest(selector)) event.stopPropagation();
  };
  for (const type of ["click", "keydown"]) parent.addEventListener(type, stop, { capture: true });
}
