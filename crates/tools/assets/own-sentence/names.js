// The test of induction on a reader's own names: what the model says of each name where the line
// stood there before, and with what it copies.
"use strict";
window.namesTest = (() => {
  const { element, share } = window.headWords;

  const NAMES = "Nipdurl, Gostrav, Wemblin, Tarquel, Bosfeld, Ermintz";
  const LINES = { repeated: "The same line", "other order": "The names in reverse order", alone: "Nothing" };

  const row = (tag, cells) => element("tr", {}, ...cells.map((cell, i) => element(i ? tag : "th", i ? {} : { scope: tag === "th" ? "col" : "row" }, cell)));

  // Its caption stands above: it may be wider than a table of numbers.
  function table(caption, head, rows) {
    const made = element("table", {}, element("thead", {}, row("th", head)), element("tbody", {}, ...rows.map((cells) => row("td", cells))));
    const scrolled = element("div", { className: "own-table", tabIndex: 0 }, made);
    scrolled.setAttribute("role", "region");
    for (const it of [made, scrolled]) it.setAttribute("aria-label", caption);
    return element("div", {}, element("p", { className: "own-caption" }, caption), scrolled);
  }

  class NamesTest {
    // A host is that of writer.js; `choose(head)` shows a head.
    constructor(host, choose) {
      Object.assign(this, { host, choose });
      this.names = element("input", { type: "text", value: NAMES, autocomplete: "off", spellcheck: false });
      this.button = element("button", { type: "submit" }, "Test");
      const form = element("form", { className: "live-controls own-write", noValidate: true },
        element("label", { className: "own-field own-wide" }, element("span", {}, "Names that no book has, with commas between"), this.names),
        element("div", { className: "own-buttons" }, this.button));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.run();
      });
      this.found = element("div", { className: "own-tested" });
      this.element = element("details", { className: "own-names" }, element("summary", {}, "Does it copy your own names?"),
        element("p", {}, "The names stand in a line, and the line stands there again. A model with induction heads looks from the end of a name to what came after it before, and expects that. The control has the same names before the line, in reverse order."),
        form, this.found);
    }

    run() {
      this.host.state("writing");
      this.host.words("");
      this.button.disabled = true;
      this.host.ask({ names: this.names.value }, ({ tested, error, done }) => {
        if (tested) this.show(tested);
        if (!done) return;
        this.button.disabled = false;
        if (error !== undefined) return this.host.refuse(error);
        this.host.state("written");
      });
    }

    show(tested) {
      this.tested = tested;
      const { names, lines, without, heads, n_passes: nPasses, is_done: isDone } = tested;
      const nDone = lines.length + without.length;
      const parts = isDone ? [] : [element("p", { className: "own-note" }, `${nDone} of ${nPasses} lines are read.`)];
      const nats = (it) => it.loss.toFixed(2);
      const chances = (it) => it.chances.map((p) => share(p, 3));
      parts.push(table("How likely the first token of each name is, after the one before it; and the mean loss, in nats",
        ["Before the line", ...names.slice(1), "Loss"], lines.map((it) => [LINES[it.line], ...chances(it), nats(it)])));
      if (heads.length) {
        const button = (name) => {
          const made = element("button", { type: "button" }, name);
          made.addEventListener("click", () => this.choose(name));
          return made;
        };
        parts.push(table("The heads that look most at the token that came next before, on average; the control is what they give the first tokens of the other names",
          ["Head", "Next", "Others"], heads.map(({ head, next, others }) => [button(head), share(next), share(others)])));
      }
      if (without.length) {
        const name = (nth) => (nth ? `As many random others of the same layers (${nth})` : `Without the ${without[0].off.length} that look there most`);
        const rows = [["All", nats(lines[0])], ...without.map((it, nth) => [name(nth), nats(it)])];
        parts.push(table("The mean loss on the repeated line, in nats", ["Heads", "Loss"], rows));
      }
      this.found.replaceChildren(...parts);
    }
  }

  return { NamesTest };
})();
