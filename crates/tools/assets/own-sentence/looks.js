// Where all heads look from one token, small; and the chosen one over the text.
"use strict";
window.headLooks = (() => {
  const { element, share } = window.headWords;
  const { colours, contrast, shade, paint } = window.headDrawing;

  // A strip has no more cells than this: of neighbours the largest share.
  const MOST_CELLS = 48;
  const N_STRONGEST = 6;

  function cells(shares) {
    const n = Math.min(shares.length, MOST_CELLS);
    const largest = new Float32Array(n);
    shares.forEach((it, key) => {
      const cell = Math.floor((key * n) / shares.length);
      largest[cell] = Math.max(largest[cell], it);
    });
    return largest;
  }

  // A bar and its number.
  function bar(name, number, most, told, className = "") {
    const track = element("span", { className: "own-track" }, element("span"));
    track.firstChild.style.inlineSize = `${(100 * number) / most}%`;
    return element("li", { className }, element("span", { className: "own-piece" }, name), track, element("span", { className: "own-number" }, told));
  }

  class Looks {
    constructor({ n_layers: nLayers, n_heads: nHeads }, choose) {
      Object.assign(this, { nLayers, nHeads, choose, head: 0 });
      this.grid = element("div", { className: "own-heads" });
      this.grid.setAttribute("role", "group");
      this.grid.setAttribute("aria-label", "All heads: a row per layer");
      this.grid.style.setProperty("--heads", nHeads);
      this.buttons = [];
      for (let layer = 0; layer < nLayers; layer++) {
        this.grid.append(element("span", { className: "own-layer" }, String(layer)));
        for (let head = 0; head < nHeads; head++) this.grid.append(this.button(layer, head));
      }
      this.grid.addEventListener("click", ({ target }) => this.pick(this.buttons.indexOf(target.closest("button"))));
      this.grid.addEventListener("keydown", (event) => this.key(event));
      this.title = element("p", { className: "own-caption" });
      this.text = element("p", { className: "own-tokens own-shares" });
      this.strongest = element("ol", { className: "own-bars" });
      this.even = element("p", { className: "own-note" });
    }

    button(layer, head) {
      const made = element("button", { type: "button", title: `Head ${layer}.${head}`, tabIndex: this.buttons.length ? -1 : 0 }, element("canvas", { height: 1 }));
      made.setAttribute("aria-label", `Head ${layer}.${head}`);
      made.setAttribute("aria-pressed", "false");
      this.buttons.push(made);
      return made;
    }

    name(head = this.head) {
      return `${Math.floor(head / this.nHeads)}.${head % this.nHeads}`;
    }

    // The shares of a head.
    of(head) {
      const n = this.tokens.length;
      return this.looks.subarray(head * n, (head + 1) * n);
    }

    // `tokens` are those up to the one that looks.
    show(tokens, looks, off) {
      Object.assign(this, { tokens, looks });
      const ink = colours(this.grid);
      this.buttons.forEach((button, head) => {
        const isOff = off.includes(this.name(head));
        button.classList.toggle("own-off", isOff);
        button.setAttribute("aria-label", `Head ${this.name(head)}${isOff ? ", off" : ""}`);
        const numbers = cells(this.of(head));
        const canvas = button.firstChild;
        if (canvas.width !== numbers.length) canvas.width = numbers.length;
        paint(canvas.getContext("2d"), [numbers.length, 1], numbers, ink, 1);
      });
      this.showHead();
    }

    showHead() {
      this.buttons.forEach((button, head) => {
        button.setAttribute("aria-pressed", String(head === this.head));
        button.tabIndex = head === this.head ? 0 : -1;
      });
      if (!this.looks) return;
      const { tokens } = this;
      const shares = this.of(this.head);
      const n = shares.length;
      const told = (number) => share(number, n > 50 ? 3 : 2);
      this.title.textContent = `Head ${this.name()}, from “${tokens[n - 1].piece}” (token ${n - 1})`;
      const ink = colours(this.grid);
      this.text.replaceChildren(...tokens.map((token, key) => {
        const span = element("span", { title: `${token.piece}: ${told(shares[key])}` }, token.adds || "·");
        const colour = shade(ink, shares[key]);
        const dark = contrast(colour, ink.text) >= contrast(colour, ink.paper) ? ink.text : ink.paper;
        span.style.background = `rgb(${colour})`;
        span.style.color = `rgb(${dark})`;
        return span;
      }));
      const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, N_STRONGEST);
      this.strongest.replaceChildren(...order.map((key) => bar(`${tokens[key].piece} (${key})`, shares[key], 1, told(shares[key]))));
      this.even.textContent = `Of equal shares each token would get ${told(1 / n)}.`;
    }

    pick(head) {
      if (head < 0) return;
      this.head = head;
      this.showHead();
      this.choose();
    }

    key(event) {
      const at = this.buttons.indexOf(event.target);
      const last = this.buttons.length - 1;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - this.nHeads, ArrowDown: at + this.nHeads, Home: 0, End: last }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      if (to < 0 || to > last) return;
      this.pick(to);
      this.buttons[to].focus();
    }
  }

  return { Looks, bar };
})();
