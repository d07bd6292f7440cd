// Heads switched off: which, what changes without them, and beside it the same without as many
// random heads of the same layers. What changes is { heads, instead, n_sets, n_done, missing,
// measures, moved } as `encoders::Ablation` says it. A text has it as `ablated`; or it has
//
//   switchOff(heads, each)
//
// which computes it: `each` is called with { ablated, shares, error, done }, draw by draw.
"use strict";
window.headsOff = (() => {
  const { element, share } = window.headWords;
  const { button } = window.headControls;
  const four = (number) => number.toFixed(4).replace("-", "−");
  const SUFFIX = ":without";

  class HeadsOff {
    constructor(explorer) {
      this.explorer = explorer;
      this.heads = new Set();
      this.ablated = null;
      this.asked = 0;
      this.toggle = button("", () => this.flip(explorer.state.head));
      this.title = element("strong", {});
      this.allOn = button("All back on", () => this.set([]));
      this.words = element("output", { className: "explorer-note" });
      this.words.setAttribute("aria-live", "polite");
      this.table = element("table");
      this.toggle.className = "explorer-toggle";
      const table = element("div", { className: "explorer-table", tabIndex: 0 }, this.table);
      table.setAttribute("role", "region");
      table.setAttribute("aria-label", "What changes, beside random heads");
      this.element = element("div", { className: "explorer-off", hidden: true },
        element("div", { className: "explorer-head" }, this.title, this.allOn), this.words, table);
    }

    // Whether heads of the text that is shown can be switched off.
    isPossible() {
      return Boolean(this.explorer.loaded?.[0].text.switchOff);
    }

    flip(head) {
      if (!this.isPossible()) return undefined;
      const heads = new Set(this.heads);
      if (!heads.delete(head)) heads.add(head);
      return this.set([...heads]);
    }

    // Switches these heads off, and all others on.
    set(heads) {
      const { explorer } = this;
      const { state, loaded: [{ text }] } = explorer;
      const asked = ++this.asked;
      const key = state.text + SUFFIX;
      this.heads = new Set(heads);
      this.ablated = null;
      if (!heads.length) {
        text.switchOff([], () => {});
        this.tell();
        return explorer.take(key);
      }
      this.tell("The pass without them is computed.");
      return text.switchOff(heads, ({ ablated, shares, error }) => {
        if (asked !== this.asked) return;
        if (error !== undefined) return this.tell(error);
        if (!ablated) return; // something else was asked meanwhile
        this.ablated = ablated;
        if (shares) explorer.put({ key, name: `Without ${ablated.heads.join(", ")}` }, { ...text, maps: shares, switchOff: undefined });
        this.tell();
      });
    }

    // Another text has all its heads: what was switched off is of the one before.
    forget() {
      if (!this.heads.size) return;
      this.asked += 1;
      this.heads.clear();
      this.ablated = null;
      this.explorer.take(this.explorer.state.text + SUFFIX, false);
    }

    // A text that comes with what changes without some heads.
    show() {
      const { ablated } = this.explorer.loaded[0].text;
      if (ablated) {
        this.ablated = ablated;
        this.heads = new Set(ablated.heads);
      }
      this.tell(this.words.textContent);
    }

    tell(said) {
      const { heads, ablated } = this;
      this.press();
      this.element.hidden = !heads.size;
      this.explorer.small.told();
      if (!heads.size) return;
      this.title.textContent = `Switched off: ${(ablated?.heads ?? [...heads]).join(", ")}`;
      if (!ablated) {
        this.words.textContent = said;
        return;
      }
      this.words.textContent = this.control();
      this.fill();
      this.explorer.large.describe();
    }

    // What stands in their stead, and what the draws are and lack.
    control() {
      const { instead, n_sets: nSets, n_done: nDone, missing } = this.ablated;
      const sets = { 0: "there is no control, since the layers have no other heads", 1: "beside the only set of as many other heads of the same layers" }[nSets] ??
        `beside ${nDone < nSets ? `${nDone} of ${nSets}` : nSets} random sets of as many other heads of the same layers`;
      const lacks = nSets ? missing.map(([layer, n]) => ` Layer ${layer} has too few others: each set lacks ${n} there.`) : [];
      return `In their stead: ${instead}; ${sets}.${lacks.join("")}`;
    }

    fill() {
      const { measures } = this.ablated;
      const head = ["", "found", "median", "range of draws", "among the draws"];
      const rows = measures.map(({ name, observed, median, range, n_below: below, n_draws: n, p }) => [name, four(observed),
        ...(n ? [four(median), `${four(range[0])} to ${four(range[1])}`, `above ${below} of ${n}, p = ${p.toFixed(2)}`] : ["no draws", "", ""])]);
      this.table.replaceChildren();
      this.table.createTHead().insertRow().append(...head.map((text) => (text ? element("th", { scope: "col" }, text) : element("td"))));
      const body = this.table.createTBody();
      for (const [name, ...cells] of rows) {
        body.insertRow().append(element("th", { scope: "row" }, name), ...cells.map((text) => element("td", {}, text)));
      }
    }

    // How far a head's map moved, in words; null of heads that cannot have moved.
    movedOf(head) {
      const moved = this.ablated?.moved[head];
      if (!moved) return null;
      const { observed, median, range, n_below: below, n_draws: n } = moved;
      const control = n ? `; without the draws ${share(median)}, ${share(range[0])} to ${share(range[1])}; above ${below} of ${n}` : "";
      return { observed, median: n ? median : null, range: n ? range : [], words: `map moved ${share(observed)}${control}` };
    }

    // The chosen head, in words.
    describe() {
      const { head } = this.explorer.state;
      if (this.heads.has(head)) return "It is switched off. ";
      const moved = this.movedOf(head);
      return moved ? `Its ${moved.words}. ` : "";
    }

    press() {
      const { state, loaded } = this.explorer;
      this.toggle.hidden = !this.isPossible();
      this.allOn.hidden = !this.isPossible();
      const isOff = this.heads.has(state.head);
      this.toggle.textContent = isOff ? `Switch ${state.head} back on` : `Switch ${state.head} off`;
      this.toggle.disabled = !loaded;
    }
  }

  return { HeadsOff };
})();
