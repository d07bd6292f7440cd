// Draws the figures of a page: in the colours of its theme, to fit its width.
// Each figure brings its data and two layouts, `wide` and `narrow`, made by the crate.
"use strict";
(() => {
  const NARROW = 560; // as in figures.css
  const figures = [];

  // The layout for this width, with the page's letters and colours.
  function layoutOf({ place, spec }) {
    const wide = place.clientWidth >= NARROW;
    const layout = structuredClone(wide ? spec.wide : spec.narrow);
    const { color, fontFamily } = getComputedStyle(place);
    Object.assign(layout.font, { color, family: fontFamily });
    for (const [key, axis] of Object.entries(layout)) {
      if (!/^[xy]axis/.test(key)) continue;
      if (axis.showgrid !== false) axis.gridcolor = fainter(color, 0.15);
      if (axis.zeroline !== false) axis.zerolinecolor = fainter(color, 0.4);
      if (axis.showline) axis.linecolor = fainter(color, 0.4);
    }
    return layout;
  }

  function fainter(colour, alpha) {
    const [r, g, b] = colour.match(/[\d.]+/g);
    return `rgba(${r},${g},${b},${alpha})`;
  }

  function draw(figure) {
    figure.width = figure.place.clientWidth;
    const config = { displayModeBar: false, showTips: false };
    return Plotly.react(figure.place, figure.spec.data, layoutOf(figure), config);
  }

  // A click in the legend shows that group alone.
  function choose(figure, { fullData, curveNumber }) {
    const chosen = fullData[curveNumber].legendgroup;
    figure.spec.data = figure.spec.data.map((trace) => {
      if (!trace.legendgroup) return trace;
      return { ...trace, visible: trace.legendgroup === chosen || "legendonly" };
    });
    draw(figure);
    return false; // in place of what plotly.js would do
  }

  function start(place) {
    const spec = JSON.parse(place.parentElement.querySelector("script").textContent);
    const figure = { place, spec, width: 0 };
    place.replaceChildren();
    draw(figure);
    if (spec.wide.meta && spec.wide.meta.legend === "one") {
      place.on("plotly_legendclick", (event) => choose(figure, event));
      place.on("plotly_legenddoubleclick", () => false);
    }
    figures.push(figure);
    new ResizeObserver(() => {
      if (place.clientWidth && place.clientWidth !== figure.width) draw(figure);
    }).observe(place);
  }

  function startAll() {
    for (const place of document.querySelectorAll(".figure-plot")) {
      if (window.Plotly) start(place);
      else place.classList.add("undrawn");
    }
    // mdBook names its theme in the class of <html>.
    new MutationObserver(() => figures.forEach(draw))
      .observe(document.documentElement, { attributeFilter: ["class"] });
    matchMedia("print").addEventListener("change", () => figures.forEach(draw));
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", startAll);
  } else {
    startAll();
  }
})();
