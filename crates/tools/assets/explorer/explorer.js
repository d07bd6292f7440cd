// One explorer of heads, wherever heads are shown: all of them small, the chosen one large.
//
//   headExplorer.mount(place, source)
//
// A source is { id, texts: [{ key, name }], modes: [[key, name]], load, beside, first }:
// `load(text, mode)` gives a promise of { text, isWithoutFirst }, whose text is as
// measures.js has it. With `beside`, two texts can be compared. `first` is what is shown
// before the address or a reader says something else.
"use strict";
window.headExplorer = (() => {
  const [measures, words] = [window.headMeasures, window.headWords];
  const { PREFERS, SHORT, share, element } = words;
  const { colours, paint, canvasPen, views } = window.headDrawing;

  const AT_ONCE = 6; // milliseconds of drawing, before the page is heard
  const ORDERS = [["all", "All, by layer"], ["above", "All, most above chance first"],
    ...Object.entries(PREFERS).map(([key, words]) => [key, `Prefer ${words}`]), ["spread", "Prefer none"]];
  const DIFFER = ["differ", "All, largest difference first"];

  function choice(label, options, changed) {
    const select = element("select");
    select.addEventListener("change", () => changed(select.value));
    const made = element("label", {}, element("span", {}, label), select);
    const fill = (list) => select.replaceChildren(...list.map(([value, text]) => element("option", { value }, text)));
    fill(options);
    return { element: made, select, fill };
  }

  function buttons(label, options, changed) {
    const made = element("div", { className: "explorer-choice" });
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", label);
    for (const [key, text] of options) {
      const button = element("button", { type: "button", value: key }, text);
      button.addEventListener("click", () => changed(key));
      made.append(button);
    }
    const press = (key) => [...made.children].forEach((button) => button.setAttribute("aria-pressed", String(button.value === key)));
    return { element: made, press };
  }

  class Explorer {
    constructor(place, source) {
      this.place = place;
      this.source = source;
      this.cursor = null;
      this.state = { text: source.texts[0].key, beside: "", mode: source.modes[0][0], order: "all", head: "", view: "map", ...source.first };
      this.build();
      const isAddressed = this.readAddress();
      addEventListener("hashchange", () => this.readAddress() && this.load());
      this.ready = this.load().then(() => isAddressed && this.root.scrollIntoView());
    }

    // ---- What stands on the page.

    build() {
      const { source } = this;
      const texts = source.texts.map(({ key, name }) => [key, name]);
      this.text = choice("Sentence", texts, (key) => this.change({ text: key }));
      this.beside = choice("Beside it", [["", "nothing"], ...texts], (key) => this.change({ beside: key }));
      this.mode = buttons("Which keys a token sees", source.modes, (key) => this.change({ mode: key }));
      this.view = buttons("How the chosen head is drawn", [["map", "Map"], ["lines", "Lines"]], (key) => this.change({ view: key }));
      this.order = choice("Heads", ORDERS, (key) => this.change({ order: key }));
      const controls = element("div", { className: "explorer-controls" });
      if (texts.length > 1) controls.append(this.text.element);
      if (source.beside) controls.append(this.beside.element);
      controls.append(this.mode.element);

      this.grid = element("div", { className: "explorer-grid" });
      this.grid.setAttribute("role", "group");
      this.grid.setAttribute("aria-label", "All heads: the arrow keys move between them");
      this.grid.addEventListener("keydown", (event) => this.moveHead(event));
      this.note = element("p", { className: "explorer-note" });
      const glance = element("div", { className: "explorer-glance" }, this.order.element, this.grid, this.note);

      this.title = element("div", { className: "explorer-title" });
      this.about = element("p", { className: "explorer-about" });
      this.panels = element("div", { className: "explorer-panels" });
      this.words = element("output", { className: "explorer-words" });
      this.words.setAttribute("aria-live", "polite");
      this.error = element("p", { className: "explorer-error" });
      this.error.setAttribute("role", "alert");
      const take = (name, run) => {
        const button = element("button", { type: "button" }, name);
        button.addEventListener("click", run);
        return button;
      };
      this.strongest = element("details", { className: "explorer-strongest" }, element("summary", {}, "Each query's strongest key, as a table"));
      this.strongest.addEventListener("toggle", () => this.fillStrongest());
      this.chosen = element("div", { className: "explorer-chosen" },
        element("div", { className: "explorer-head" }, this.title, this.view.element), this.about, this.panels, this.words,
        element("div", { className: "explorer-take" }, take("Save as SVG", () => this.save("svg")), take("Save as PNG", () => this.save("png"))),
        this.strongest);
      this.body = element("div", { className: "explorer-body" }, glance, this.chosen);
      this.root = element("div", { className: "explorer" }, controls, this.error, this.body);
      // mdBook leafs at an arrow key, which here moves through heads and cells.
      this.root.addEventListener("keydown", (event) => event.stopPropagation());
      this.place.replaceChildren(this.root);
      // A theme that is chosen changes every colour; a width every size.
      new MutationObserver(() => this.redraw()).observe(document.documentElement, { attributeFilter: ["class"] });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
      new ResizeObserver(() => this.panels.clientWidth !== this.drawnWidth && this.drawChosen()).observe(this.panels);
    }

    // ---- State, and its address: #id:text=…&head=….

    change(part) {
      Object.assign(this.state, part);
      this.writeAddress();
      const isNew = "text" in part || "beside" in part || "mode" in part;
      if (isNew) return this.load();
      if ("order" in part) this.arrange();
      if ("head" in part) this.pressHead();
      this.press();
      return this.drawChosen();
    }

    writeAddress() {
      clearTimeout(this.writing);
      const fields = Object.entries(this.state).filter(([, value]) => value);
      const hash = `#${this.source.id}:${new URLSearchParams(fields)}`;
      // Browsers refuse more than some changes a second.
      this.writing = setTimeout(() => history.replaceState(null, "", location.pathname + location.search + hash), 150);
    }

    readAddress() {
      const begin = `#${this.source.id}:`;
      if (!location.hash.startsWith(begin)) return false;
      const found = Object.fromEntries(new URLSearchParams(location.hash.slice(begin.length)));
      const known = { text: this.source.texts.map(({ key }) => key), mode: this.source.modes.map(([key]) => key),
        order: [...ORDERS, DIFFER].map(([key]) => key), view: Object.keys(views) };
      known.beside = this.source.beside ? [...known.text, ""] : [""];
      for (const key of Object.keys(this.state)) {
        if (key in found && (!known[key] || known[key].includes(found[key]))) this.state[key] = found[key];
      }
      return true;
    }

    press() {
      const { state } = this;
      this.text.select.value = state.text;
      this.beside.select.value = state.beside;
      this.order.select.value = state.order;
      this.mode.press(state.mode);
      this.view.press(state.view);
    }

    // ---- Texts: what was on the page before is greyed until the new one is there.

    async load() {
      const { state, source } = this;
      this.press();
      const wanted = JSON.stringify([state.text, state.beside, state.mode]);
      this.wanted = wanted;
      this.root.classList.add("explorer-waits");
      this.place.dataset.state = "waiting";
      try {
        const keys = [state.text, state.beside].filter(Boolean);
        const loaded = await Promise.all(keys.map((key) => source.load(key, state.mode)));
        if (this.wanted !== wanted) return;
        this.error.textContent = "";
        this.loaded = loaded.map(({ text, isWithoutFirst }) => measures.viewOf(text, isWithoutFirst));
        await this.show();
      } catch (problem) {
        if (this.wanted === wanted) this.refuse(problem.message);
      }
    }

    // What was shown is not what was asked for.
    refuse(said) {
      this.loaded = null;
      this.body.hidden = true;
      this.error.textContent = said;
      this.root.classList.remove("explorer-waits");
      this.place.dataset.state = "refused";
    }

    // What is shown is of something else than what is asked for now.
    grey() {
      this.root.classList.add("explorer-waits");
    }

    // One more text, which is shown at once, by itself.
    add(text) {
      this.source.texts.push(text);
      const texts = this.source.texts.map(({ key, name }) => [key, name]);
      this.text.fill(texts);
      this.beside.fill([["", "nothing"], ...texts]);
      return this.change({ text: text.key, beside: "" });
    }

    async show() {
      const [view, other] = this.loaded;
      if (!view.n || !view.nHeads) throw new Error("there is no token, or no head");
      if (other && other.nHeads !== view.nHeads) throw new Error("the two sentences are of models with different heads");
      this.isCompared = other?.n === view.n;
      this.names = view.text.names;
      this.byChance = measures.chance(view);
      if (!this.names.includes(this.state.head)) this.state.head = this.names[0];
      this.cursor = null;
      this.body.hidden = false;
      this.order.fill(this.isCompared ? [...ORDERS, DIFFER] : ORDERS);
      if (this.state.order === "differ" && !this.isCompared) this.state.order = "all";
      this.press();
      this.makeButtons();
      this.drawChosen();
      this.root.classList.remove("explorer-waits");
      this.place.dataset.state = "shown";
      await this.measure();
    }

    redraw() {
      if (!this.loaded) return;
      this.drawChosen();
      this.drawSmall();
    }

    // ---- All heads, small.

    makeButtons() {
      const [{ n }] = this.loaded;
      this.heads = this.names.map((name, head) => {
        const canvas = element("canvas", { width: n, height: n });
        const word = element("span", { className: "explorer-word" });
        const button = element("button", { type: "button", tabIndex: -1 }, canvas, element("span", { className: "explorer-name" }, name), " ", word);
        button.addEventListener("click", () => {
          this.choose(head);
          // On a phone the chosen head lies below.
          const { top, bottom } = this.chosen.getBoundingClientRect();
          if (top > innerHeight * 0.6 || bottom < 80) this.chosen.scrollIntoView({ block: "start" });
        });
        return { head, name, button, canvas, word };
      });
      this.arrange();
    }

    // Measures head by head, so that no more than a few milliseconds are taken at once, and
    // draws each as it goes.
    async measure() {
      const { loaded } = this;
      const [view, other] = loaded;
      const isOf = () => this.loaded === loaded;
      if (this.isCompared) {
        const numbers = new Float64Array(view.n ** 2);
        const isAll = await this.chunks((it) => (it.differs = measures.fill(numbers, view, other, it.head)), isOf);
        if (!isAll) return;
      }
      if (!(await this.drawSmall(isOf))) return;
      await this.chunks((it) => {
        it.prefers = measures.preference(view, it.head, this.byChance);
        const { name, share: part, chance } = it.prefers;
        it.word.textContent = this.isCompared ? share(it.differs) : SHORT[name];
        const preference = name === "spread" ? "prefers none" : `prefers ${PREFERS[name]}, ${share(part)}, by chance ${share(chance)}`;
        const differs = this.isCompared ? `; largest difference ${share(it.differs)}` : "";
        it.button.title = `Head ${it.name}: ${preference}${differs}`;
      }, isOf);
      if (!isOf()) return;
      this.arrange();
      this.describe();
      this.place.dataset.measured = "yes";
    }

    async chunks(each, isOf) {
      delete this.place.dataset.measured;
      let began = performance.now();
      for (const it of this.heads) {
        each(it);
        if (performance.now() - began < AT_ONCE) continue;
        await new Promise((done) => setTimeout(done));
        if (!isOf()) return false;
        began = performance.now();
      }
      return true;
    }

    // Each on a scale of its own, so that its largest share is in full ink; differences on
    // one scale for all heads.
    drawSmall(isOf = () => true) {
      const [view, other] = this.loaded;
      const compared = this.isCompared ? other : null;
      const ink = colours(this.root);
      const scaleOfAll = Math.max(...this.heads.map(({ differs }) => differs ?? 0));
      const { n } = view;
      const numbers = new Float64Array(n * n);
      return this.chunks(({ head, canvas }) => {
        const most = measures.fill(numbers, view, compared, head);
        paint(canvas.getContext("2d"), n, numbers, ink, compared ? scaleOfAll : most);
      }, isOf);
    }

    // Which heads are shown, and in which order.
    arrange() {
      const { order } = this.state;
      const above = (it) => it.prefers?.above ?? 0;
      let shown = [...this.heads];
      if (order === "above") shown.sort((a, b) => above(b) - above(a));
      else if (order === "differ") shown.sort((a, b) => (b.differs ?? 0) - (a.differs ?? 0));
      else if (order !== "all") shown = shown.filter((it) => it.prefers?.name === order).sort((a, b) => above(b) - above(a));
      this.shown = shown;
      const isAsBefore = shown.length === this.grid.children.length && shown.every(({ button }, i) => button === this.grid.children[i]);
      if (!isAsBefore) this.grid.replaceChildren(...shown.map(({ button }) => button));
      const scale = this.isCompared
        ? "Blue: more in the first sentence; orange: more in the second. One scale for all small maps."
        : "Full colour is a small map's own largest share; in the large map it is 1.";
      this.note.textContent = `${shown.length} of ${this.heads.length} heads. ${scale}`;
      this.pressHead();
    }

    pressHead() {
      const { head } = this.state;
      const isShown = this.shown.some(({ name }) => name === head);
      this.heads.forEach(({ button, name }) => {
        button.setAttribute("aria-pressed", String(name === head));
        button.tabIndex = name === head || (!isShown && name === this.shown[0]?.name) ? 0 : -1;
      });
    }

    choose(head) {
      this.state.head = this.names[head];
      this.writeAddress();
      this.pressHead();
      this.drawChosen();
    }

    moveHead(event) {
      const buttons = this.shown.map(({ button }) => button);
      const at = buttons.indexOf(event.target);
      const perRow = buttons.filter((button) => button.offsetTop === buttons[0].offsetTop).length;
      const move = { ArrowUp: -perRow, ArrowDown: perRow, ArrowLeft: -1, ArrowRight: 1, Home: -at, End: buttons.length - 1 - at }[event.key];
      if (at < 0 || move === undefined) return;
      event.preventDefault();
      const next = this.shown[at + move];
      if (!next) return;
      this.choose(next.head);
      next.button.focus();
    }

    // ---- One head, large.

    drawChosen() {
      if (!this.loaded) return;
      const head = this.names.indexOf(this.state.head);
      this.maps = this.loaded.map((view) => measures.mapOf(view, head));
      this.controls = this.loaded.map((view, i) => measures.controls(view, this.maps[i]));
      this.title.textContent = `Head ${this.state.head}`;
      this.describe();
      this.drawnWidth = this.panels.clientWidth;
      this.panels.replaceChildren(...this.panelList().map((panel) => this.panel(panel)));
      this.mark();
      if (this.strongest.open) this.fillStrongest();
    }

    // The maps that are shown of the head: one, or two and their difference.
    panelList() {
      const name = (key) => this.source.texts.find((text) => text.key === key)?.name ?? "";
      const of = ({ text }, map, caption) => ({ caption, queries: text.pieces, keys: text.pieces, special: text.special, map, most: 1 });
      const [view, other] = this.loaded;
      if (!other) return [of(view, this.maps[0], "")];
      const panels = [of(view, this.maps[0], name(this.state.text)), of(other, this.maps[1], name(this.state.beside))];
      if (!this.isCompared) return panels;
      const map = this.maps[0].map((shares, query) => shares.map((number, key) => number - this.maps[1][query][key]));
      const pieces = view.text.pieces.map((piece, i) => (piece === other.text.pieces[i] ? piece : `${piece} | ${other.text.pieces[i]}`));
      return [...panels, { ...of(view, map, "The first less the second"), queries: pieces, keys: pieces, isDifference: true }];
    }

    panel(panel) {
      const isNarrow = this.loaded.length > 1 && !panel.isDifference && this.drawnWidth >= 420;
      const width = Math.max(isNarrow ? (this.drawnWidth - 12) / 2 : this.drawnWidth, 120);
      const { plan, draw } = views[this.state.view];
      const planned = plan(panel, width);
      const [base, over] = [0, 1].map(() => this.canvas(planned));
      draw(canvasPen(base.context), panel, planned, colours(this.root));
      const frame = element("div", { className: "explorer-map", tabIndex: 0 }, base.canvas, over.canvas);
      frame.setAttribute("role", "application");
      frame.setAttribute("aria-roledescription", "attention map");
      frame.setAttribute("aria-label", `Head ${this.state.head}${panel.caption && `, ${panel.caption}`}: ` +
        `${panel.queries.length} queries by ${panel.keys.length} keys. The arrow keys move through its cells.`);
      Object.assign(frame.style, { width: `${planned.width}px`, height: `${planned.height}px` });
      const under = (event) => {
        const { left, top } = frame.getBoundingClientRect();
        return planned.hit(event.clientX - left, event.clientY - top);
      };
      frame.addEventListener("pointermove", (event) => this.moveTo(under(event), panel));
      frame.addEventListener("pointerdown", (event) => this.moveTo(under(event), panel));
      frame.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.moveTo(null, panel));
      frame.addEventListener("keydown", (event) => this.moveCell(event, panel));
      Object.assign(panel, { over, planned });
      (this.drawn ??= new Map()).set(frame, panel);
      const caption = element("figcaption", {}, panel.caption);
      const made = element("figure", { className: "explorer-panel" }, ...(panel.caption ? [caption] : []), frame);
      made.style.width = `${width}px`;
      return made;
    }

    canvas({ width, height }) {
      const dots = Math.min(window.devicePixelRatio || 1, 2);
      const canvas = element("canvas", { width: Math.ceil(width * dots), height: Math.ceil(height * dots) });
      Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
      const context = canvas.getContext("2d");
      context.scale(dots, dots);
      return { canvas, context };
    }

    shownPanels() {
      return [...this.panels.querySelectorAll(".explorer-map")].map((frame) => this.drawn.get(frame));
    }

    moveTo(cursor, panel) {
      if (cursor?.query === this.cursor?.query && cursor?.key === this.cursor?.key) return;
      this.cursor = cursor;
      this.asked = panel;
      this.mark();
    }

    moveCell(event, panel) {
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (event.key === "Escape") return this.moveTo(null, panel);
      if (!move) return undefined;
      event.preventDefault();
      const within = (at, n) => Math.min(Math.max(at, 0), n - 1);
      const { query, key } = this.cursor ?? {};
      const next = this.cursor ? { query: (query ?? 0) + move[0], key: (key ?? 0) + move[1] } : { query: 0, key: 0 };
      return this.moveTo({ query: within(next.query, panel.queries.length), key: within(next.key, panel.keys.length) }, panel);
    }

    // Lights the row and the column, and says their numbers.
    mark() {
      const ink = colours(this.root);
      const { mark } = views[this.state.view];
      for (const panel of this.shownPanels()) {
        const { over, planned } = panel;
        over.context.clearRect(0, 0, planned.width, planned.height);
        if (this.cursor) mark(canvasPen(over.context), panel, planned, ink, this.cursor);
      }
      const { loaded, maps, controls, isCompared } = this;
      this.words.textContent = this.cursor ? words.told({ loaded, maps, controls, isCompared }, this.cursor) : words.hint(this.state.view);
    }

    // ---- In words, and to take away.

    describe() {
      const prefers = this.heads.find(({ name }) => name === this.state.head)?.prefers;
      this.about.textContent = words.described(this.loaded[0], this.maps[0], this.controls[0], prefers);
    }

    fillStrongest() {
      if (!this.strongest.open || !this.loaded) return;
      const table = words.strongest(this.loaded[0], this.maps[0], this.controls[0]);
      this.strongest.replaceChildren(this.strongest.firstElementChild, element("div", { className: "explorer-table" }, table));
    }

    svg() {
      return window.headTake.svg(this.shownPanels(), this.state, colours(this.root));
    }

    async save(ending) {
      this.saved = await window.headTake.save(this.svg(), `head-${this.state.head}`, ending);
    }
  }

  // A source of texts that are there in full, with their maps.
  function ready(id, texts, more = {}) {
    const first = texts[0].text.pieces[0] ?? "the first token";
    return {
      id, texts, modes: [["all", "All keys"], ["first", `Without ${first}`]],
      load: async (key, mode) => ({ text: texts.find((it) => it.key === key).text, isWithoutFirst: mode === "first" }),
      ...more,
    };
  }

  const byLayer = (nLayers, nHeads) => Array.from({ length: nLayers * nHeads }, (_, i) => `${Math.floor(i / nHeads)}.${i % nHeads}`);
  return { mount: (place, source) => new Explorer(place, source), ready, byLayer, element };
})();
