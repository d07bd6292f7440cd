// Where all heads look from one token, small; and the chosen one over the text.
"use strict";
window.headLooks = (() => {
  const { element, share } = window.headWords;
  const { colours, contrast, shade, paint } = window.headDrawing;

  // A head has no more cells than this: of neighbours the largest share.
  const MOST_CELLS = 48;
  const N_STRONGEST = 6;
  const LAYERS_A_FRAME = 4;

  // All heads as one picture, a row per layer: heads side by side, each its shares.
  function picture(looks, nLayers, nHeads) {
    const n = looks.length / (nLayers * nHeads);
    const nCells = Math.min(n, MOST_CELLS);
    const width = nHeads * nCells;
    const cells = new Float32Array(nLayers * width);
    for (let head = 0; head < nLayers * nHeads; head++) {
      const first = Math.floor(head / nHeads) * width + (head % nHeads) * nCells;
      for (let key = 0; key < n; key++) {
        const at = first + Math.floor((key * nCells) / n);
        cells[at] = Math.max(cells[at], looks[head * n + key]);
      }
    }
    return { cells, width };
  }

  // A bar and its number.
  function bar(name, number, most, told, className = "") {
    const track = element("span", { className: "own-track" }, element("span"));
    track.firstChild.style.inlineSize = `${(100 * number) / most}%`;
    return element("li", { className }, element("span", { className: "own-piece" }, name), track, element("span", { className: "own-number" }, told));
  }

  class Looks {
    // Names of heads begin with `prefix`.
    constructor({ n_layers: nLayers, n_heads: nHeads }, prefix, choose) {
      Object.assign(this, { nLayers, nHeads, prefix, choose, head: 0, spans: [] });
      this.grid = element("div", { className: "own-heads" });
      this.grid.setAttribute("role", "group");
      this.grid.setAttribute("aria-label", "All heads: a row per layer");
      this.grid.style.setProperty("--heads", nHeads);
      this.grid.style.setProperty("--layers", nLayers);
      this.canvas = element("canvas", { className: "own-picture", height: nLayers });
      this.canvas.setAttribute("aria-hidden", "true");
      this.canvas.style.gridRow = `1 / span ${nLayers}`;
      this.grid.append(this.canvas);
      this.buttons = [];
      for (let layer = 0; layer < nLayers; layer++) for (let head = 0; head < nHeads; head++) this.buttons.push(this.button(layer, head));
      this.addLayers(0);
      this.grid.addEventListener("click", ({ target }) => this.pick(this.buttons.indexOf(target.closest("button"))));
      this.grid.addEventListener("keydown", (event) => this.key(event));
      this.title = element("p", { className: "own-caption" });
      this.text = element("p", { className: "own-tokens own-shares" });
      this.strongest = element("ol", { className: "own-bars" });
      this.even = element("p", { className: "own-note" });
    }

    button(layer, head) {
      const name = `Head ${this.prefix}${layer}.${head}`;
      const made = element("button", { type: "button", title: name, tabIndex: -1 });
      made.setAttribute("aria-label", name);
      made.setAttribute("aria-pressed", "false");
      return made;
    }

    // Some layers a frame: hundreds of buttons at once would keep the page waiting.
    addLayers(first) {
      const end = Math.min(first + LAYERS_A_FRAME, this.nLayers);
      for (let layer = first; layer < end; layer++) {
        const row = [element("span", { className: "own-layer" }, String(layer)), ...this.buttons.slice(layer * this.nHeads, (layer + 1) * this.nHeads)];
        row.forEach((it, column) => (it.style.gridArea = `${layer + 1} / ${column + 1}`));
        this.grid.append(...row);
      }
      requestAnimationFrame(() => (end < this.nLayers ? this.addLayers(end) : this.begin()));
    }

    begin() {
      this.paint(new Float32Array(this.buttons.length));
      this.showHead();
    }

    paint(looks) {
      const { cells, width } = picture(looks, this.nLayers, this.nHeads);
      if (this.canvas.width !== width) this.canvas.width = width;
      // Written often and small: better not in a graphics card's memory.
      this.pen ??= this.canvas.getContext("2d", { willReadFrequently: true });
      paint(this.pen, [width, this.nLayers], cells, this.ink(), 1);
    }

    // The theme's colours, read again when there is another.
    ink() {
      const theme = document.documentElement.className;
      if (this.theme !== theme) Object.assign(this, { theme, colours: colours(this.grid) });
      return this.colours;
    }

    name(head = this.head) {
      return `${this.prefix}${Math.floor(head / this.nHeads)}.${head % this.nHeads}`;
    }

    named(name) {
      const [layer, head] = name.slice(this.prefix.length).split(".").map(Number);
      return layer * this.nHeads + head;
    }

    // The shares of a head.
    of(head) {
      const n = this.tokens.length;
      return this.looks.subarray(head * n, (head + 1) * n);
    }

    hide(isHidden) {
      for (const it of [this.grid, this.title, this.text, this.strongest, this.even]) it.hidden = isHidden;
    }

    // `tokens` are those that are looked at, `from` is the one that looks. Each part is drawn in
    // a frame of its own, so that none keeps the page waiting.
    show(tokens, looks, off, from) {
      Object.assign(this, { tokens, looks, from });
      cancelAnimationFrame(this.later);
      this.later = requestAnimationFrame(() => {
        this.markOff(off);
        this.paint(looks);
        this.later = requestAnimationFrame(() => {
          this.showHead();
          this.later = 0;
        });
      });
    }

    markOff(off) {
      this.buttons.forEach((button, head) => {
        const isOff = off.includes(this.name(head));
        if (button.classList.contains("own-off") === isOff) return;
        button.classList.toggle("own-off", isOff);
        button.setAttribute("aria-label", `Head ${this.name(head)}${isOff ? ", off" : ""}`);
      });
    }

    showHead() {
      const pressed = this.buttons[this.head];
      if (this.pressed !== pressed) {
        this.pressed?.setAttribute("aria-pressed", "false");
        if (this.pressed) this.pressed.tabIndex = -1;
        pressed.setAttribute("aria-pressed", "true");
        pressed.tabIndex = 0;
        this.pressed = pressed;
      }
      if (!this.looks) {
        this.title.textContent = `Head ${this.name()}`;
        return;
      }
      const { tokens, from } = this;
      const shares = this.of(this.head);
      const n = shares.length;
      const told = (number) => share(number, n > 50 ? 3 : 2);
      this.title.textContent = `Head ${this.name()}, from “${from.token.piece}” (token ${from.at})`;
      this.tint(tokens, shares, told);
      const order = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, N_STRONGEST);
      this.strongest.replaceChildren(...order.map((key) => bar(`${tokens[key].piece} (${key})`, shares[key], 1, told(shares[key]))));
      this.even.textContent = `With equal weights each token would get ${told(1 / n)}.`;
    }

    // The text, darker where it gets more; spans stay where the text is the same.
    tint(tokens, shares, told) {
      const ink = this.ink();
      while (this.spans.length > tokens.length) this.spans.pop().span.remove();
      tokens.forEach((token, key) => {
        const kept = this.spans[key];
        if (kept?.token !== token) {
          const span = element("span", {}, token.adds || "·");
          if (kept) kept.span.replaceWith(span);
          else this.text.append(span);
          this.spans[key] = { token, span };
        }
        const { span } = this.spans[key];
        const colour = shade(ink, shares[key]);
        const dark = contrast(colour, ink.text) >= contrast(colour, ink.paper) ? ink.text : ink.paper;
        span.title = `${token.piece}: ${told(shares[key])}`;
        span.style.background = `rgb(${colour})`;
        span.style.color = `rgb(${dark})`;
      });
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
