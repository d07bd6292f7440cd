// A text that a model writes: its tokens, which a reader can choose, and what was found at each
// token from which it wrote.
"use strict";
window.writtenText = (() => {
  const { element } = window.headWords;

  // So many shares are kept of a text: those of its first tokens go first.
  const MOST_SHARES = 12e6;

  class Written {
    // `choose(written, at)` is called with a token from which the model wrote.
    constructor(name, off, choose) {
      Object.assign(this, { name, off, choose, tokens: [], steps: new Map(), nShares: 0, nPrompt: 0, isDone: false, end: "" });
      this.caption = element("p", { className: "own-caption" }, name);
      this.text = element("p", { className: "own-tokens" });
      this.text.setAttribute("role", "group");
      this.text.setAttribute("aria-label", `${name}: the text, token by token`);
      this.element = element("div", { className: "own-written" }, this.caption, this.text);
      this.text.addEventListener("click", ({ target }) => this.pick(this.spans.indexOf(target)));
      this.text.addEventListener("keydown", (event) => this.key(event));
      this.spans = [];
    }

    begin(tokens) {
      this.nPrompt = tokens.length;
      for (const token of tokens) this.append(token).classList.add("own-prompt");
    }

    append(token) {
      const span = element("span", {}, token.adds || "·");
      span.title = token.piece;
      this.tokens.push(token);
      this.spans.push(span);
      this.text.append(span);
      return span;
    }

    // What was found at the token `at`, and the token that it wrote.
    add(step) {
      this.steps.set(step.at, step);
      this.nShares += step.looks.length;
      for (const [at, old] of this.steps) {
        if (this.nShares <= MOST_SHARES) break;
        if (at === step.at || !old.looks) continue;
        this.nShares -= old.looks.length;
        old.looks = null;
      }
      this.open(step.at);
      const to = this.append(step.next);
      to.classList.toggle("own-end", step.is_end);
      if (step.is_end) this.end = " The model ended it.";
    }

    // From now on a reader can choose this token.
    open(at) {
      const span = this.spans[at];
      span.setAttribute("role", "button");
      span.setAttribute("aria-pressed", "false");
      span.tabIndex = -1;
      // What is blank has a name all the same.
      const { adds, piece, id } = this.tokens[at];
      if (!adds.trim()) span.setAttribute("aria-label", piece.trim() || `token ${id}`);
    }

    // A source: its tokens look at each other, and none of them was written.
    openAll() {
      this.tokens.forEach((_, at) => {
        this.steps.set(at, { at });
        this.open(at);
      });
    }

    // The last token from which it wrote.
    newest() {
      return Math.max(...this.steps.keys());
    }

    // The first token that is another than in that text.
    compare(other) {
      const parts = this.tokens.findIndex((token, at) => token.id !== other.tokens[at]?.id);
      this.spans.forEach((span, at) => span.classList.toggle("own-other", at === parts));
      this.parts = parts;
      return parts;
    }

    // The token that is shown, and the one that the tab key comes to.
    mark(at, reached = at) {
      this.spans.forEach((span, i) => {
        if (!this.steps.has(i)) return;
        span.setAttribute("aria-pressed", String(i === at));
        span.tabIndex = i === reached ? 0 : -1;
      });
    }

    pick(at) {
      if (this.steps.has(at)) this.choose(this, at);
    }

    key(event) {
      const at = this.spans.indexOf(event.target);
      if (at < 0) return;
      const [first, last] = [Math.min(...this.steps.keys()), this.newest()];
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: first, End: last, Enter: at, " ": at }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      if (!this.steps.has(to)) return;
      this.pick(to);
      this.spans[to].focus();
    }
  }

  return { Written };
})();
