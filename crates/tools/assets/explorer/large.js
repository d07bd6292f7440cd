// One head of the explorer, large: its map or lines, its numbers in words, and to take away.
"use strict";
window.headLarge = (() => {
  const [measures, words] = [window.headMeasures, window.headWords];
  const { element } = words;
  const { button, buttons, choice } = window.headControls;
  const { colours, canvasPen, views } = window.headDrawing;

  class LargeHead {
    constructor(explorer) {
      this.explorer = explorer;
      this.cursor = null;
      this.pinned = null; // what a click has chosen
      this.drawn = new WeakMap();
      this.title = element("div", { className: "explorer-title" });
      this.view = buttons("How the chosen head is drawn", [["map", "Map"], ["lines", "Lines"], ["grid", "Patches"]], (key) => explorer.change({ view: key }));
      this.query = choice("Query", [], (key) => explorer.change({ query: key }));
      this.about = element("p", { className: "explorer-about" });
      this.panels = element("div", { className: "explorer-panels" });
      this.words = element("output", { className: "explorer-words" });
      this.words.setAttribute("aria-live", "polite");
      const take = ["svg", "png"].map((ending) => button(`Save as ${ending.toUpperCase()}`, () => this.save(ending)));
      this.strongest = element("details", { className: "explorer-strongest" }, element("summary", {}, "Each query's strongest key, as a table"));
      this.strongest.addEventListener("toggle", () => this.fillStrongest());
      this.element = element("div", { className: "explorer-chosen" },
        element("div", { className: "explorer-head" }, this.title, explorer.off.toggle, this.view.element), this.about, this.query.element, this.panels, this.words,
        element("div", { className: "explorer-take" }, ...take), this.strongest);
      // What was drawn once is drawn anew for another width.
      const isOther = () => this.drawnWidth && this.panels.clientWidth !== this.drawnWidth;
      new ResizeObserver(() => isOther() && this.draw()).observe(this.panels);
    }

    // Patches are drawn of texts that stand in the same grid.
    viewName() {
      const { loaded, state: { view } } = this.explorer;
      const grids = (loaded ?? []).map(({ text }) => JSON.stringify(text.grid ?? null));
      const hasGrid = grids.length > 0 && grids[0] !== "null" && grids.every((grid) => grid === grids[0]);
      return { hasGrid, view: view === "grid" && !hasGrid ? "map" : view };
    }

    pressView() {
      const { hasGrid, view } = this.viewName();
      this.view.press(view);
      this.view.element.querySelector('[value="grid"]').hidden = !hasGrid;
      this.query.element.hidden = view !== "grid";
    }

    // Whose shares lie over the grid.
    asked() {
      const { loaded: [{ nQueries }], state } = this.explorer;
      return Math.min(Number.parseInt(state.query, 10) || 0, nQueries - 1);
    }

    fillQueries() {
      const { queries: { pieces } } = this.explorer.loaded[0];
      if (this.queriesOf !== pieces) this.query.fill(pieces.map((name, at) => [String(at), name]));
      this.queriesOf = pieces;
      this.query.select.value = String(this.asked());
    }

    // On a phone it lies below the small heads.
    comeIntoView() {
      const { top, bottom } = this.element.getBoundingClientRect();
      if (top > innerHeight * 0.6 || bottom < 80) this.element.scrollIntoView({ block: "start" });
    }

    draw() {
      const { loaded, names, state } = this.explorer;
      if (!loaded) return;
      const head = names.indexOf(state.head);
      this.maps = loaded.map((view) => measures.mapOf(view, head));
      this.controls = loaded.map((view, i) => measures.controls(view, this.maps[i]));
      this.title.textContent = `Head ${state.head}`;
      this.describe();
      this.fillQueries();
      this.drawnWidth = this.panels.clientWidth;
      this.panels.replaceChildren(...this.panelList().map((panel) => this.panel(panel)));
      this.mark();
      if (this.strongest.open) this.fillStrongest();
    }

    // The maps that are shown of the head: one, or two and their difference.
    panelList() {
      const { source, state, isCompared, loaded: [view, other] } = this.explorer;
      const name = (key) => source.texts.find((text) => text.key === key)?.name ?? "";
      const query = this.asked();
      const of = (view, map, caption) => ({
        caption, queries: view.queries.pieces, keys: view.text.pieces, special: [view.queries.special, view.text.special], map, most: 1,
        grid: view.text.grid, image: view.text.image, query, isSelf: !view.isCross, even: 1 / Math.max(measures.nSeen(view, query), 1),
      });
      if (!other) return [of(view, this.maps[0], "")];
      const panels = [of(view, this.maps[0], name(state.text)), of(other, this.maps[1], name(state.beside))];
      if (!isCompared) return panels;
      const map = this.maps[0].map((shares, query) => shares.map((number, key) => number - this.maps[1][query][key]));
      const both = (one, two) => one.pieces.map((piece, i) => (piece === two.pieces[i] ? piece : `${piece} | ${two.pieces[i]}`));
      const [queries, keys] = [both(view.queries, other.queries), both(view.text, other.text)];
      return [...panels, { ...of(view, map, "The first less the second"), queries, keys, isDifference: true }];
    }

    panel(panel) {
      const { loaded, root, state } = this.explorer;
      const isNarrow = loaded.length > 1 && !panel.isDifference && this.drawnWidth >= 420;
      const width = Math.max(isNarrow ? (this.drawnWidth - 12) / 2 : this.drawnWidth, 120);
      const { view } = this.viewName();
      const { plan, draw } = views[view];
      const planned = plan(panel, width);
      const [base, over] = [0, 1].map(() => this.canvas(planned));
      draw(canvasPen(base.context), panel, planned, colours(root));
      const frame = element("div", { className: "explorer-map", tabIndex: 0 }, base.canvas, over.canvas);
      frame.setAttribute("role", "application");
      frame.setAttribute("aria-roledescription", "attention map");
      frame.setAttribute("aria-label", `Head ${state.head}${panel.caption && `, ${panel.caption}`}: ` +
        `${panel.queries.length} queries by ${panel.keys.length} keys. The arrow keys move through its cells.`);
      Object.assign(frame.style, { width: `${planned.width}px`, height: `${planned.height}px` });
      const under = (event) => {
        const { left, top } = frame.getBoundingClientRect();
        return planned.hit(event.clientX - left, event.clientY - top);
      };
      const isName = (cursor) => cursor && (cursor.query === null || cursor.key === null);
      frame.addEventListener("pointermove", (event) => {
        const cursor = under(event);
        frame.style.cursor = isName(cursor) ? "pointer" : "";
        this.moveTo(cursor ?? this.pinned);
      });
      frame.addEventListener("pointerdown", (event) => this.moveTo(under(event)));
      frame.addEventListener("click", (event) => (view === "grid" ? this.ask(under(event)?.key) : this.pin(under(event))));
      frame.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.moveTo(this.pinned));
      frame.addEventListener("keydown", (event) => this.moveCell(event, panel));
      Object.assign(panel, { over, planned });
      this.drawn.set(frame, panel);
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

    shown() {
      return [...this.panels.querySelectorAll(".explorer-map")].map((frame) => this.drawn.get(frame));
    }

    moveTo(cursor) {
      if (cursor?.query === this.cursor?.query && cursor?.key === this.cursor?.key) return;
      this.cursor = cursor;
      this.mark();
    }

    // A click keeps its row or its cell lit; the same once more does not.
    pin(cursor) {
      const isSame = cursor?.query === this.pinned?.query && cursor?.key === this.pinned?.key;
      this.pinned = isSame ? null : cursor;
    }

    // Makes a patch the query.
    ask(key) {
      if (key === undefined || key === null || this.explorer.loaded[0].isCross) return;
      const hadFocus = this.panels.contains(document.activeElement);
      this.cursor = { query: key, key };
      this.explorer.change({ query: String(key) });
      if (hadFocus) this.panels.querySelector(".explorer-map").focus();
    }

    moveCell(event, panel) {
      const { view } = this.viewName();
      if (view === "grid" && ["Enter", " "].includes(event.key)) {
        event.preventDefault();
        return this.ask(this.cursor?.key);
      }
      const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (event.key === "Escape") {
        this.pinned = null;
        return this.moveTo(null);
      }
      if (!move) return undefined;
      event.preventDefault();
      const within = (at, n) => Math.min(Math.max(at, 0), n - 1);
      const { query, key } = this.cursor ?? {};
      if (view === "grid") return this.moveTo({ query: panel.query, key: this.cursor ? views.grid.moved(panel, key, event.key) : 0 });
      const next = this.cursor ? { query: (query ?? 0) + move[0], key: (key ?? 0) + move[1] } : { query: 0, key: 0 };
      return this.moveTo({ query: within(next.query, panel.queries.length), key: within(next.key, panel.keys.length) });
    }

    // Lights the row and the column, and says their numbers.
    mark() {
      const { root, loaded, isCompared } = this.explorer;
      const { maps, controls } = this;
      const ink = colours(root);
      const { view } = this.viewName();
      const { mark } = views[view];
      for (const panel of this.shown()) {
        const { over, planned } = panel;
        over.context.clearRect(0, 0, planned.width, planned.height);
        if (view === "grid" && !this.cursor) mark(canvasPen(over.context), panel, planned, ink, { query: panel.query, key: null });
        if (this.cursor) mark(canvasPen(over.context), panel, planned, ink, this.cursor);
      }
      this.words.textContent = this.cursor ? words.told({ loaded, maps, controls, isCompared }, this.cursor) : words.hint(view);
    }

    // ---- In words, and to take away.

    describe() {
      const { adds, loaded, off, small, state } = this.explorer;
      const prefers = small.heads.find(({ name }) => name === state.head)?.prefers;
      this.about.textContent = adds.describe() + off.describe() + words.described(loaded[0], this.maps[0], this.controls[0], prefers);
    }

    fillStrongest() {
      const { loaded } = this.explorer;
      if (!this.strongest.open || !loaded) return;
      const table = words.strongest(loaded[0], this.maps[0], this.controls[0]);
      this.strongest.replaceChildren(this.strongest.firstElementChild, element("div", { className: "explorer-table" }, table));
    }

    svg() {
      return window.headTake.svg(this.shown(), { head: this.explorer.state.head, view: this.viewName().view }, colours(this.explorer.root));
    }

    async save(ending) {
      this.saved = await window.headTake.save(this.svg(), `head-${this.explorer.state.head}`, ending);
    }
  }

  return { LargeHead };
})();
