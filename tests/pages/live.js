// What the tests of the live figures do in the page.
"use strict";
window.tried = {
  async open(name) {
    const place = document.getElementById(`live-${name}`);
    place.scrollIntoView({ block: "center", behavior: "instant" });
    await this.until(() => place.dataset.state);
    this.live = window.live.figures.get(place);
    this.place = place;
    // A drawing that is replaced between press and release is not pressed.
    await this.until(() => !this.live.isAsking && !this.live.isWanted);
    return "";
  },

  async until(holds, or = () => "nothing came") {
    // Long enough for a machine on which every test has a browser at once.
    const deadline = performance.now() + 120000;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`${or()} after 120 s`);
      await new Promise((done) => setTimeout(done, 10));
    }
  },

  // Whether a training is under way, in sight or behind what is shown.
  get trains() {
    const { run } = this.live;
    return Boolean(run?.isBehind || run?.isAwaited);
  },

  // The figure's answer to settings, asked of the worker as the page asks.
  async compute(call, settings) {
    const { name, worker, about } = this.live;
    // No training that the page prepares may come between.
    this.live.prepare = () => {};
    await this.until(() => !this.trains);
    const { weights } = about;
    const began = performance.now();
    let last = null;
    await new Promise((done) => {
      window.live.ask(worker, { call, name, settings, weights }, (answer) => {
        last = answer;
        if (answer.done || answer.error !== undefined || answer.broken) done();
      });
    });
    return JSON.stringify({ ...last, waited: performance.now() - began });
  },

  // Also those of a control that is folded, since a hand sets it in the drawing.
  inputs(nth) {
    const { element } = this.live.controls[nth];
    element.closest("details")?.setAttribute("open", "");
    const inputs = [...element.querySelectorAll("input, select, textarea")];
    return inputs.filter((input) => !input.disabled);
  },

  // Puts the keyboard on a part of a control.
  focus(nth, which) {
    const inputs = this.inputs(nth);
    inputs.at(which).scrollIntoView({ block: "center", behavior: "instant" });
    inputs.at(which).focus();
    return "";
  },

  // Where a mouse finds a part of a control, at these fractions of its width and height.
  async spot(nth, which, across, down) {
    if (which === "tip") return this.tip(nth, across);
    return this.reached(this.inputs(nth).at(which), across, down);
  },

  // Scrolls to a part, and says where a mouse finds it.
  async reached(part, across = 0.5, down = 0.5) {
    part.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    const at = await this.settled(part, ({ width, height }) => [across * width, down * height]);
    return JSON.stringify(at);
  },

  // Where a spot of a part is, once it lies still with nothing over it. After a jump upwards
  // mdBook's bar lies in the middle of the page until it is scrolled again.
  async settled(part, spot) {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const place = () => {
      const rect = part.getBoundingClientRect();
      const [x, y] = spot(rect);
      return [rect.left + x, rect.top + y];
    };
    await frame();
    scrollBy({ top: 1, behavior: "instant" });
    let [before, at] = [[NaN, NaN], place()];
    for (let nth = 0; nth < 60; nth += 1) {
      await frame();
      [before, at] = [at, place()];
      const seen = document.elementFromPoint(...at);
      const isFree = part.contains(seen) || seen?.contains(part);
      if (!isFree) scrollBy({ top: nth % 2 ? 1 : -1, behavior: "instant" });
      else if (Math.hypot(at[0] - before[0], at[1] - before[1]) < 0.1) break;
    }
    return at;
  },

  // A place of a chart that sets something else than is set, if there is one: what it sets,
  // and where a mouse finds it.
  async pressable() {
    const { live } = this;
    const plot = window.figures.plotOf(live.figure);
    const settings = live.settings();
    const sets = (pick) => [...new URLSearchParams(pick)];
    const isOther = ({ pick }) => pick && sets(pick).every(([key, text]) => settings[key] !== text);
    const box = plot?.told.find(isOther);
    if (!box) return "null";
    await this.reached(plot.place);
    const spot = await this.settled(plot.place, () => [box.x + box.width / 2, box.y + box.height / 2]);
    return JSON.stringify({ sets: Object.fromEntries(sets(box.pick)), spot });
  },

  // Where the tip of an arrow is in the figure, and `apart` pixels to its right.
  async tip(nth, apart) {
    const svg = [...this.place.querySelectorAll("svg[data-plane]")].find((it) => it.clientWidth);
    await this.reached(svg);
    const [x, y, unit] = svg.dataset.plane.split(" ").map(Number);
    const [px, py] = this.live.controls[nth].at();
    const { left, top, width } = svg.getBoundingClientRect();
    const scale = width / svg.viewBox.baseVal.width;
    return JSON.stringify([left + (x + px * unit) * scale + apart, top + (y - py * unit) * scale]);
  },

  // What the edges of the figure's areas set, and where the one of a setting is, `apart`
  // pixels to its right, or above it.
  edges() {
    const edges = [...this.place.querySelectorAll("[data-drag]")];
    return JSON.stringify([...new Set(edges.map((it) => it.dataset.drag.split(" ")[0]))]);
  },

  async edge(key, apart) {
    const edges = [...this.place.querySelectorAll(`[data-drag^="${key} "]`)];
    const seen = edges.find((it) => it.getBoundingClientRect().width);
    const [x, y] = JSON.parse(await this.reached(seen));
    return JSON.stringify(seen.dataset.axis === "y" ? [x, y - apart] : [x + apart, y]);
  },

  // A cell of a map that is painted, if there is one.
  isPainted() {
    return !!this.place.querySelector("[data-paint]");
  },

  cell() {
    return this.reached(this.place.querySelector("[data-paint]"));
  },

  // What is dragged over places side by side: its settings, and where each begins and ends.
  keys() {
    const parts = [...this.place.querySelectorAll("[data-places] [data-pick]")];
    return JSON.stringify([...new Set(parts.map((part) => part.dataset.pick.split("=")[0]))]);
  },

  places(key) {
    const parts = [...this.place.querySelectorAll(`[data-places] [data-pick^="${key}="]`)];
    return parts.filter((part) => part.getBoundingClientRect().width);
  },

  button(text) {
    const buttons = [...this.live.buttons.querySelectorAll("button")];
    const button = buttons.find((it) => it.textContent === text);
    button.focus();
    return this.reached(button);
  },

  // How high the figure is from its question to the last control, in pixels.
  height() {
    const edges = [".live-questions", ".live-controls", ".figure-plot, .figure-diagram"]
      .map((part) => this.place.querySelector(part).getBoundingClientRect());
    return String(Math.max(...edges.map((it) => it.bottom)) - edges[0].top);
  },

  // Asks for the answer to each question, and gives what is not found then.
  async answers() {
    const { place, live } = this;
    const { questions } = live.about;
    const problems = [];
    const buttons = () => [...place.querySelectorAll(".live-turns button")];
    for (const { ask } of questions) {
      const found = place.querySelector(".live-found");
      if (!live.isSet() && found.textContent) problems.push(`found without a move: ${ask}`);
      buttons()[1].click();
      await this.state();
      if (!found.textContent.startsWith("Found: ")) problems.push(`not found by its answer: ${ask}`);
      if (questions.length > 1) buttons()[0].click();
      await this.state();
    }
    return JSON.stringify(problems);
  },

  // Plays what can be played: it moves by itself, pauses, and stops at its end.
  async plays() {
    const { place } = this;
    const problems = [];
    const button = place.querySelector(".live-play");
    const slider = button.parentElement.querySelector('input[type="range"]');
    const says = (word) => button.getAttribute("aria-label").startsWith(word);
    slider.value = slider.min;
    slider.dispatchEvent(new Event("input"));
    await this.state();
    button.click();
    const first = slider.value;
    const enough = Math.min(3, (slider.max - slider.min) / 2); // well before its end
    let moved = 0;
    await this.until(() => {
      moved = Math.max(moved, document.getAnimations().length);
      return Number(slider.value) >= Number(first) + enough;
    });
    if (place.querySelector("[data-key]") && !moved) problems.push("it plays, and nothing glides");
    if (!says("Pause")) problems.push("it plays, and its button does not pause");
    button.click();
    const paused = slider.value;
    await new Promise((done) => setTimeout(done, 2000));
    if (slider.value !== paused || !says("Play")) problems.push("it does not pause");
    slider.value = Number(slider.max) - 1;
    slider.dispatchEvent(new Event("input"));
    button.click();
    await this.until(() => slider.value === slider.max);
    if (!says("Play")) problems.push("it does not stop at its end");
    await this.state();
    return JSON.stringify(problems);
  },

  // When nothing is under way: what the controls say, and what the figure shows.
  async state() {
    await new Promise((done) => setTimeout(done, 30));
    const { live, place } = this;
    await this.until(
      () => !live.isAsking && !live.isWanted && !this.trains,
      () => `${live.name} still ${this.trains ? "trains" : "computes"}`,
    );
    await new Promise((done) => setTimeout(done, 250)); // the address follows
    return JSON.stringify({
      state: place.dataset.state,
      settings: live.settings(),
      shown: live.shown ?? null,
      words: place.querySelector(".live-words").textContent,
      error: place.querySelector(".live-error").textContent,
      caption: place.querySelector("figcaption").textContent,
      address: location.search,
      isDrawn: !!place.querySelector(".figure-plot svg, .figure-diagram svg"),
    });
  },
};
