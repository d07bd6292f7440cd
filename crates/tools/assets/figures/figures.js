// Draws the figures of a page: in the colours of its theme, to fit its width.
// Each figure brings its data, two layouts, `wide` and `narrow`, and its tables, made by
// the crate.
"use strict";
(() => {
  const NARROW = 560; // as in figures.css
  const PAPER = 660; // fits A4 and Letter with a browser's own margins
  const TALLEST = 880; // on a page, with the title
  const figures = [];
  let onPaper = false;

  // The layout for this width, with the page's letters and colours.
  function layoutOf({ place, spec }) {
    const wide = onPaper || place.clientWidth >= NARROW;
    const layout = structuredClone(wide ? spec.wide : spec.narrow);
    const style = getComputedStyle(place);
    const color = onPaper ? "rgb(0, 0, 0)" : style.color;
    Object.assign(layout.font, { color, family: style.fontFamily });
    if (onPaper) layout.width = PAPER;
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

  // A slider that was moved stays there, or goes to its last step if there are fewer now.
  function keepSlider(figure, layout) {
    const [slider] = layout.sliders ?? [];
    if (!slider) return;
    const [last, first] = [slider.steps.length - 1, slider.active];
    const now = figure.place.layout?.sliders?.[0]?.active;
    if (now !== undefined && now !== figure.sliderFirst) slider.active = Math.min(now, last);
    figure.sliderFirst = first;
    const [, visible] = slider.steps[slider.active].args;
    figure.spec.data.forEach((trace, nth) => (trace.visible = visible[nth]));
  }

  function draw(figure) {
    const { place, spec } = figure;
    const layout = layoutOf(figure);
    keepSlider(figure, layout);
    place.style.zoom = onPaper ? Math.min(1, TALLEST / layout.height) : "";
    figure.width = place.clientWidth;
    const config = { displayModeBar: false, showTips: false };
    return Plotly.react(place, spec.data, layout, config);
  }

  // Shows the traces of one group and hides those of the others.
  function choose(figure, group) {
    figure.spec.data = figure.spec.data.map((trace) => {
      if (!trace.legendgroup) return trace;
      return { ...trace, visible: trace.legendgroup === group };
    });
    return draw(figure);
  }

  // A button a group, before the drawing: that one is an image to a screen reader.
  function addChoices(figure, word) {
    const row = document.createElement("div");
    row.className = "figure-choices";
    row.setAttribute("role", "group");
    const label = row.appendChild(document.createElement("span"));
    label.textContent = word;
    for (const trace of figure.spec.data) {
      if (!trace.legendgroup || trace.showlegend === false) continue;
      const button = row.appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = trace.name;
      button.setAttribute("aria-label", `${word} ${trace.name}`);
      button.setAttribute("aria-pressed", String(trace.visible === true));
      button.style.setProperty("--head", trace.marker.color);
      button.addEventListener("click", () => {
        for (const other of row.querySelectorAll("button")) {
          other.setAttribute("aria-pressed", String(other === button));
        }
        choose(figure, trace.legendgroup);
      });
    }
    row.setAttribute("aria-label", `Choose a ${word}`);
    figure.place.before(row);
  }

  // The tables are made when they are first opened: few readers open all of them.
  function addTables(details, tables) {
    const region = details.querySelector(".figure-tables");
    details.ontoggle = () => {
      if (!details.open || region.childElementCount) return;
      for (const { caption, columns, rows } of tables) {
        const table = region.appendChild(document.createElement("table"));
        table.createCaption().textContent = caption;
        const head = table.createTHead().insertRow();
        for (const column of columns) head.append(cell("th", column, "col"));
        const body = table.createTBody();
        for (const [first, ...rest] of rows) {
          const row = body.insertRow();
          row.append(cell("th", first, "row"), ...rest.map((text) => cell("td", text)));
        }
      }
    };
    region.replaceChildren();
    details.ontoggle();
  }

  function cell(tag, text, scope) {
    const made = document.createElement(tag);
    made.textContent = text;
    if (scope) made.scope = scope;
    return made;
  }

  function start(place) {
    const whole = place.parentElement;
    const spec = JSON.parse(whole.querySelector("script").textContent);
    addTables(whole.querySelector("details"), spec.tables);
    if (place.matches(".figure-diagram")) return; // it is drawn already
    if (!window.Plotly) {
      place.classList.add("undrawn");
      return;
    }
    const figure = { place, spec, width: 0 };
    figures.push(figure);
    const choice = spec.wide.meta && spec.wide.meta.choose;
    if (choice) addChoices(figure, choice);
    draw(figure);
    new ResizeObserver(() => {
      const { clientWidth } = place;
      if (!onPaper && clientWidth && clientWidth !== figure.width) draw(figure);
    }).observe(place);
  }

  // Shows another figure of the same kind instead of one: `page` is what the crate's
  // `Figure::to_page` gives. A chosen group stays chosen.
  function show(whole, page) {
    whole.querySelector("figcaption").innerHTML = page.caption;
    addTables(whole.querySelector("details"), page.tables);
    const place = whole.querySelector(".figure-plot, .figure-diagram");
    place.setAttribute("aria-label", page.alternative);
    if (page.drawings) {
      place.innerHTML = page.drawings;
      return;
    }
    place.dataset.sketch = page.sketch;
    place.style.setProperty("--wide", `${page.wide.height}px`);
    place.style.setProperty("--narrow", `${page.narrow.height}px`);
    const figure = figures.find((figure) => figure.place === place);
    if (!figure) return; // no library: the sketch is there
    const chosen = figure.spec.data.find((trace) => trace.legendgroup && trace.visible === true);
    figure.spec = page;
    if (chosen) choose(figure, chosen.legendgroup);
    else draw(figure);
  }

  function print(now) {
    if (now === onPaper) return;
    onPaper = now;
    figures.forEach(draw);
  }

  function startAll() {
    document.querySelectorAll(".figure-plot, .figure-diagram").forEach(start);
    // mdBook names its theme in the class of <html>.
    new MutationObserver(() => figures.forEach(draw))
      .observe(document.documentElement, { attributeFilter: ["class"] });
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    matchMedia("print").addEventListener("change", ({ matches }) => print(matches));
  }

  window.figures = { show };
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", startAll);
  } else {
    startAll();
  }
})();
