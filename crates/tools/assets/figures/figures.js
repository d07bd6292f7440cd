// Shows the figures of a page: drawn to fit its width, in the colours of its theme.
// Each figure brings its marks, two layouts, `wide` and `narrow`, and its tables, made by
// the crate.
"use strict";
(() => {
  const NARROW = 560; // as in figures.css
  const PAPER = 660; // fits A4 and Letter with a browser's own margins
  const TALLEST = 880; // on a page, with the title
  const RESTS = 300; // ms without a move
  const SLIDER = 52; // pixels that a layout keeps free for a slider below
  const figures = [];
  let onPaper = false;

  // ---- One figure along axes.

  class Plot {
    constructor(place, spec) {
      Object.assign(this, { place, spec, width: 0, told: [], step: null });
      if (spec.wide.choose) this.addChoices(spec.wide.choose);
      this.addSlider();
      window.figureTip.watch(place, () => this.told);
      this.fit();
      new ResizeObserver(() => this.fit()).observe(place);
    }

    // Draws for the width that there is now. Between two of these no drawing asks for it,
    // which would have the page laid out.
    fit() {
      const { clientWidth } = this.place;
      if (onPaper || clientWidth === this.width) return;
      this.width = clientWidth;
      this.draw();
    }

    draw() {
      const { place, spec } = this;
      const layout = onPaper || this.width >= NARROW ? spec.wide : spec.narrow;
      const width = onPaper ? PAPER : this.width;
      this.chooseStep(layout);
      const { svg, told, panels } = window.figurePlot.draw({
        marks: spec.marks, layout, width, ghost: this.ghost,
      });
      Object.assign(this, { told, panels });
      place.style.zoom = onPaper ? Math.min(1, TALLEST / layout.height) : "";
      place.replaceChildren(svg);
      this.drawn?.(); // what lies over it moves along
    }

    // What tells something there: its box, and what a press on it sets if the figure is live.
    under({ clientX, clientY }) {
      return window.figureTip.nearest(this.told, ...window.figureTip.within(this.place, clientX, clientY));
    }

    // Another figure of the same kind; a chosen group stays chosen. The marks of `ghost` are
    // drawn with it in grey.
    change(page, ghost) {
      const chosen = this.spec.wide.choose && this.spec.marks.find((mark) => mark.group && mark.shown);
      this.ghost = ghost;
      this.spec = page;
      if (chosen) this.choose(chosen.group);
      else this.draw();
    }

    // Shows the marks of one group and hides those of the others.
    choose(group) {
      for (const mark of this.spec.marks) {
        if (mark.group) mark.shown = mark.group === group;
      }
      this.draw();
    }

    // A button a group, before the drawing: that one is an image to a screen reader.
    addChoices(word) {
      const row = make("div", { className: "figure-choices" }, make("span", {}, word));
      row.setAttribute("role", "group");
      row.setAttribute("aria-label", `Choose a ${word}`);
      for (const { group, legend, name, shown, colour } of this.spec.marks) {
        if (!group || legend === false) continue;
        const button = make("button", { type: "button" }, name);
        button.setAttribute("aria-label", `${word} ${name}`);
        button.setAttribute("aria-pressed", String(shown));
        button.style.setProperty("--head", colour);
        button.addEventListener("click", () => {
          for (const other of row.querySelectorAll("button")) {
            other.setAttribute("aria-pressed", String(other === button));
          }
          this.choose(group);
        });
        row.append(button);
      }
      this.place.before(row);
    }

    // ---- A slider through states, of which one is shown at a time.

    addSlider() {
      const { slider } = this.spec.wide;
      if (!slider) return;
      this.slider = make("input", { type: "range", min: 0 });
      this.says = make("output", {});
      this.slider.setAttribute("aria-label", slider.prefix.replace(/:? *$/, ""));
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
    chooseStep({ slider }) {
      if (!slider) return;
      const last = slider.labels.length - 1;
      const step = Math.min(this.step ?? slider.active, last);
      Object.assign(this.slider, { max: last, value: step });
      this.says.textContent = slider.prefix + slider.labels[step];
      this.slider.setAttribute("aria-valuetext", this.says.textContent);
      this.spec.marks.forEach((mark, nth) => (mark.shown = Math.floor(nth / slider.marks_each) === step));
    }
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
  // `Figure::to_page` gives.
  function show(whole, page) {
    const place = drawnIn(whole);
    const isNarrow = place.clientWidth < NARROW; // asked before anything changes
    whole.querySelector("figcaption").innerHTML = page.caption;
    addTables(whole.querySelector("details"), page.tables);
    place.setAttribute("aria-label", page.alternative);
    if (page.drawings) return showDiagram(place, page.drawings, isNarrow);
    place.dataset.sketch = page.sketch;
    place.style.setProperty("--wide", `${page.wide.height}px`);
    place.style.setProperty("--narrow", `${page.narrow.height}px`);
    plotOf(whole)?.change(page);
  }

  // The drawing that is seen, and the one for another width when the hand rests.
  function showDiagram(place, [wide, narrow], isNarrow) {
    clearTimeout(place.other);
    const [seen, other] = isNarrow ? [narrow, wide] : [wide, narrow];
    place.innerHTML = seen;
    place.other = setTimeout(() => place.insertAdjacentHTML("beforeend", other), RESTS);
  }

  function print(now) {
    if (now === onPaper) return;
    onPaper = now;
    figures.forEach((figure) => figure.draw());
  }

  // What was drawn before the page's letters had come was measured in others.
  function measureAgain() {
    if (!window.figureSvg) return;
    window.figureSvg.readFont();
    figures.forEach((figure) => figure.draw());
  }

  function startAll() {
    document.querySelectorAll(".figure > :is(.figure-plot, .figure-diagram)").forEach(start);
    document.fonts.ready.then(measureAgain);
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
    matchMedia("print").addEventListener("change", ({ matches }) => print(matches));
  }

  // Where a figure is drawn, and what draws it there along axes.
  const drawnIn = (whole) => whole.querySelector(".figure-plot, .figure-diagram");
  const plotOf = (whole) => figures.find(({ place }) => place.parentElement === whole);

  window.figures = { show, drawnIn, plotOf };
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", startAll);
  } else {
    startAll();
  }
})();
