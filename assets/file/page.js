// What Streamlit does for a component: a place of its own, its data, and a new call in a new theme.
// Nobody is there to be told what is pressed, so what would lead to another view does nothing.
const given = JSON.parse(document.getElementById("given").textContent);
// What is pressed there would show another view; pins, heads that are switched and sizes stay within the picture.
const ELSEWHERE = { atlas: ".picture", head_grid: ".root", model_map: ".chip, .dot, .other, .fold", neuron: ".root", order: ".root", overlay: ".root", question: ".root", tokens: ".root" };
const isPaper = matchMedia("print");
const isDark = matchMedia("(prefers-color-scheme: dark)");

function place(element) {
  const { component, data, isStill } = given.pictures[Number(element.dataset.picture)];
  const parentElement = element.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = given.styles[component];
  parentElement.append(style);
  if (isStill && component in ELSEWHERE) still(parentElement, ELSEWHERE[component]);
  const show = () => components[component]({ data, parentElement, setStateValue: () => {}, setTriggerValue: () => {} });
  show();
  isDark.addEventListener("change", show);
  isPaper.addEventListener("change", show);
}

function still(parent, selector) {
  const stop = (event) => {
    const isPress = event.type === "click" || event.key === "Enter" || event.key === " ";
    if (isPress && event.target.closest(selector)) event.stopPropagation();
  };
  for (const type of ["click", "keydown"]) parent.addEventListener(type, stop, { capture: true });
}

document.querySelectorAll("[data-picture]").forEach(place);
