// Shows the figures of a page: drawn to fit its width, in the colours of its theme.
// Each figure brings its data, two layouts, `wide` and `narrow`, and its tables, made by
// the crate.
"use strict";
(() => {
  const NARROW = 560; // as in figures.css
  const PAPER = 660; // fits A4 and Letter with a browser's own margins
  const TALLEST = 880; // on a page, with the title
  const SLIDER = 52; // pixels that a layout keeps free for a slider below
  const figures = [];
  let onPaper = false;

  // ---- One figure along axes.

  class Plot {
    constructor(place, spec) {
      Object.assign(this, { place, spec, width: 0, told: [], step: null });
      const choice = spec.wide.meta?.choose;
      if (choice) this.addChoices(choice);
      this.addSlider();
      window.figureTip.watch(place, () => this.told);
      this.draw();
      new ResizeObserver(() => {
        const { clientWidth } = place;
        if (!onPaper && clientWidth && clientWidth !== this.width) this.draw();
      }).observe(place);
    }

    draw() {
      const { place, spec } = this;
      this.width = place.clientWidth;
      const layout = onPaper || this.width >= NARROW ? spec.wide : spec.narrow;
      const width = onPaper ? PAPER : this.width;
      this.chooseStep(layout);
      const { svg, told } = window.figurePlot.draw({
        data: spec.data, layout, width, before: this.before,
      });
      this.told = told;
      place.style.zoom = onPaper ? Math.min(1, TALLEST / layout.height) : "";
      place.replaceChildren(svg);
    }

    // Another figure of the same kind; a chosen group stays chosen. What `before` drew stays
    // as a ghost, where its panels are those of now.
    change(page, before) {
      const chosen = this.spec.data.find((trace) => trace.legendgroup && trace.visible === true);
      this.before = before && isAlike(before, page) ? before.data : undefined;
      this.spec = page;
      if (chosen) this.choose(chosen.legendgroup);
      else this.draw();
    }

    // Shows the traces of one group and hides those of the others.
    choose(group) {
      for (const trace of this.spec.data) {
        if (trace.legendgroup) trace.visible = trace.legendgroup === group;
      }
      this.draw();
    }

    // A button a group, before the drawing: that one is an image to a screen reader.
    addChoices(word) {
      const row = make("div", { className: "figure-choices" }, make("span", {}, word));
      row.setAttribute("role", "group");
      row.setAttribute("aria-label", `Choose a ${word}`);
      for (const trace of this.spec.data) {
        if (!trace.legendgroup || trace.showlegend === false) continue;
        const button = make("button", { type: "button" }, trace.name);
        button.setAttribute("aria-label", `${word} ${trace.name}`);
        button.setAttribute("aria-pressed", String(trace.visible === true));
        button.style.setProperty("--head", trace.marker.color);
        button.addEventListener("click", () => {
          for (const other of row.querySelectorAll("button")) {
            other.setAttribute("aria-pressed", String(other === button));
          }
          this.choose(trace.legendgroup);
        });
        row.append(button);
      }
      this.place.before(row);
    }

    // ---- A slider through states, of which one is shown at a time.

    addSlider() {
      const [slider] = this.spec.wide.sliders ?? [];
      if (!slider) return;
      this.slider = make("input", { type: "range", min: 0 });
      this.says = make("output", {});
      this.slider.setAttribute("aria-label", slider.currentvalue.prefix.replace(/:? *$/, ""));
      this.slider.addEventListener("input", () => {
        this.step = Number(this.slider.value);
        this.draw();
      });
      // mdBook turns the page at an arrow key, which here moves the slider.
      this.slider.addEventListener("keydown", (event) => event.stopPropagation());
      const row = make("div", { className: "figure-slider" }, this.slider, this.says);
      row.style.setProperty("--room", `${SLIDER}px`);
      this.place.after(row);
    }

    // One that was moved stays there, or goes to its last step if there are fewer now.
    chooseStep(layout) {
      const [slider] = layout.sliders ?? [];
      if (!slider) return;
      const last = slider.steps.length - 1;
      const step = Math.min(this.step ?? slider.active, last);
      Object.assign(this.slider, { max: last, value: step });
      const { label, args: [, visible] } = slider.steps[step];
      this.says.textContent = slider.currentvalue.prefix + label;
      this.slider.setAttribute("aria-valuetext", this.says.textContent);
      this.spec.data.forEach((trace, nth) => (trace.visible = visible[nth]));
    }
  }

  // Whether the axes of two figures name the same places, so that marks of the one can lie
  // under those of the other.
  function isAlike(before, now) {
    const axes = ({ wide }) => JSON.stringify(Object.entries(wide)
      .filter(([key]) => /axis\d*$/.test(key) && key !== "coloraxis")
      .map(([key, axis]) => [key, axis.type === "log", axis.type === "log" ? null : axis.ticktext]));
    return axes(before) === axes(now);
  }

  // ---- What every figure has.

  function make(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
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
    const made = make(tag, {}, text);
    if (scope) made.scope = scope;
    return made;
  }

  function start(place) {
    const whole = place.parentElement;
    const spec = JSON.parse(whole.querySelector("script").textContent);
    addTables(whole.querySelector("details"), spec.tables);
    if (place.matches(".figure-diagram")) return; // it is drawn already
    if (window.figurePlot) figures.push(new Plot(place, spec));
    else place.classList.add("undrawn");
  }

  // Shows another figure of the same kind instead of one: `page` is what the crate's
  // `Figure::to_page` gives, and so is `before`, which stays as a ghost.
  function show(whole, page, before) {
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
    figures.find((figure) => figure.place === place)?.change(page, before);
  }

  function print(now) {
    if (now === onPaper) return;
    onPaper = now;
    figures.forEach((figure) => figure.draw());
  }

  function startAll() {
    document.querySelectorAll(".figure-plot, .figure-diagram").forEach(start);
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
