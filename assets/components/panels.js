// Panels that open over the page.

/** While a panel is open, a tap beside it only closes it, unless it opens another one. */
function takeTapsBeside(panel) {
  // Without its default, a touch is followed by no press. One that scrolls cannot be cancelled, and has none.
  const close = (event) => {
    if (!event.cancelable) return;
    event.preventDefault();
    if (panel.popover) panel.hidePopover();
  };
  const take = (event) => {
    if (!panel.matches(":popover-open, [open]")) document.removeEventListener("pointerdown", take, true);
    else if (event.pointerType === "touch" && !event.composedPath().some((each) => each === panel || each.popoverTargetElement))
      addEventListener("touchend", close, { once: true, passive: false });
  };
  panel.addEventListener("toggle", () => document.addEventListener("pointerdown", take, true));
}
