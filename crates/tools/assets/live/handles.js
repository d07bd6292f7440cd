// What is dragged in a drawing: arrows by their tips, edges of areas, and what stands on a line
// of places. A drawing of arrows says where its plane lies: `data-plane` holds the middle's x
// and y, and how many units of the drawing a 1 is. An edge is what has `data-drag`: the key of
// its control, where a 0 lies, and how many units a 1 is. A fourth number is the length of what
// is cut in as many pieces as the control says, the first of which ends at the edge.
"use strict";
window.liveHandles = (() => {
  const NEAR = 22; // pixels, a finger's reach

  // The drawing that is seen, where the pointer is in it, and how many pixels a unit is.
  function inDrawing(place, event) {
    const svg = [...place.querySelectorAll("svg")].find((it) => it.clientWidth);
    if (!svg) return null;
    const { left, top, width } = svg.getBoundingClientRect();
    const scale = width / svg.viewBox.baseVal.width;
    return { svg, at: [(event.clientX - left) / scale, (event.clientY - top) / scale], scale };
  }

  // The point under the pointer, as the plane has it, and how many pixels a 1 is.
  function inPlane(place, event) {
    const { svg, at, scale } = inDrawing(place, event) ?? {};
    if (!svg?.dataset.plane) return null;
    const [x, y, unit] = svg.dataset.plane.split(" ").map(Number);
    return { at: [(at[0] - x) / unit, (y - at[1]) / unit], pixels: unit * scale };
  }

  // What its control is set to if an edge is dragged to the pointer.
  function edgeText({ control, zero, unit, whole }, { at }) {
    const long = Math.max((at[0] - zero) / unit, 1e-9);
    const value = whole ? whole / long : long;
    if (!control.options) return String(Math.min(Math.max(Math.round(value), control.least), control.most));
    const apart = ([text]) => Math.abs(Math.log(Number(text) / value));
    return [...control.options].sort((a, b) => apart(a) - apart(b))[0][0];
  }

  function watchEdges(place, controls, put) {
    let held = null;
    place.addEventListener("pointerdown", (event) => {
      const [key, ...numbers] = event.target.closest("[data-drag]")?.dataset.drag.split(" ") ?? [];
      const control = controls.find((it) => it.key === key);
      if (!control) return;
      const [zero, unit, whole] = numbers.map(Number);
      held = { control, zero, unit, whole };
      event.preventDefault();
      place.setPointerCapture(event.pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      const found = held && inDrawing(place, event);
      if (found) put(held.control, edgeText(held, found));
    });
    for (const end of ["pointerup", "pointercancel"]) place.addEventListener(end, () => (held = null));
  }

  // The nearest of the points, if it is near.
  function nearest(points, { at, pixels }) {
    const apart = (point) => Math.hypot(...point.at().map((value, i) => value - at[i])) * pixels;
    const [first] = [...points].sort((a, b) => apart(a) - apart(b));
    return apart(first) <= NEAR ? first : null;
  }

  // The drawing is replaced while a tip is dragged, its place is not.
  function watch(place, controls, put) {
    watchEdges(place, controls, put);
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

  // Places side by side (`data-places`), over which something is dragged: each has what a
  // click on it sets, and is clicked where it is the nearest to the pointer.
  function slide(place) {
    let key = null;
    const keyOf = (part) => part.dataset.pick.split("=")[0];
    const apart = (part, x) => {
      const { left, width } = part.getBoundingClientRect();
      return width ? Math.abs(left + width / 2 - x) : Infinity;
    };
    const click = (part) => part.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    place.addEventListener("pointerdown", (event) => {
      const part = event.target.closest("[data-places] [data-pick]");
      if (!part) return;
      event.preventDefault();
      key = keyOf(part);
      place.setPointerCapture(event.pointerId);
      click(part);
    });
    place.addEventListener("pointermove", ({ clientX: x }) => {
      if (!key) return;
      const parts = [...place.querySelectorAll("[data-places] [data-pick]")].filter((part) => keyOf(part) === key);
      click(parts.reduce((a, b) => (apart(b, x) < apart(a, x) ? b : a)));
    });
    for (const end of ["pointerup", "pointercancel"]) place.addEventListener(end, () => (key = null));
  }

  return { watch, slide };
})();
