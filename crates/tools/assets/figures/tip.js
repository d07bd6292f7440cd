// What a drawing tells under the pointer: of the box that it is in, or of the nearest point.
"use strict";
window.figureTip = (() => {
  const NEAR = 16; // pixels
  const POINT = 8; // pixels around a point

  function nearest(boxes, x, y) {
    let [found, least] = [null, NEAR];
    for (const box of boxes) {
      const dx = Math.max(box.x - x, 0, x - box.x - box.width);
      const dy = Math.max(box.y - y, 0, y - box.y - box.height);
      const apart = Math.hypot(dx, dy);
      // A point before the bar or the cell that it lies in.
      if (apart < least || (apart === 0 && found === null)) [found, least] = [box, apart];
    }
    return found;
  }

  // Where a point of the window is in a place, which may be magnified.
  function within(place, clientX, clientY) {
    const { left, top, width } = place.getBoundingClientRect();
    const zoom = width / place.offsetWidth || 1;
    return [(clientX - left) / zoom, (clientY - top) / zoom];
  }

  // `boxes` gives what is drawn now.
  function watch(place, boxes) {
    const tip = document.createElement("div");
    tip.className = "figure-tip";
    tip.setAttribute("aria-hidden", "true"); // the table below has every number
    // Around what a press would take.
    const aim = document.createElement("div");
    aim.className = "figure-aim";
    place.after(tip, aim);
    const hide = () => (tip.hidden = aim.hidden = true);
    hide();
    place.addEventListener("pointermove", (event) => {
      const [x, y] = within(place, event.clientX, event.clientY);
      const found = nearest(boxes(), x, y);
      tip.hidden = !found;
      place.style.cursor = found?.pick ? "pointer" : "";
      aim.hidden = !found?.pick;
      if (!found) return;
      const reach = found.width ? 0 : POINT;
      aim.style.left = `${place.offsetLeft + found.x - reach}px`;
      aim.style.top = `${place.offsetTop + found.y - reach}px`;
      aim.style.width = `${found.width + 2 * reach}px`;
      aim.style.height = `${found.height + 2 * reach}px`;
      aim.style.borderRadius = reach ? "50%" : "";
      tip.innerHTML = found.tip;
      const half = Math.min(tip.offsetWidth, place.offsetWidth) / 2;
      const at = Math.min(Math.max(x, half), place.offsetWidth - half);
      tip.style.left = `${place.offsetLeft + at}px`;
      tip.style.top = `${place.offsetTop + y}px`;
    });
    // A press may change what is there.
    for (const end of ["pointerdown", "pointerleave"]) place.addEventListener(end, hide);
  }

  return { watch, nearest, within };
})();
