// What is dragged in a drawing: arrows by their tips, edges of areas, and what stands on a line
// of places. A drawing of arrows says where its plane lies: `data-plane` holds the middle's x
// and y, and how many units of the drawing a 1 is. An edge is what has `data-drag`: the key of
// its control, where a 0 lies, and how many units a 1 is. A fourth part is the length of what
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

  const within = (value, least, most) => Math.min(Math.max(value, least), most);

  // What its control is set to if an edge is dragged to the pointer. `entry` is one of a
  // matrix: its row and column.
  function edgeText({ control, entry, axis, zero, unit, whole }, { at }) {
    const long = (at[axis === "y" ? 1 : 0] - zero) / unit;
    const value = whole ? whole / Math.max(long, 1e-9) : long;
    if (entry.length) return entryText(control, entry, value);
    if (control.options) {
      const apart = ([text]) => Math.abs(Math.log(Number(text) / Math.max(value, 1e-9)));
      return [...control.options].sort((a, b) => apart(a) - apart(b))[0][0];
    }
    const { least, most, step = 1 } = control;
    const stepped = least + Math.round((value - least) / step) * step;
    return String(Number(within(stepped, least, most).toFixed(6)));
  }

  const ENTRY = 0.5; // the step of an entry

  function entryText(control, [i, j], value) {
    const rows = control.get().split(";").map((row) => row.split(","));
    rows[i][j] = within(Math.round(value / ENTRY) * ENTRY, -control.most, control.most);
    return rows.map((row) => row.join(",")).join(";");
  }

  // What `grab` finds under the pointer is held until it is let go: it gives what is done at
  // each move, or nothing. The drawing is replaced meanwhile, its place is not.
  function drag(place, grab) {
    let move = null;
    place.addEventListener("pointerdown", (event) => {
      move = grab(event);
      if (!move) return;
      event.preventDefault();
      place.setPointerCapture(event.pointerId);
      place.classList.add("is-held");
    });
    place.addEventListener("pointermove", (event) => move?.(event));
    for (const end of ["pointerup", "pointercancel"]) {
      place.addEventListener(end, () => {
        move = null;
        place.classList.remove("is-held");
      });
    }
    return () => move !== null;
  }

  function dragEdges(place, controls, put, isPressed) {
    drag(place, (down) => {
      if (isPressed(down)) return null;
      const edge = down.target.closest("[data-drag]");
      const [path, ...numbers] = edge?.dataset.drag.split(" ") ?? [];
      const [key, ...entry] = path?.split(".") ?? [];
      const control = controls.find((it) => it.key === key);
      if (!control) return null;
      const [zero, unit, whole] = numbers.map(Number);
      const { axis } = edge.dataset;
      const move = (event) => {
        const found = inDrawing(place, event);
        if (found) put(control, edgeText({ control, entry, axis, zero, unit, whole }, found));
      };
      // What is dragged along an axis goes where it is pressed.
      if (axis) move(down);
      return move;
    });
  }

  // The nearest of the points, if it is near.
  function nearest(points, { at, pixels }) {
    const apart = (point) => Math.hypot(...point.at().map((value, i) => value - at[i])) * pixels;
    const [first] = [...points].sort((a, b) => apart(a) - apart(b));
    return apart(first) <= NEAR ? first : null;
  }

  function dragTips(place, controls) {
    const points = controls.filter((control) => control.move);
    if (!points.length) return;
    place.classList.add("live-handles");
    const isHeld = drag(place, (down) => {
      const found = inPlane(place, down);
      const held = found && nearest(points, found);
      return held && ((event) => {
        const { at } = inPlane(place, event) ?? {};
        if (at) held.move(at);
      });
    });
    place.addEventListener("pointermove", (event) => {
      const found = inPlane(place, event);
      if (found) place.style.cursor = isHeld() ? "grabbing" : nearest(points, found) ? "grab" : "";
    });
  }

  // Over places side by side (`data-places`), of which each has what it sets: the one that is
  // nearest to the pointer sets it.
  function dragAlong(place, pick) {
    const keyOf = (part) => part.dataset.pick.split("=")[0];
    const apart = (part, x) => {
      const { left, width } = part.getBoundingClientRect();
      return width ? Math.abs(left + width / 2 - x) : Infinity;
    };
    drag(place, ({ target }) => {
      const part = target.closest("[data-places] [data-pick]");
      if (!part) return null;
      const key = keyOf(part);
      pick(part.dataset.pick);
      return ({ clientX: x }) => {
        const parts = [...place.querySelectorAll("[data-places] [data-pick]")].filter((part) => keyOf(part) === key);
        pick(parts.reduce((a, b) => (apart(b, x) < apart(a, x) ? b : a)).dataset.pick);
      };
    });
  }

  // What a hand can do in the drawing, for who does not see it.
  function hint(place, controls, plot, isTrained) {
    const has = (part) => place.querySelector(part);
    const drags = has("[data-drag], [data-places], [data-paint]") || controls.some((it) => it.move);
    const clicks = has(":not([data-places] *)[data-pick]") || plot?.told.some(({ pick }) => pick);
    const hands = [drags && "Drag", clicks && "click"].filter(Boolean).join(" or ");
    const rest = isTrained ? "set the controls and train" : "move a control";
    const words = hands ? `${hands} in the figure, or ${rest}.` : `${rest}.`;
    return words[0].toUpperCase() + words.slice(1);
  }

  // `put` sets a control to a text, `pick` what a part of the drawing stands for. What
  // `isPressed` finds under the pointer is pressed, and not dragged.
  function watch(place, controls, put, pick, isPressed) {
    dragEdges(place, controls, put, isPressed);
    dragTips(place, controls);
    dragAlong(place, pick);
  }

  return { watch, hint };
})();
