// All heads of the explorer, small: measured head by head, sorted and filtered.
"use strict";
window.headSmall = (() => {
  const measures = window.headMeasures;
  const { PREFERS, SHORT, share, element } = window.headWords;
  const { choice } = window.headControls;
  const { scaleOf, track } = window.headBars;
  const { colours, paint } = window.headDrawing;

  const AT_ONCE = 6; // milliseconds of drawing, before the page is heard
  const ORDERS = [["all", "All, by layer"], ["above", "All, most above chance first"],
    ...Object.entries(PREFERS).map(([key, words]) => [key, `Prefer ${words}`]), ["spread", "Prefer none"]];
  const DIFFER = ["differ", "All, largest difference first"];
  const MOVED = ["moved", "Later heads, moved farthest first"];

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
      const hadFocus = this.grid.contains(document.activeElement);
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
      // By keyboard a head was switched off, and its map drawn anew.
      if (hadFocus) this.heads.find(({ button }) => button.tabIndex === 0)?.button.focus();
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
        this.tellOf(it);
      }, isOf);
      if (!isOf()) return;
      this.countOrders();
      this.drawMoved();
      this.arrange();
      this.explorer.large.describe();
      this.explorer.place.dataset.measured = "yes";
    }

    // What a head prefers, and how it differs or moved.
    tellOf(it) {
      const { isCompared, off } = this.explorer;
      if (!it.prefers) return;
      const { name, share: part, chance } = it.prefers;
      it.moved = off.movedOf(it.name);
      const isOff = off.heads.has(it.name);
      it.word.textContent = isOff ? "off" : it.moved ? share(it.moved.observed) : isCompared ? share(it.differs) : SHORT[name];
      it.button.classList.toggle("explorer-is-off", isOff);
      const preference = name === "spread" ? "prefers none" : `prefers ${PREFERS[name]}, ${share(part)}, by chance ${share(chance)}`;
      const differs = isCompared ? `; largest difference ${share(it.differs)}` : "";
      const moved = isOff ? "; switched off" : it.moved ? `; ${it.moved.words}` : "";
      it.button.title = `Head ${it.name}: ${preference}${differs}${moved}`;
    }

    // Heads were switched off, or another draw of random ones was computed.
    told() {
      if (!this.heads) return;
      this.heads.forEach((it) => this.tellOf(it));
      this.drawMoved();
      this.note.textContent = this.noted();
      if (this.explorer.state.order === "moved") this.arrange();
    }

    // Under each map that may have moved how far it did, on one scale, beside the draws.
    drawMoved() {
      const barOf = ({ moved: { observed, median, range } }) => ({ number: observed, median, range });
      const moved = this.heads.filter((it) => it.moved);
      const scale = scaleOf(moved.map(barOf));
      for (const it of this.heads) {
        it.bar?.remove();
        it.bar = it.moved ? track(barOf(it), scale) : null;
        if (it.bar) it.button.append(it.bar);
      }
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
      const { state: { order } } = this.explorer;
      const above = (it) => it.prefers?.above ?? 0;
      let shown = [...this.heads];
      if (order === "above") shown.sort((a, b) => above(b) - above(a));
      else if (order === "differ") shown.sort((a, b) => (b.differs ?? 0) - (a.differs ?? 0));
      else if (order === "moved") shown = shown.filter((it) => it.moved).sort((a, b) => b.moved.observed - a.moved.observed);
      else if (order !== "all") shown = shown.filter((it) => it.prefers?.name === order).sort((a, b) => above(b) - above(a));
      this.shown = shown;
      const isAsBefore = shown.length === this.grid.children.length && shown.every(({ button }, i) => button === this.grid.children[i]);
      if (!isAsBefore) this.grid.replaceChildren(...shown.map(({ button }) => button));
      this.note.textContent = this.noted();
      this.press();
    }

    noted() {
      const { isCompared, off } = this.explorer;
      const scale = isCompared
        ? "Blue: more in the first sentence; orange: more in the second. One scale for all small maps."
        : "Full colour is a small map's own largest weight; in the large map it is 1, and its numbers are hundredths.";
      const moved = this.heads.some((it) => it.moved)
        ? " The bar under a map is how much of its attention a later head gives elsewhere now; the line under it, the same without each draw of random heads, with a mark at the median." : "";
      const keys = off.isPossible() ? " The key x switches the chosen head off or on." : "";
      return `${this.shown.length} of ${this.heads.length} heads. ${scale}${moved}${keys}`;
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
      if (event.key === "x" && !event.ctrlKey && !event.metaKey && !event.altKey) return this.explorer.off.flip(this.explorer.state.head);
      const buttons = this.shown.map(({ button }) => button);
      const at = buttons.indexOf(event.target);
      const perRow = buttons.filter((button) => button.offsetTop === buttons[0].offsetTop).length;
      const move = { ArrowUp: -perRow, ArrowDown: perRow, ArrowLeft: -1, ArrowRight: 1, Home: -at, End: buttons.length - 1 - at }[event.key];
      if (at < 0 || move === undefined) return undefined;
      event.preventDefault();
      const next = this.shown[at + move];
      if (!next) return undefined;
      this.explorer.choose(next.head);
      return next.button.focus();
    }
  }

  return { SmallHeads, ORDERS, DIFFER, MOVED };
})();
