// The maps of a model that writes; and where it reads a source, of three kinds, of which one is
// shown.
"use strict";
window.headParts = (() => {
  const { element } = window.headWords;
  const { Looks } = window.headLooks;

  // As the heads' names have them, in the order in which a model computes them.
  const KINDS = {
    source: "every token of the source reads every other",
    written: "each token that is written reads those before it",
    cross: "each token that is written reads the source",
  };

  // Of maps [n, n] each, the row of one token.
  function rows(maps, n, at) {
    const row = new Float32Array(maps.length / n);
    for (let map = 0; map < maps.length / n ** 2; map++) {
      const first = (map * n + at) * n;
      row.set(maps.subarray(first, first + n), map * n);
    }
    return row;
  }

  class Parts {
    // `chooseHead()` and `chooseKind()` are called when a reader has chosen another.
    constructor(about, chooseHead, chooseKind) {
      const { encoder, decoder } = about;
      const sizes = about.translates ? { source: encoder, written: decoder, cross: decoder } : { "": about };
      this.all = new Map(Object.entries(sizes).map(([kind, size]) => [kind, new Looks(size, kind && `${kind} `, chooseHead)]));
      this.size = decoder;
      this.kind = about.translates ? "cross" : "";
      this.radios = [...this.all.keys()].map((value) => element("input", { type: "radio", name: "own-kind", value }));
      const labels = this.radios.map((radio) => element("label", {}, radio, ` ${radio.value}: ${KINDS[radio.value]}`));
      this.element = element("fieldset", { className: "own-kinds", hidden: !about.translates }, element("legend", {}, "Which heads"), ...labels);
      this.element.addEventListener("change", ({ target }) => {
        this.choose(target.value);
        chooseKind();
      });
      this.choose(this.kind);
    }

    // Those that are shown.
    get looks() {
      return this.all.get(this.kind);
    }

    // An element of each kind's, of which one is seen.
    elements(name) {
      return [...this.all.values()].map((looks) => looks[name]);
    }

    choose(kind) {
      this.kind = kind;
      for (const radio of this.radios) radio.checked = radio.value === kind;
      for (const [name, looks] of this.all) looks.hide(name !== kind);
    }

    markOff(off) {
      for (const looks of this.all.values()) looks.markOff(off);
    }

    // What the heads that are shown look at, from the token `at` of what is written or from
    // the token `atSource` of its source; nothing where it is not known any more.
    show(run, at, atSource) {
      const { looks } = run.steps.get(at);
      const tokens = run.tokens.slice(0, at + 1);
      const from = { token: run.tokens[at], at };
      const { source } = run;
      if (this.kind === "source") {
        const row = rows(source.maps, source.tokens.length, atSource);
        return this.looks.show(source.tokens, row, run.off, { token: source.tokens[atSource], at: atSource });
      }
      if (!looks) return;
      const nWritten = source ? this.size.n_layers * this.size.n_heads * tokens.length : looks.length;
      if (this.kind === "cross") this.looks.show(source.tokens, looks.subarray(nWritten), run.off, from);
      else this.looks.show(tokens, looks.subarray(0, nWritten), run.off, from);
    }
  }

  return { Parts };
})();
