// One explorer of heads, wherever heads are shown: all of them small, the chosen one large.
//
//   headExplorer.mount(place, source)
//
// A source is { id, texts: [{ key, name }], modes: [[key, name]], load, beside, first }:
// `load(text, mode)` gives a promise of { text, isWithoutFirst }, whose text is as
// measures.js has it, and may have more: `notes` on its maps, a sentence each; `grid` and
// `image` (grid.js); `adds` (adds.js); `ablated` or `switchOff` (off.js). With `beside`, two
// texts can be compared: a button shows the choice of another, and `partner(text)` is the one that
// it begins with. `first` is what is shown before the address or a reader says something else.
"use strict";
window.headExplorer = (() => {
  const measures = window.headMeasures;
  const { element } = window.headWords;
  const { choice, buttons, button } = window.headControls;
  const { views } = window.headDrawing;
  const { SmallHeads, ORDERS, DIFFER, MOVED } = window.headSmall;
  const { HeadAdds } = window.headAdds;
  const { HeadsOff } = window.headsOff;
  const { LargeHead } = window.headLarge;

  const GLANCES = [["", "Maps"], ["adds", "What each adds"]];

  class Explorer {
    constructor(place, source) {
      this.place = place;
      this.source = source;
      this.made = new Map(); // texts that are made of others here, by key
      this.state = { text: source.texts[0].key, beside: "", mode: source.modes[0][0], order: "all", head: "", view: "map", glance: "", token: "", query: "", ...source.first };
      this.build();
      const isAddressed = this.readAddress();
      addEventListener("hashchange", () => this.readAddress() && this.load());
      this.ready = this.load().then(() => isAddressed && this.root.scrollIntoView());
    }

    // ---- What stands on the page.

    build() {
      const { source } = this;
      this.text = choice("Sentence", [], (key) => this.change({ text: key }));
      this.beside = choice("Beside it", [], (key) => this.change({ beside: key }));
      this.compare = button("Compare", () => this.openBeside());
      this.listTexts();
      this.mode = buttons("Which keys a token sees", source.modes, (key) => this.change({ mode: key }));
      const controls = element("div", { className: "explorer-controls" });
      if (source.texts.length > 1) controls.append(this.text.element);
      if (source.beside) controls.append(this.compare, this.beside.element);
      controls.append(this.mode.element);

      this.small = new SmallHeads(this);
      this.adds = new HeadAdds(this);
      this.glance = buttons("What is shown of all heads", GLANCES, (key) => this.change({ glance: key }));
      this.off = new HeadsOff(this);
      this.large = new LargeHead(this);
      this.error = element("p", { className: "explorer-error" });
      this.error.setAttribute("role", "alert");
      const all = element("div", { className: "explorer-all" }, this.glance.element, this.small.element, this.adds.element);
      this.body = element("div", { className: "explorer-body" }, all, this.large.element);
      this.notes = element("ul", { className: "explorer-notes" });
      this.root = element("div", { className: "explorer" }, controls, this.notes, this.error, this.off.element, this.body);
      // mdBook leafs at an arrow key, which here moves through heads and cells.
      this.root.addEventListener("keydown", (event) => event.stopPropagation());
      this.place.replaceChildren(this.root);
      // A theme that is chosen changes every colour.
      new MutationObserver(() => this.redraw()).observe(document.documentElement, { attributeFilter: ["class"] });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    }

    // Whether another text can be chosen beside the one that is shown.
    get isComparing() {
      return Boolean(this.state.beside) || this.isBesideOpen;
    }

    openBeside() {
      this.isBesideOpen = !this.isComparing;
      const { text } = this.state;
      const changed = this.change({ beside: this.isBesideOpen ? this.source.partner?.(text) ?? "" : "" });
      if (this.isBesideOpen) this.beside.select.focus();
      return changed;
    }

    // ---- State, and its address: #id:text=…&head=….

    change(part) {
      if ("text" in part && part.text !== this.state.text) this.off.forget();
      Object.assign(this.state, part);
      this.writeAddress();
      const isNew = "text" in part || "beside" in part || "mode" in part;
      if (isNew) return this.load();
      if ("order" in part) this.small.arrange();
      if ("head" in part) this.pressHead();
      if ("token" in part) this.adds.make();
      this.press();
      return this.large.draw();
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
        order: [...ORDERS, DIFFER, MOVED].map(([key]) => key), view: Object.keys(views),
        glance: GLANCES.map(([key]) => key) };
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
      this.beside.element.hidden = !this.isComparing;
      this.compare.setAttribute("aria-pressed", String(this.isComparing));
      this.compare.hidden = this.source.texts.length < 2;
      this.small.order.select.value = state.order;
      this.mode.press(state.mode);
      this.large.pressView();
      // Of texts without such numbers there are maps alone.
      const hasAdds = Boolean(this.adds.chosen());
      const isOfAdds = hasAdds && state.glance === "adds";
      this.glance.press(isOfAdds ? "adds" : "");
      this.glance.element.hidden = !hasAdds;
      this.small.element.hidden = isOfAdds;
      this.adds.element.hidden = !isOfAdds;
    }

    pressHead() {
      this.small.press();
      this.adds.press();
      this.off.press();
    }

    // ---- Texts: what was on the page before is greyed until the new one is there.

    async load() {
      const { state, source } = this;
      this.press();
      const wanted = JSON.stringify([state.text, state.beside, state.mode]);
      this.wanted = wanted;
      this.grey();
      this.place.dataset.state = "waiting";
      try {
        const keys = [state.text, state.beside].filter(Boolean);
        const loaded = await Promise.all(keys.map((key) => this.textOf(key)));
        if (this.wanted !== wanted) return;
        this.error.textContent = "";
        this.loaded = loaded.map(({ text, isWithoutFirst }) => measures.viewOf(text, isWithoutFirst));
        await this.show();
      } catch (problem) {
        if (this.wanted === wanted) this.refuse(problem.message);
      }
    }

    async textOf(key) {
      const { state: { mode }, source } = this;
      return this.made.has(key) ? { text: this.made.get(key), isWithoutFirst: mode === "first" } : source.load(key, mode);
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
    grey(is = true) {
      this.root.classList.toggle("explorer-waits", is);
    }

    // One more text, which is shown at once, by itself, on this head unless a reader has chosen
    // one.
    add(text, head = "") {
      this.source.texts.push(text);
      this.listTexts();
      this.isBesideOpen = false;
      return this.change({ text: text.key, beside: "", ...(this.isChosen || !head ? {} : { head }) });
    }

    // A text that was made of the one that is shown, beside it; it replaces one of the same key.
    put({ key, name }, text) {
      this.made.set(key, text);
      this.source.texts = [...this.source.texts.filter((it) => it.key !== key), { key, name }];
      this.listTexts();
      return this.change({ beside: key });
    }

    // Takes such a text away again.
    take(key, isShown = true) {
      if (!this.made.delete(key)) return undefined;
      this.source.texts = this.source.texts.filter((it) => it.key !== key);
      this.listTexts();
      if (this.state.beside === key) this.state.beside = "";
      return isShown ? this.change({ beside: this.state.beside }) : undefined;
    }

    listTexts() {
      const texts = this.source.texts.map(({ key, name }) => [key, name]);
      this.text.fill(texts.filter(([key]) => !this.made.has(key)));
      this.beside.fill([["", "nothing"], ...texts]);
    }

    async show() {
      const [view, other] = this.loaded;
      if (!view.n || !view.nHeads) throw new Error("there is no token, or no head");
      if (other && other.nHeads !== view.nHeads) throw new Error("the two sentences are of models with different heads");
      this.isCompared = other?.n === view.n && other.nQueries === view.nQueries;
      this.names = view.text.names;
      this.byChance = measures.chance(view);
      if (!this.names.includes(this.state.head)) this.state.head = this.adds.largest() ?? this.names[0];
      this.large.cursor = this.large.pinned = null;
      this.notes.replaceChildren(...(view.text.notes ?? []).map((note) => element("li", {}, note)));
      this.body.hidden = false;
      const isMoved = Boolean(this.off.ablated ?? view.text.ablated);
      const orders = [...ORDERS, ...(this.isCompared ? [DIFFER] : []), ...(isMoved ? [MOVED] : [])];
      this.small.order.fill(orders);
      if (!orders.some(([key]) => key === this.state.order)) this.state.order = "all";
      this.press();
      // The page is heard between one part and the next.
      const { loaded } = this;
      for (const part of [() => this.small.make(), () => this.adds.make(), () => this.large.draw(), () => this.off.show()]) {
        await new Promise((done) => setTimeout(done));
        if (this.loaded !== loaded) return;
        part();
      }
      this.root.classList.remove("explorer-waits");
      this.place.dataset.state = "shown";
      await this.small.measure();
    }

    redraw() {
      if (!this.loaded) return;
      this.large.draw();
      this.small.draw();
    }

    choose(head) {
      this.isChosen = true;
      this.state.head = this.names[head];
      this.writeAddress();
      this.pressHead();
      this.large.draw();
    }
  }

  // A source of texts that are there in full, with their maps packed.
  function ready(id, texts, more = {}) {
    const first = texts[0].text.pieces[0] ?? "the first token";
    return {
      id, texts, modes: [["all", "All keys"], ["first", `Without ${first}`]],
      load: async (key, mode) => {
        const { text } = texts.find((it) => it.key === key);
        return { text: await window.headPacked.whole(text), isWithoutFirst: mode === "first" };
      },
      ...more,
    };
  }

  const byLayer = (nLayers, nHeads) => Array.from({ length: nLayers * nHeads }, (_, i) => `${Math.floor(i / nHeads)}.${i % nHeads}`);
  // The head of a text with the strongest link between two words that are no neighbours.
  const strongest = (text) => text.names[measures.strongest(measures.viewOf(text)).head];
  return { mount: (place, source) => new Explorer(place, source), ready, byLayer, element, strongest };
})();
