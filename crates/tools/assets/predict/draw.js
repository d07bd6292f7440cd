// A figure that its reader draws first: one mark of it, bars or the points of a line, is hidden
// until then. Afterwards the true one stands there, with the reader's as a ghost.
"use strict";
(() => {
  const { name } = window.figureAxes;
  const { progress } = window;
  const STEPS = 50; // of an arrow key, from one end of the axis to the other

  class Drawing {
    constructor(place) {
      this.place = place;
      this.figure = place.querySelector("figure.figure");
      this.plot = window.figures.plotOf(this.figure);
      this.drawing = this.figure.querySelector(".figure-plot");
      this.label = this.drawing.getAttribute("aria-label");
      this.spec = this.plot.spec;
      this.nth = this.spec.marks.findIndex((mark) => mark.name === place.dataset.mark);
      this.mark = this.spec.marks[this.nth];
      this.key = this.mark.kind === "bars" ? "sizes" : "y";
      const { x, y } = this.spec.wide.panels[this.mark.panel ?? 0];
      [this.across, [this.least, this.most]] = [x, [...y.range].sort((a, b) => a - b)];
      this.truth = this.mark[this.key];
      this.says = place.querySelector("[role=status]");
      [this.show, this.give] = ["show", "give"].map((it) => place.querySelector(`[data-${it}]`));
      this.show.addEventListener("click", () => (this.isShown ? this.cover() : this.reveal(true)));
      this.give.addEventListener("click", () => this.reveal(false));
      this.addHandles();
      this.plot.drawn = () => this.lay();
      const isOver = progress.all()[`draw ${place.dataset.draw}`] || location.pathname.endsWith("/print.html");
      if (isOver) this.uncover();
      else this.cover();
      addEventListener("beforeprint", () => this.isShown || this.uncover());
    }

    // ---- Handles: a slider for each value, reached by keys; the pointer draws across all.

    addHandles() {
      this.over = document.createElement("div");
      this.over.className = "draw-over";
      this.over.setAttribute("role", "group");
      this.over.setAttribute("aria-label", `Draw your guess for ${this.plain(this.mark.name)}`);
      this.handles = this.truth.map((_, nth) => this.handle(nth));
      this.over.append(...this.handles);
      this.figure.append(this.over);
      let last = null;
      const move = ({ clientX, clientY }) => {
        const [x, y] = window.figureTip.within(this.over, clientX, clientY);
        const now = [this.nearest(x), this.valueAt(y)];
        this.stroke(last ?? now, now);
        last = now;
      };
      this.over.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        event.preventDefault();
        this.over.setPointerCapture(event.pointerId);
        last = null;
        move(event);
        this.handles[last[0]].focus({ preventScroll: true });
        this.over.addEventListener("pointermove", move);
      });
      const end = () => this.over.removeEventListener("pointermove", move);
      for (const type of ["pointerup", "pointercancel"]) this.over.addEventListener(type, end);
    }

    handle(nth) {
      const step = (this.most - this.least) / STEPS;
      const made = Object.assign(document.createElement("input"), { type: "range", min: this.least, max: this.most, step: "any" });
      made.setAttribute("aria-label", this.nameOf(nth));
      made.tabIndex = nth ? -1 : 0;
      made.addEventListener("keydown", (event) => {
        const up = { ArrowUp: 1, ArrowDown: -1, PageUp: 5, PageDown: -5 }[event.key];
        const aside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!up && !aside) return;
        event.preventDefault();
        event.stopPropagation(); // mdBook turns the page at an arrow key
        if (up) this.set(nth, this.values[nth] + up * step);
        else this.handles[nth + aside]?.focus();
      });
      made.addEventListener("input", () => this.set(nth, Number(made.value)));
      made.addEventListener("focus", () => this.handles.forEach((it) => (it.tabIndex = it === made ? 0 : -1)));
      return made;
    }

    // From one value to another, and those between.
    stroke([from, a], [to, b]) {
      const n = Math.abs(to - from);
      for (let nth = 0; nth <= n; nth += 1) {
        this.values[from + Math.sign(to - from) * nth] = this.within(n ? a + ((b - a) * nth) / n : b);
      }
      this.redraw();
    }

    set(nth, value) {
      this.values[nth] = this.within(value);
      this.redraw();
    }

    within(value) {
      return Math.min(Math.max(value, this.least), this.most);
    }

    redraw() {
      this.show.disabled = false;
      this.give.hidden = true;
      this.plot.change(this.with(this.values));
    }

    // ---- Where things are in the drawing.

    panel() {
      return this.plot.panels[this.mark.panel ?? 0];
    }

    placeOf(nth) {
      const { spec, panels } = this.plot;
      if (this.key === "y") return this.panel().x(this.mark.x[nth]);
      const bars = spec.marks.filter((it) => it.kind === "bars" && (it.panel ?? 0) === (this.mark.panel ?? 0));
      const { start, thick } = panels[this.mark.panel ?? 0].places.get(spec.marks)[bars.indexOf(spec.marks[this.nth])];
      return this.panel().x(this.mark.places[nth] + start + thick / 2);
    }

    nearest(x) {
      const apart = this.truth.map((_, nth) => Math.abs(this.placeOf(nth) - x));
      return apart.indexOf(Math.min(...apart));
    }

    valueAt(y) {
      const [low, high] = [this.least, this.most].map(this.panel().y);
      return this.within(this.least + ((y - low) / (high - low)) * (this.most - this.least));
    }

    // Lays the handles over what is drawn now.
    lay() {
      if (this.isShown || !this.values) return;
      this.over.style.top = `${this.drawing.offsetTop}px`;
      this.over.style.height = `${this.drawing.clientHeight}px`;
      this.handles.forEach((it, nth) => {
        it.style.left = `${this.placeOf(nth)}px`;
        it.style.top = `${this.panel().y(this.values[nth])}px`;
        it.value = this.values[nth];
        it.setAttribute("aria-valuetext", this.number(this.values[nth]));
      });
    }

    // The figure with these values in its mark, which then tells nothing by itself.
    with(values) {
      const mark = { ...this.mark, [this.key]: [...values], told: null, pattern: undefined, texts: undefined, has_texts: false };
      return { ...this.spec, marks: this.spec.marks.map((it, nth) => (nth === this.nth ? mark : it)) };
    }

    // The reader's mark alone, where it stood among the others.
    ghost() {
      const none = (it) => ({ ...it, [it.kind === "bars" ? "sizes" : "y"]: [] });
      return this.with(this.values).marks.map((it, nth) => (nth === this.nth ? it : none(it)));
    }

    // ---- Covered, and shown.

    cover() {
      this.isShown = false;
      const isShare = this.key === "sizes" && this.truth.every((it) => it >= 0 && it <= 1);
      const start = isShare ? 1 / this.truth.length : this.least < 0 ? 0 : (this.least + this.most) / 2;
      this.values = this.truth.map(() => start);
      this.place.dataset.state = "covered";
      this.drawing.setAttribute("aria-label", `Axes on which you draw your guess for ${this.plain(this.mark.name)}`);
      [this.show.textContent, this.show.disabled, this.give.hidden] = ["Show", true, false];
      this.says.textContent = "";
      this.plot.change(this.with(this.values));
    }

    reveal(isGuessed) {
      if (isGuessed) this.says.textContent = this.compared();
      progress.note("draw", this.place.dataset.draw, isGuessed ? "drawn" : "shown");
      this.uncover(isGuessed ? this.ghost() : undefined);
      this.show.focus();
    }

    uncover(ghost) {
      this.isShown = true;
      this.place.dataset.state = "shown";
      this.drawing.setAttribute("aria-label", this.label);
      [this.show.textContent, this.show.disabled, this.give.hidden] = ["Draw it again", false, true];
      this.plot.change(this.spec, ghost);
    }

    compared() {
      const off = this.truth.map((it, nth) => Math.abs(it - this.values[nth]));
      const nth = off.indexOf(Math.max(...off));
      const mean = off.reduce((a, b) => a + b, 0) / off.length;
      const [yours, is] = [this.values[nth], this.truth[nth]].map((it) => this.number(it));
      return `You were within ${this.number(mean)} on average. Your largest miss was ${this.number(off[nth])}, at ${this.nameOf(nth)}: you drew ${yours}, but it is ${is}.`;
    }

    // With the digits that a reader can draw.
    number(value) {
      return value.toFixed(Math.max(0, Math.ceil(1.6 - Math.log10(this.most - this.least)))).replace("-", "−");
    }

    nameOf(nth) {
      const at = this.key === "y" ? this.mark.x[nth] : this.mark.places[nth];
      const found = this.plain(name(this.across, at));
      return this.across.title ? `${found} (${this.plain(this.across.title)})` : `“${found}”`;
    }

    plain(html) {
      return html.replace(/<[^>]*>/g, "");
    }
  }

  const start = () => document.querySelectorAll("[data-draw]").forEach((place) => new Drawing(place));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
