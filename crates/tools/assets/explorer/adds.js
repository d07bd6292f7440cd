// What each head adds to the logit of a token that may come next: a bar per head, and under it
// what the head adds to random tokens; what the other parts add; and their sum, which is the
// model's own logit. A text has it as `adds`, as `cargo learn logits --json` writes it.
"use strict";
window.headAdds = (() => {
  const { element, named } = window.headWords;
  const { choice } = window.headControls;
  const { scaleOf, track } = window.headBars;

  const ORDERS = [["largest", "Largest first"], ["layers", "By layer"]];
  const plain = (number, digits = 3) => number.toFixed(digits).replace("-", "−");
  const signed = (number, digits) => (number < 0 ? "" : "+") + plain(number, digits);
  const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

  // The heads of a token in one list, each with its control.
  function headsOf({ heads, random, random_range: ranges }) {
    return heads.flatMap((layer, l) => layer.map((adds, i) => ({ name: `${l}.${i}`, adds, median: random[l][i], range: ranges[l][i] })));
  }

  // What the parts of a token's logit are called, and what each adds.
  function partsOf({ heads, feed_forward: feedForward, embedding, attention_bias: ofLayers, last_bias: last, sum, soft_cap: cap, capped, logit }) {
    const all = heads.flat();
    const within = cap === null ? [] : [[`within the cap of ${cap}`, capped]];
    return [[`all ${all.length} heads`, total(all)], ["feed-forward layers", total(feedForward)], ["embedding", embedding],
      ["biases", total(ofLayers) + last], ["sum", sum], ...within, ["the model's own logit", logit]];
  }

  class HeadAdds {
    constructor(explorer) {
      this.explorer = explorer;
      this.token = choice("Next token", [], (id) => explorer.change({ token: id }));
      this.sorted = choice("Bars", ORDERS, (key) => this.sort(key));
      this.parts = element("table", { className: "explorer-parts" });
      this.bars = element("div", { className: "explorer-bars" });
      this.bars.setAttribute("role", "group");
      this.bars.setAttribute("aria-label", "What each head adds: the arrow keys move between heads");
      this.bars.addEventListener("keydown", (event) => this.move(event));
      this.note = element("p", { className: "explorer-note" });
      const choices = element("div", { className: "explorer-controls" }, this.token.element, this.sorted.element);
      this.element = element("div", { className: "explorer-adds" }, choices, this.parts, this.bars, this.note);
    }

    // The token that is chosen, if this text has such.
    chosen() {
      const tokens = this.explorer.loaded?.[0].text.adds?.tokens ?? [];
      return tokens.find(({ id }) => String(id) === this.explorer.state.token) ?? tokens[0];
    }

    make() {
      const { adds } = this.explorer.loaded[0].text;
      const token = this.chosen();
      if (!token) return;
      this.token.fill(adds.tokens.map(({ id, piece, probability }) => [String(id), `${piece} (probability ${plain(probability)})`]));
      this.token.select.value = String(token.id);
      this.parts.replaceChildren(element("caption", {}, `The logit of ${named(token.piece)}, part by part`));
      for (const [name, number] of partsOf(token)) {
        this.parts.insertRow().append(element("th", { scope: "row" }, name), element("td", {}, signed(number, 4)));
      }
      this.heads = headsOf(token);
      this.note.textContent = `Blue adds, orange takes away. The line under a bar is its control: what the head adds to ${adds.n_random} random ` +
        "tokens, from the least to the most, with a mark at the median. The last norm's scale is held at what it is on this text.";
      this.draw();
    }

    draw() {
      const barOf = ({ adds, median, range }) => ({ number: adds, median, range });
      const scale = scaleOf(this.heads.map(barOf));
      for (const head of this.heads) {
        const { name, adds } = head;
        head.button = element("button", { type: "button", title: `Head ${name}: ${this.told(head)}`, tabIndex: -1 },
          element("span", { className: "explorer-name" }, name), track(barOf(head), scale), element("span", { className: "explorer-value" }, signed(adds)));
        head.button.addEventListener("click", () => {
          this.explorer.choose(this.explorer.names.indexOf(name));
          this.explorer.large.comeIntoView();
        });
      }
      this.sort(this.sorted.select.value);
    }

    sort(order) {
      this.shown = order === "layers" ? this.heads : [...this.heads].sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
      this.bars.replaceChildren(...this.shown.map(({ button }) => button));
      this.press();
    }

    press() {
      if (!this.chosen()) return;
      for (const { name, button } of this.heads) {
        button.setAttribute("aria-pressed", String(name === this.explorer.state.head));
        button.tabIndex = name === this.explorer.state.head ? 0 : -1;
      }
    }

    told({ adds, median, range }) {
      const control = median === null ? "" : `; to random tokens ${signed(median)} (${signed(range[0])} to ${signed(range[1])})`;
      return `adds ${signed(adds)}${control}`;
    }

    // The head that adds or takes most, where bars are shown.
    largest() {
      const token = this.explorer.state.glance === "adds" && this.chosen();
      if (!token) return undefined;
      return headsOf(token).reduce((most, it) => (Math.abs(it.adds) > Math.abs(most.adds) ? it : most)).name;
    }

    // The chosen head, in words.
    describe() {
      const token = this.chosen();
      if (!token) return "";
      const head = headsOf(token).find(({ name }) => name === this.explorer.state.head);
      return head ? `To the logit of ${named(token.piece)} it ${this.told(head)}. ` : "";
    }

    move(event) {
      const at = this.shown.findIndex(({ button }) => button === event.target);
      const move = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1, Home: -at, End: this.shown.length - 1 - at }[event.key];
      if (at < 0 || move === undefined) return;
      event.preventDefault();
      const next = this.shown[at + move];
      if (!next) return;
      this.explorer.choose(this.explorer.names.indexOf(next.name));
      next.button.focus();
    }
  }

  return { HeadAdds };
})();
