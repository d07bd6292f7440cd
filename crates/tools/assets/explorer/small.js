// All heads of the explorer, small: measured head by head, sorted and filtered.
"use strict";
window.headSmall = (() => {
  const measures = window.headMeasures;
  const { PREFERS, SHORT, share, element } = window.headWords;
  const { choice } = window.headControls;
  const { colours, paint } = window.headDrawing;

  const AT_ONCE = 6; // milliseconds of drawing, before the page is heard
  const ORDERS = [["all", "All, by layer"], ["above", "All, most above chance first"],
    ...Object.entries(PREFERS).map(([key, words]) => [key, `Prefer ${words}`]), ["spread", "Prefer none"]];
  const DIFFER = ["differ", "All, largest difference first"];

  class SmallHeads {
    constructor(explorer) {
      this.explorer = explorer;
      this.order = choice("Heads", ORDERS, (key) => explorer.change({ order: key }));
      this.grid = element("div", { className: "explorer-grid" });
      this.grid.setAttribute("role", "group");
      this.grid.setAttribute("aria-label", "All heads: the arrow keys move between them");
      this.grid.addEventListener("keydown", (event) => this.move(event));
      this.note = element("p", { className: "explorer-note" });
      this.element = element("div", { className: "explorer-glance" }, this.order.element, this.grid, this.note);
    }

    make() {
      const { names, loaded: [{ n, nQueries }] } = this.explorer;
      this.heads = names.map((name, head) => {
        const canvas = element("canvas", { width: n, height: nQueries });
        const word = element("span", { className: "explorer-word" });
        const button = element("button", { type: "button", tabIndex: -1 }, canvas, element("span", { className: "explorer-name" }, name), " ", word);
        button.addEventListener("click", () => {
          this.explorer.choose(head);
          this.explorer.large.comeIntoView();
        });
        return { head, name, button, canvas, word };
      });
      this.arrange();
    }

    // Measures head by head, so that no more than a few milliseconds are taken at once, and
    // draws each as it goes.
    async measure() {
      const { loaded, isCompared, byChance } = this.explorer;
      const [view, other] = loaded;
      const isOf = () => this.explorer.loaded === loaded;
      if (isCompared) {
        const numbers = new Float64Array(view.nQueries * view.n);
        const isAll = await this.chunks((it) => (it.differs = measures.fill(numbers, view, other, it.head)), isOf);
        if (!isAll) return;
      }
      if (!(await this.draw(isOf))) return;
      await this.chunks((it) => {
        it.prefers = measures.preference(view, it.head, byChance);
        const { name, share: part, chance } = it.prefers;
        it.word.textContent = isCompared ? share(it.differs) : SHORT[name];
        const preference = name === "spread" ? "prefers none" : `prefers ${PREFERS[name]}, ${share(part)}, by chance ${share(chance)}`;
        const differs = isCompared ? `; largest difference ${share(it.differs)}` : "";
        it.button.title = `Head ${it.name}: ${preference}${differs}`;
      }, isOf);
      if (!isOf()) return;
      this.countOrders();
      this.arrange();
      this.explorer.large.describe();
      this.explorer.place.dataset.measured = "yes";
    }

    async chunks(each, isOf) {
      delete this.explorer.place.dataset.measured;
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
    draw(isOf = () => true) {
      const { loaded: [view, other], isCompared, root } = this.explorer;
      const compared = isCompared ? other : null;
      const ink = colours(root);
      const scaleOfAll = Math.max(...this.heads.map(({ differs }) => differs ?? 0));
      const { n, nQueries } = view;
      const numbers = new Float64Array(nQueries * n);
      return this.chunks(({ head, canvas }) => {
        const most = measures.fill(numbers, view, compared, head);
        paint(canvas.getContext("2d"), [n, nQueries], numbers, ink, compared ? scaleOfAll : most);
      }, isOf);
    }

    // How many heads each choice shows; what shows none cannot be chosen.
    countOrders() {
      for (const option of this.order.select.options) {
        if (!(option.value in SHORT)) continue;
        const n = this.heads.filter(({ prefers }) => prefers.name === option.value).length;
        option.textContent = `${ORDERS.find(([key]) => key === option.value)[1]} (${n})`;
        option.disabled = !n && option.value !== this.order.select.value;
      }
    }

    // Which heads are shown, and in which order.
    arrange() {
      const { isCompared, state: { order } } = this.explorer;
      const above = (it) => it.prefers?.above ?? 0;
      let shown = [...this.heads];
      if (order === "above") shown.sort((a, b) => above(b) - above(a));
      else if (order === "differ") shown.sort((a, b) => (b.differs ?? 0) - (a.differs ?? 0));
      else if (order !== "all") shown = shown.filter((it) => it.prefers?.name === order).sort((a, b) => above(b) - above(a));
      this.shown = shown;
      const isAsBefore = shown.length === this.grid.children.length && shown.every(({ button }, i) => button === this.grid.children[i]);
      if (!isAsBefore) this.grid.replaceChildren(...shown.map(({ button }) => button));
      const scale = isCompared
        ? "Blue: more in the first sentence; orange: more in the second. One scale for all small maps."
        : "Full colour is a small map's own largest share; in the large map it is 1, and its numbers are hundredths.";
      this.note.textContent = `${shown.length} of ${this.heads.length} heads. ${scale}`;
      this.press();
    }

    press() {
      const { head } = this.explorer.state;
      const isShown = this.shown.some(({ name }) => name === head);
      this.heads.forEach(({ button, name }) => {
        button.setAttribute("aria-pressed", String(name === head));
        button.tabIndex = name === head || (!isShown && name === this.shown[0]?.name) ? 0 : -1;
      });
    }

    move(event) {
      const buttons = this.shown.map(({ button }) => button);
      const at = buttons.indexOf(event.target);
      const perRow = buttons.filter((button) => button.offsetTop === buttons[0].offsetTop).length;
      const move = { ArrowUp: -perRow, ArrowDown: perRow, ArrowLeft: -1, ArrowRight: 1, Home: -at, End: buttons.length - 1 - at }[event.key];
      if (at < 0 || move === undefined) return;
      event.preventDefault();
      const next = this.shown[at + move];
      if (!next) return;
      this.explorer.choose(next.head);
      next.button.focus();
    }
  }

  return { SmallHeads, ORDERS, DIFFER };
})();
