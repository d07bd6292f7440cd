// Arrows that are dragged by their tips. A drawing that has some says where its plane lies:
// `data-plane` holds the middle's x and y, and how many units of the drawing a 1 is.
"use strict";
window.liveHandles = (() => {
  const NEAR = 22; // pixels, a finger's reach

  // The point under the pointer, as the plane has it, and how many pixels a 1 is.
  function inPlane(place, event) {
    const svg = [...place.querySelectorAll("svg[data-plane]")].find((it) => it.clientWidth);
    if (!svg) return null;
    const [x, y, unit] = svg.dataset.plane.split(" ").map(Number);
    const { left, top, width } = svg.getBoundingClientRect();
    const scale = width / svg.viewBox.baseVal.width;
    const at = [(event.clientX - left) / scale - x, y - (event.clientY - top) / scale];
    return { at: at.map((value) => value / unit), pixels: unit * scale };
  }

  // The nearest of the points, if it is near.
  function nearest(points, { at, pixels }) {
    const apart = (point) => Math.hypot(...point.at().map((value, i) => value - at[i])) * pixels;
    const [first] = [...points].sort((a, b) => apart(a) - apart(b));
    return apart(first) <= NEAR ? first : null;
  }

  // The drawing is replaced while a tip is dragged, its place is not.
  function watch(place, controls) {
    const points = controls.filter((control) => control.move);
    if (!points.length) return;
    let held = null;
    place.classList.add("live-handles");
    place.addEventListener("pointerdown", (event) => {
      const found = inPlane(place, event);
      held = found && nearest(points, found);
      if (!held) return;
      event.preventDefault();
      place.setPointerCapture(event.pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      const found = inPlane(place, event);
      if (!found) return;
      if (held) held.move(found.at);
      place.style.cursor = held ? "grabbing" : nearest(points, found) ? "grab" : "";
    });
    for (const end of ["pointerup", "pointercancel"]) place.addEventListener(end, () => (held = null));
  }

  return { watch };
})();
