// What the tests of the explorer of heads do in a page.
"use strict";
window.tried = {
  async until(holds, what) {
    const deadline = performance.now() + 60000;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`${what} did not come within a minute`);
      await new Promise((done) => setTimeout(done, 10));
    }
  },

  // The explorer of this page, when it has measured every head.
  async open(name) {
    await this.until(() => window[name]?.place.dataset.measured, name);
    this.explorer = window[name];
    return "";
  },

  async set(part) {
    await this.explorer.change(part);
    return this.rest();
  },

  async rest() {
    await this.until(() => this.explorer.place.dataset.state === "refused" || this.explorer.place.dataset.measured, "the maps");
    await new Promise((done) => setTimeout(done, 200)); // the address follows
    return "";
  },

  // What it shows of a head: every share, and what stands beside them.
  numbers(head) {
    const { loaded: [view], byChance } = this.explorer;
    const { mapOf, controls, preference } = window.headMeasures;
    const map = mapOf(view, head);
    const control = controls(view, map);
    return JSON.stringify({
      map: map.map((shares) => [...shares]),
      controls: map.map((shares, query) => [...shares.keys()].map((key) => control(query, key))),
      preference: preference(view, head, byChance),
    });
  },

  // What each head adds, as it is read: bars and parts, and how many controls are drawn.
  adds() {
    const { element } = this.explorer.adds;
    const texts = (rows, cells) => [...element.querySelectorAll(rows)].map((row) => [...row.querySelectorAll(cells)].map((cell) => cell.textContent));
    return JSON.stringify({ bars: texts(".explorer-bars > button", ".explorer-name, .explorer-value"), parts: texts(".explorer-parts tr", "th, td"),
      medians: element.querySelectorAll(".explorer-median").length });
  },

  state() {
    const { explorer } = this;
    const text = (selector) => explorer.place.querySelector(selector)?.textContent ?? null;
    return JSON.stringify({
      state: explorer.place.dataset.state, ...explorer.state, title: text(".explorer-title"), words: text(".explorer-words"),
      error: text(".explorer-error"), panels: explorer.large.shown().length, shown: explorer.small.shown?.map(({ name }) => name),
      hash: decodeURIComponent(location.hash), isGrey: explorer.root.classList.contains("explorer-waits"),
    });
  },

  // The middle of what a selector finds, or of a cell of the first map.
  async spot(selector) {
    const element = this.explorer.place.querySelector(selector) ?? document.querySelector(selector);
    element.scrollIntoView({ block: "center", behavior: "instant" });
    await this.frame();
    scrollBy({ top: 1, behavior: "instant" });
    await this.frame();
    const { left, top, width, height } = element.getBoundingClientRect();
    return JSON.stringify([left + width / 2, top + height / 2]);
  },

  async cell(query, key) {
    const [{ planned: { left, top, cell } }] = this.explorer.large.shown();
    await this.spot(".explorer-map");
    const edge = this.explorer.place.querySelector(".explorer-map").getBoundingClientRect();
    return JSON.stringify([edge.left + left + (key + 0.5) * cell, edge.top + top + (query + 0.5) * cell]);
  },

  // The middle of a patch.
  async patch(key) {
    const [{ planned }] = this.explorer.large.shown();
    await this.spot(".explorer-map");
    const edge = this.explorer.place.querySelector(".explorer-map").getBoundingClientRect();
    const [x, y, width, height] = planned.spotOf(key);
    return JSON.stringify([edge.left + x + width / 2, edge.top + y + height / 2]);
  },

  // What stands around the maps, and what of a token's name has become markup.
  around() {
    const { large, place } = this.explorer;
    const svg = new DOMParser().parseFromString(large.svg().text, "image/svg+xml");
    return JSON.stringify({
      notes: [...place.querySelectorAll(".explorer-notes li")].map((it) => it.textContent),
      views: [...large.view.element.children].filter((it) => !it.hidden).map((it) => [it.value, it.ariaPressed]),
      query: large.query.select.selectedOptions[0]?.textContent, names: [...large.query.select.options].map((it) => it.textContent),
      images: svg.querySelectorAll("image").length, lines: svg.querySelectorAll("line").length, isSvg: !svg.querySelector("parsererror"),
      markup: place.querySelectorAll("img, script, b, u").length + svg.querySelectorAll("img, script").length,
    });
  },

  // Chooses heads, layers, tokens and views; gives the longest task since the page began.
  async tour() {
    const { explorer } = this;
    const rest = () => new Promise((done) => setTimeout(done, 60));
    for (let head = 0; head < explorer.names.length; head += 23) {
      explorer.choose(head);
      await rest();
      explorer.large.moveTo({ query: head % explorer.loaded[0].nQueries, key: 3 });
      await rest();
    }
    for (const part of [{ order: "above" }, { order: "all" }, { view: "lines" }, { head: "3.1" }, { view: "map" }, { mode: "first" }]) {
      await this.set(part);
      await rest();
    }
    return JSON.stringify({ shownAt: window.shownAt, longest: Math.max(0, ...window.longTasks) });
  },

  frame: () => new Promise((done) => requestAnimationFrame(() => setTimeout(done))),

  focus(selector) {
    this.explorer.place.querySelector(selector).focus();
    return "";
  },

  // How much of the large map is in the window.
  async inView() {
    await this.frame();
    const { top, bottom } = this.explorer.place.querySelector(".explorer-chosen").getBoundingClientRect();
    const seen = Math.min(bottom, innerHeight) - Math.max(top, 0);
    return String(seen / Math.min(bottom - top, innerHeight));
  },

  // In each theme the least contrast of a small map's largest cell with its ground, and of
  // the numbers in the large map with their cells.
  async contrasts(themes) {
    const { contrast, colours } = window.headDrawing;
    const found = {};
    const copy = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    for (const theme of themes) {
      if (theme) document.documentElement.className = `${theme} js`;
      await this.frame();
      await this.explorer.small.draw();
      const { paper, text } = colours(this.explorer.root);
      let least = Infinity;
      for (const { canvas } of this.explorer.small.heads) {
        Object.assign(copy.canvas, { width: canvas.width, height: canvas.height });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        let most = 0;
        for (let at = 0; at < data.length; at += 4) most = Math.max(most, contrast([...data.slice(at, at + 3)], paper));
        least = Math.min(least, most);
      }
      found[theme] = [least, contrast(text, paper)];
    }
    return JSON.stringify(found);
  },

  async axe() {
    const { violations } = await axe.run(this.explorer.place, { resultTypes: ["violations"] });
    return JSON.stringify(violations.map((rule) => `${rule.help} (${rule.id}): ${rule.nodes.slice(0, 3).map((node) => node.html).join(" ")}`));
  },

  // An explorer of so many random heads on so many tokens, one of them a tag; gives how long
  // the longest task was while it came and while twenty heads were chosen, and those times.
  async large(nTokens, nHeads) {
    const place = document.createElement("div");
    document.querySelector("main").prepend(place);
    const maps = new Float32Array(nHeads * nTokens * nTokens);
    for (let row = 0, seed = 7; row < nHeads * nTokens; row++) {
      let sum = 0;
      for (let at = row * nTokens; at < (row + 1) * nTokens; at++) {
        seed = (seed * 16807) % 2147483647;
        sum += maps[at] = (seed / 2147483647) ** 6;
      }
      for (let at = row * nTokens; at < (row + 1) * nTokens; at++) maps[at] /= sum;
      if (row % 200 === 0) await new Promise((done) => setTimeout(done));
    }
    const pieces = Array.from({ length: nTokens }, (_, i) => (i === 1 ? "<img src=x onerror=alert(1)>" : `token${i}`));
    const text = { pieces, special: pieces.map((_, i) => i === 0), causal: false, maps, one: 1, names: window.headExplorer.byLayer(nHeads / 9, 9) };
    await new Promise((done) => setTimeout(done, 100));
    const tasks = [];
    const watch = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
    watch.observe({ type: "longtask" });
    this.explorer = window.headExplorer.mount(place, window.headExplorer.ready("large", [{ key: "one", name: pieces[1], text }]));
    await this.until(() => place.dataset.measured, "the large explorer");
    const took = [];
    for (let head = 1; head <= 20; head++) {
      const began = performance.now();
      this.explorer.choose(head);
      place.querySelector(".explorer-map").getBoundingClientRect();
      took.push(performance.now() - began);
      await this.frame();
    }
    watch.disconnect();
    const svg = new DOMParser().parseFromString(this.explorer.large.svg().text, "image/svg+xml");
    const images = place.querySelectorAll("img").length + svg.querySelectorAll("img, parsererror").length;
    place.remove();
    return JSON.stringify({ longest: Math.max(0, ...tasks), took: took.sort((a, b) => a - b), images });
  },

  async take() {
    const texts = [...this.explorer.place.querySelectorAll(".explorer-take button")];
    const saved = [];
    for (const button of texts) {
      this.explorer.large.saved = null;
      button.click();
      await this.until(() => this.explorer.large.saved, button.textContent);
      saved.push(this.explorer.large.saved);
    }
    const svg = new DOMParser().parseFromString(this.explorer.large.svg().text, "image/svg+xml");
    return JSON.stringify({ saved, isSvg: !svg.querySelector("parsererror"), texts: svg.querySelectorAll("text").length });
  },
};
