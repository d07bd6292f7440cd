// What a drawing tells under the pointer: of the box that it is in, or of the nearest point.
"use strict";
window.figureTip = (() => {
  const NEAR = 16; // pixels

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

  // `boxes` gives what is drawn now.
  function watch(place, boxes) {
    const tip = document.createElement("div");
    tip.className = "figure-tip";
    tip.hidden = true;
    tip.setAttribute("aria-hidden", "true"); // the table below has every number
    place.after(tip);
    place.addEventListener("pointermove", (event) => {
      const { left, top, width } = place.getBoundingClientRect();
      const [x, y] = [event.clientX - left, event.clientY - top];
      const found = nearest(boxes(), x, y);
      tip.hidden = !found;
      place.style.cursor = found?.pick ? "pointer" : "";
      if (!found) return;
      tip.innerHTML = found.tip;
      const whole = place.parentElement.getBoundingClientRect();
      const at = Math.min(Math.max(x, 60), width - 60);
      tip.style.left = `${left - whole.left + at}px`;
      tip.style.top = `${top - whole.top + y}px`;
    });
    place.addEventListener("pointerleave", () => (tip.hidden = true));
  }

  return { watch, nearest };
})();
