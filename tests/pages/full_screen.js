// What a test sees of a figure on the whole screen.
"use strict";
window.fullScreen = {
  async until(test) {
    for (let n = 0; n < 200; n += 1) {
      if (test()) return;
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`waited in vain: ${test}`);
  },

  // As it stands in the page.
  async ready(selector) {
    this.place = document.querySelector(selector);
    this.figure = this.place.matches("figure") ? this.place : this.place.querySelector("figure");
    this.place.scrollIntoView({ block: "center", behavior: "instant" });
    if (this.place.dataset.live) await this.until(() => this.place.dataset.state === "shown");
    return this.state();
  },

  spot(part) {
    part.scrollIntoView({ block: "nearest", behavior: "instant" });
    const { left, top, width, height } = part.getBoundingClientRect();
    return JSON.stringify([left + width / 2, top + height / 2]);
  },

  button() {
    return this.spot(this.figure.querySelector(":scope > .figure-full"));
  },

  slider() {
    const slider = this.place.querySelector("input[type=range]");
    slider.closest("details")?.setAttribute("open", "");
    return this.spot(slider);
  },

  state() {
    const drawing = this.figure.querySelector(".figure-plot, .figure-diagram").getBoundingClientRect();
    const title = this.figure.querySelector("figcaption");
    const line = document.createRange();
    line.selectNodeContents(title);
    const settings = [...this.place.querySelectorAll("input, select")].map((it) => (it.type === "checkbox" ? it.checked : it.value));
    return JSON.stringify({
      area: drawing.width * drawing.height,
      title: line.getClientRects()[0].height,
      says: this.place.querySelector(".live-words")?.textContent,
      settings,
      page: location.pathname,
    });
  },

  async entered() {
    await this.until(() => document.fullscreenElement);
    await new Promise((done) => setTimeout(done, 400));
    const whole = document.fullscreenElement;
    const { left, top, right, bottom } = whole.getBoundingClientRect();
    const faults = [];
    const expect = (holds, what) => holds || faults.push(what);
    expect(whole === this.place, "another part is shown");
    expect(left <= 0 && top <= 0 && right >= innerWidth && bottom >= innerHeight, `it ends at ${right} × ${bottom}`);
    expect(whole.scrollHeight <= whole.clientHeight + 1, `it is ${whole.scrollHeight} high`);
    expect(whole.scrollWidth <= whole.clientWidth + 1, `it is ${whole.scrollWidth} wide`);
    const axe = await window.axe.run(whole, { resultTypes: ["violations"] });
    for (const { id, nodes } of axe.violations) faults.push(`axe: ${id} at ${nodes[0].html}`);
    return JSON.stringify({ ...JSON.parse(this.state()), faults });
  },

  async moved() {
    await new Promise((done) => setTimeout(done, 200));
    await this.until(() => this.place.dataset.state === "shown");
    return this.state();
  },

  async left() {
    await this.until(() => !document.fullscreenElement);
    await new Promise((done) => setTimeout(done, 400));
    return this.state();
  },

  // What lies over the button, or under it.
  covered() {
    const faults = [];
    const button = this.figure.querySelector(":scope > .figure-full");
    this.spot(button);
    const { left, top, right, bottom, height } = button.getBoundingClientRect();
    if (height < 24) faults.push(`the button is ${height} high`);
    if (right > innerWidth) faults.push(`the button ends at ${right}`);
    const parts = [...this.place.querySelectorAll("summary, svg, button, input, select, .live-words")];
    for (const part of parts.filter((it) => it !== button && it.checkVisibility())) {
      const of = part.getBoundingClientRect();
      const isApart = of.right <= left + 1 || of.left >= right - 1 || of.bottom <= top + 1 || of.top >= bottom - 1;
      if (!isApart && of.width) faults.push(`the button meets ${part.tagName} ${part.className}`);
    }
    return JSON.stringify(faults);
  },
};
