// A picture in a file: presses that would lead to another view do nothing; pins, switched heads and sizes, which stay within
// the picture, work.
const ELSEWHERE = { atlas: ".picture", head_grid: ".root", model_map: ".chip, .dot, .other, .fold", order: ".root", overlay: ".root", question: ".root", stream: ".part", tokens: ".root" };

/** Disable presses in a picture that would lead to another view. */
function still(parent, component) {
  const selector = ELSEWHERE[component];
  if (!selector) return;
  const stop = (event) => {
    const isPress = event.type === "click" || event.key === "Enter" || event.key === " ";
    if (isPress && event.target.closest(selector)) event.stopPropagation();
  };
  for (const type of ["click", "keydown"]) parent.addEventListener(type, stop, { capture: true });
}
