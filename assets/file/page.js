// What Streamlit does for a component: a place, its data, and a new call for a new theme. Presses that would lead to another
// view do nothing.
const given = JSON.parse(document.getElementById("given").textContent);
const isPaper = matchMedia("print");
const isDark = matchMedia("(prefers-color-scheme: dark)");

function place(element) {
  const { component, data, isStill } = given.pictures[Number(element.dataset.picture)];
  const parentElement = element.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = given.styles[component];
  parentElement.append(style);
  if (isStill) still(parentElement, component);
  const show = () => components[component]({ data, parentElement, setStateValue: () => {}, setTriggerValue: () => {} });
  show();
  isDark.addEventListener("change", show);
  isPaper.addEventListener("change", show);
}

document.querySelectorAll("[data-picture]").forEach(place);
