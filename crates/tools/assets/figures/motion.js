// What moves when a drawing changes: each thing with a name (`data-key`) glides from where it
// was to where it is now, one that is new fades in, or comes from the thing that it is made
// of (`data-from`), and one that is gone fades out.
"use strict";
window.figureMotion = (() => {
  const MOVE = 220; // ms
  const STILL = 0.5; // pixels that are no move
  const MOST = 200; // things, of which more take too long under a hand
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const drawing = (place) => [...place.querySelectorAll("svg")].find((it) => it.clientWidth);

  // Where each named thing is in the drawing, as units of the drawing: in the midst of a
  // glide, where it has come.
  function places(svg) {
    const found = new Map();
    const { left, top, width } = svg.getBoundingClientRect();
    const unit = width / svg.viewBox.baseVal.width;
    for (const thing of svg.querySelectorAll("[data-key]")) {
      const box = thing.getBoundingClientRect();
      const [w, h] = [box.width / unit, box.height / unit];
      found.set(thing.dataset.key, { thing, w, h, x: (box.left - left) / unit + w / 2, y: (box.top - top) / unit + h / 2 });
    }
    return found;
  }

  // A bar changes its length; what holds letters keeps its size.
  function glide({ thing, x, y, w, h }, from, timing, isNew) {
    const [dx, dy] = [from.x - x, from.y - y];
    const only = thing.childElementCount === 1 ? thing.firstElementChild : thing;
    const isBar = only.localName === "rect";
    const scale = isBar && w && h ? `scale(${from.w / w}, ${from.h / h})` : "";
    if (Math.hypot(dx, dy) < STILL && (!scale || Math.abs(from.w - w) + Math.abs(from.h - h) < STILL)) return;
    thing.style.transformBox = "fill-box";
    thing.style.transformOrigin = "center";
    const start = { transform: `translate(${dx}px, ${dy}px) ${scale}` };
    thing.animate([isNew ? { ...start, opacity: 0.4 } : start, {}], timing);
  }

  // Remembers the drawing in `place`, and gives what lets it move from there to what it has
  // become: called after the last change of the page, which is laid out once then.
  function hold(place, ms) {
    const before = still.matches || ms === 0 ? null : drawing(place);
    const named = before?.querySelectorAll("[data-key]").length ?? 0;
    if (named === 0 || (named > MOST && !ms)) return () => {};
    const from = places(before);
    return () => move(place, from, { duration: ms ?? MOVE, easing: ms ? "ease-in-out" : "ease-out" });
  }

  function move(place, from, timing) {
    const after = drawing(place);
    if (!after) return;
    const now = places(after);
    for (const [key, at] of now) {
      const was = from.get(key);
      const origin = was ?? from.get(at.thing.dataset.from);
      if (origin) glide(at, origin, timing, !was);
      else at.thing.animate([{ opacity: 0 }, {}], timing);
    }
    for (const [key, { thing }] of from) {
      if (now.has(key)) continue;
      delete thing.dataset.key;
      thing.setAttribute("pointer-events", "none");
      after.append(thing);
      thing.animate([{}, { opacity: 0 }], timing).finished.then(() => thing.remove(), () => {});
    }
  }

  return { hold };
})();
