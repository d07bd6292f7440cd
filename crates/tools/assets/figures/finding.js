// The finding of a chapter, small, in its first screen: drawn from the figure below that
// shows it in full.
"use strict";
(() => {
  const BELOW = 44; // pixels, for what stands under a panel
  const TALL = 380; // pixels: a taller one would push what stands beside it

  // The narrow drawing: whole, or, of a tall one, its first panel.
  function small({ marks, narrow }, width) {
    const { svg } = window.figurePlot.draw({ marks, layout: narrow, width });
    const { height, margin } = narrow;
    const lowest = narrow.panels[0].place?.up[0] ?? 0;
    const bottom = margin.above + (1 - lowest) * (height - margin.above - margin.below);
    const names = lowest > 0.02 ? BELOW : margin.below;
    const cut = height <= TALL ? height : Math.min(bottom + names, height);
    svg.setAttribute("height", cut);
    svg.setAttribute("viewBox", `0 0 ${width} ${cut}`);
    return svg;
  }

  function start(place) {
    const figure = document.getElementById(place.dataset.figure);
    const link = place.querySelector("a");
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const words = document.createElement("span");
    words.innerHTML = figure.querySelector("figcaption").innerHTML;
    const drawing = figure.querySelector("svg.narrow")?.cloneNode(true) ?? small(spec, place.clientWidth);
    drawing.setAttribute("aria-hidden", "true"); // the figure itself says what it shows
    link.replaceChildren(words, drawing);
  }

  const startAll = () => document.querySelectorAll(".finding").forEach(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startAll);
  else startAll();
})();
