// What is taken hold of in a figure along axes: a mark that is dragged along an axis has an
// area that a finger finds, and a knob where it stands. `data-drag` is as `handles.js` of the
// live figures reads it: the key of a control, where a 0 lies, and how many pixels a 1 is.
"use strict";
window.figureGrips = (() => {
  const { element } = window.figureSvg;
  const REACH = 16; // pixels beside a point
  const KNOB = 9; // its radius in pixels
  const TIPS = "M-3 -1.8l3 -3.2l3 3.2M-3 1.8l3 3.2l3 -3.2";

  // Along x all of the panel, so that it is pressed anywhere; along y as wide as the mark.
  function area({ box }, isX, [left, right]) {
    const [x, end] = isX ? [box.left, box.right] : [left, right];
    return { x, y: box.top, width: end - x, height: box.bottom - box.top };
  }

  // Where each mark stands: its place, from where to where it reaches across, its end.
  function standing(mark, panel, all) {
    if (mark.kind === "points") {
      return mark.x.map((x, nth) => [panel.x(x) - REACH, panel.x(x) + REACH, panel.y(mark.y[nth])]);
    }
    const { start, thick } = panel.places.get(all)[panel.bars.indexOf(mark)];
    return mark.sizes.map((size, nth) => {
      const from = mark.places[nth] + start;
      return [panel.x(from), panel.x(from + thick), panel.y(size)];
    });
  }

  // A knob at the end of a bar, above the names below; a mark is its own. Its tips say along which axis it goes.
  function knob(isX, isBar, x, y) {
    const at = { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})${isX ? " rotate(90)" : ""}` };
    const tips = element("path", { d: TIPS, ...at, class: isBar ? "figure-grip-tips" : "figure-grip-tips is-on-mark" });
    return isBar ? [element("circle", { r: KNOB, ...at, class: "figure-grip" }), tips] : [tips];
  }

  return (mark, panel, all) => {
    const { axis, keys } = mark.drags;
    const [scale, isBar] = [panel[axis], mark.kind !== "points"];
    return standing(mark, panel, all).map(([left, right, end], nth) => {
      const isX = axis === "x";
      const drag = `${keys[nth] ?? keys[0]} ${scale(0)} ${scale(1) - scale(0)}`;
      const place = element("rect", { ...area(panel, isX, [left, right]), fill: "none", "pointer-events": "all" });
      return element("g", { "data-drag": drag, "data-axis": axis }, place, ...knob(isX, isBar, (left + right) / 2, isBar ? Math.min(end, panel.box.bottom - KNOB) : end));
    });
  };
})();
