// A model that writes: a prompt goes on token by token, with all heads and without some, and at
// each token stands what might have come next, and where every head looked.
"use strict";
window.modelWriter = (() => {
  const { element, share } = window.headWords;
  const { Written } = window.writtenText;
  const { bar } = window.headLooks;
  const { Parts } = window.headParts;

  const PROMPT = "Mr Nipdurl was thin. Mrs Nipdurl was tall. Mr Nip";
  const SOURCE = "The bank of the river.";
  // T5 is told what to do.
  const TASK = "translate English to German: ";
  // While it writes, what is found at the newest token is shown so often.
  const EVERY = 120; // ms
  const MOST_TOKENS = 2000;

  function field(name, input) {
    return element("label", { className: "own-field" }, element("span", {}, name), input);
  }

  function button(name, run) {
    const made = element("button", { type: "button" }, name);
    made.addEventListener("click", run);
    return made;
  }

  class Writer {
    // A host is { ask, refuse, state, words }: what talks to the worker, and to the reader.
    constructor(place, about, host) {
      Object.assign(this, { place, about, host, runs: {}, off: [], waiting: [], going: null, chosen: null, isPinned: false, drawn: 0, seedOfOthers: 0, atSource: 0 });
      this.parts = new Parts(about, () => this.toggle.replaceChildren(this.toggleName()), () => this.again());
      this.buildForm();
      this.buildTexts();
      // Names are repeated in one text: a model with a source has two.
      if (!about.translates) this.names = new window.namesTest.NamesTest(host, (name) => this.looks.pick(this.looks.named(name)));
      place.replaceChildren(this.form, this.sourceText, this.texts, this.offLine, this.parts.element, this.found, ...(this.names ? [this.names.element] : []));
    }

    // The heads that are shown.
    get looks() {
      return this.parts.looks;
    }

    buildForm() {
      const { translates, family } = this.about;
      const number = (value, more) => element("input", { type: "number", value, ...more });
      this.prompt = element("textarea", { rows: 2, value: translates ? `${family === "t5" ? TASK : ""}${SOURCE}` : PROMPT, spellcheck: false });
      this.nTokens = number(24, { min: 1, max: MOST_TOKENS, step: 1 });
      this.temperature = number(0, { min: 0, step: "any" });
      this.topP = number(1, { min: 0, max: 1, step: "any" });
      this.seed = number(1, { min: 0, step: 1 });
      this.start = element("button", { type: "submit" }, "Write");
      this.stopper = button("Stop", () => this.stop());
      this.stopper.disabled = true;
      this.form = element("form", { className: "live-controls own-write", noValidate: true },
        element("label", { className: "own-field own-wide" }, element("span", {}, translates ? "What it reads" : "What it goes on with"), this.prompt),
        field("Tokens", this.nTokens), field("Temperature (0: greedy)", this.temperature), field("Top-p (1: all)", this.topP), field("Seed", this.seed),
        element("div", { className: "own-buttons" }, this.start, this.stopper));
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.write();
      });
      // mdBook leafs at an arrow key.
      this.place.addEventListener("keydown", (event) => event.stopPropagation());
    }

    buildTexts() {
      this.sourceText = element("div", { className: "own-texts", hidden: true });
      this.texts = element("div", { className: "own-texts" });
      this.offWords = element("span");
      this.offLine = element("p", { className: "own-offline", hidden: true }, this.offWords,
        button("All heads on", () => this.switchOff([])),
        button("As many random heads", () => this.control()));
      this.likelyTitle = element("p", { className: "own-caption" }, "What may come next");
      this.likely = element("ol", { className: "own-bars" });
      this.toggle = button(this.toggleName(), () => this.toggleHead());
      this.toggle.className = "own-toggle";
      this.gridTitle = element("p", { className: "own-caption" }, "Where each head looks: a row per layer, tokens from left to right");
      const all = (name) => this.parts.elements(name);
      this.found = element("div", { className: "own-found" },
        element("div", { className: "own-next" }, this.likelyTitle, this.likely),
        element("div", { className: "own-grid" }, this.gridTitle, ...all("grid")),
        element("div", { className: "own-head" }, ...all("title"), this.toggle, ...all("text"), ...all("strongest"), ...all("even")));
    }

    // ---- Texts.

    settings() {
      const whole = (input) => Number(input.value);
      return { prompt: this.prompt.value, temperature: Number(this.temperature.value), top_p: Number(this.topP.value), seed: whole(this.seed), n_tokens: whole(this.nTokens) };
    }

    // What a form would refuse by itself, in words of the page.
    problem({ temperature, top_p: p, seed, n_tokens: n }) {
      const isWhole = (number, least) => Number.isInteger(number) && number >= least;
      if (!isWhole(n, 1) || n > MOST_TOKENS) return `the number of tokens is ${this.nTokens.value || "empty"}: a whole number from 1 to ${MOST_TOKENS} is expected`;
      if (!(temperature >= 0) || !Number.isFinite(temperature) || this.temperature.value === "") return `the temperature is ${this.temperature.value || "empty"}: 0 or more is expected`;
      if (!(p > 0 && p <= 1)) return `top-p is ${this.topP.value || "empty"}: a number above 0 and at most 1 is expected`;
      if (!isWhole(seed, 0) || this.seed.value === "") return `the seed is ${this.seed.value || "empty"}: a whole number of 0 or more is expected`;
      return null;
    }

    write() {
      const asked = this.settings();
      const problem = this.problem(asked);
      if (problem) return this.host.refuse(problem);
      this.asked = asked;
      this.runs = {};
      this.texts.replaceChildren();
      this.source = null;
      this.begin("all", "With all heads", []);
      if (this.off.length) this.begin("less", this.offName(), this.off);
    }

    offName() {
      return `Without ${this.off.join(", ")}`;
    }

    // Texts are written one after the other; the one with all heads is not given up for another.
    begin(key, name, off) {
      this.runs[key]?.element.remove();
      const run = new Written(name, off, (written, at) => this.choose(written, at));
      this.runs[key] = run;
      this.texts.append(run.element);
      this.waiting.push(run);
      this.isPinned = false;
      if (this.going && this.going !== this.runs.all) this.stopGoing();
      this.next();
    }

    take(key) {
      this.runs[key]?.element.remove();
      if (this.going && this.going === this.runs[key]) this.stopGoing();
      delete this.runs[key];
    }

    stopGoing() {
      this.host.ask({ stop: true }, () => {});
    }

    stop() {
      this.waiting = [];
      this.stopGoing();
    }

    next() {
      if (this.going) return;
      this.waiting = this.waiting.filter((run) => this.texts.contains(run.element));
      const run = (this.going = this.waiting.shift() ?? null);
      this.stopper.disabled = !run;
      if (!run) return;
      this.host.state("writing");
      this.host.words("");
      const began = performance.now();
      let wrote = null;
      this.host.ask({ write: { ...this.asked, off: run.off.join(",") } }, (answer) => {
        const { begun, step, error, done, took } = answer;
        if (begun) run.begin(begun.tokens);
        if (begun?.source) this.readSource(run, begun.source);
        if (step?.is_source) run.source.maps = answer.looks;
        if (step?.n_read) this.host.words(`The ${step.is_source ? "source" : "prompt"}: ${step.n_read} of ${step.n_tokens} tokens are read.`);
        if (step?.next) {
          wrote ??= performance.now();
          run.add({ ...step, looks: answer.looks });
          this.follow(run);
        }
        if (!done) return;
        this.finish(run, error, { prompt: (wrote ?? performance.now()) - began, took });
      });
    }

    // A text that is read first; runs without some heads read the same one.
    readSource(run, tokens) {
      run.source = { tokens, maps: null };
      if (this.source) return;
      this.source = new Written("The source", [], (_, at) => this.chooseSource(at));
      this.source.begin(tokens);
      this.source.openAll();
      this.sourceText.replaceChildren(this.source.element);
      this.sourceText.hidden = false;
      this.atSource = 0;
    }

    finish(run, error, { prompt, took }) {
      this.going = null;
      run.isDone = true;
      if (error !== undefined) {
        this.waiting = [];
        this.stopper.disabled = true;
        if (!run.steps.size) run.element.remove();
        return this.host.refuse(error);
      }
      const n = run.steps.size;
      run.speed = n > 1 ? (n - 1) / (took.writing / 1000) : null;
      const speed = run.speed ? `, then ${run.speed.toFixed(1)} tokens a second` : "";
      const { all } = this.runs;
      let parts = "";
      if (run !== all && all) {
        const at = run.compare(all);
        parts = at < 0 ? " It is the same text." : ` The first token that differs, number ${at}, is underlined.`;
      }
      if (this.texts.contains(run.element)) {
        run.caption.textContent = `${run.name}.${run.end}${parts}`;
        this.host.words(`${run.name}: a ${run.source ? `source of ${run.source.tokens.length}` : `prompt of ${run.nPrompt}`} tokens, ${n} written; the first after ${(prompt / 1000).toFixed(2)} s${speed}.`);
        if (n && !this.isPinned) this.show(run, run.newest());
      }
      if (this.waiting.length) return this.next();
      this.stopper.disabled = true;
      this.host.state("written");
    }

    // ---- One token.

    // A reader who has chosen an earlier token stays there.
    choose(run, at) {
      this.isPinned = at !== run.newest();
      if (this.parts.kind === "source") this.parts.choose("cross");
      this.show(run, at);
    }

    // A token of the source: from there the source's heads look.
    chooseSource(at) {
      this.atSource = at;
      this.parts.choose("source");
      this.again();
    }

    // The same token with other heads.
    again() {
      this.toggle.replaceChildren(this.toggleName());
      const { chosen } = this;
      if (chosen && this.texts.contains(chosen.element)) this.show(chosen, chosen.at);
    }

    follow(run) {
      // A long text takes longer to draw.
      const isDue = performance.now() - this.drawn >= Math.max(EVERY, run.tokens.length);
      if (isDue && !this.isPinned && this.texts.contains(run.element)) this.show(run, run.newest());
    }

    show(run, at) {
      this.drawn = performance.now();
      for (const other of Object.values(this.runs)) other.mark(other === run ? at : -1);
      this.source?.mark(this.parts.kind === "source" ? this.atSource : -1, this.atSource);
      this.chosen = run;
      run.at = at;
      const { likely, next } = run.steps.get(at);
      const { temperature, top_p: p } = this.asked;
      const heat = temperature && temperature !== 1 ? `, at temperature ${temperature}` : "";
      const nucleus = temperature && p < 1 ? `, with top-p ${p}` : "";
      this.likelyTitle.textContent = `What may come after “${run.tokens[at].piece}” (token ${at})${heat}${nucleus}`;
      const rows = likely.some(({ id }) => id === next.id) ? likely : [...likely, { ...next, isBelow: true }];
      const most = Math.max(...rows.map(({ p }) => p));
      this.likely.replaceChildren(...rows.map(({ id, piece, p }) =>
        bar(piece, p, most, share(p, p < 0.01 ? 4 : 3), id === next.id ? "own-came" : "")));
      this.parts.show(run, at, this.atSource);
      this.toggle.replaceChildren(this.toggleName());
    }

    // ---- Heads that are off.

    toggleName() {
      const name = this.looks.name();
      return this.off.includes(name) ? `Switch ${name} on again` : `Switch ${name} off`;
    }

    toggleHead() {
      const name = this.looks.name();
      this.switchOff(this.off.includes(name) ? this.off.filter((it) => it !== name) : [...this.off, name]);
    }

    // The same prompt without these heads, beside the text with all.
    switchOff(heads) {
      this.off = heads;
      this.offWords.textContent = `Off: ${heads.join(", ")}`;
      this.offLine.hidden = !heads.length;
      this.toggle.replaceChildren(this.toggleName());
      this.parts.markOff(heads);
      // Before the first text, they are off in the next.
      if (!this.asked) return;
      this.take("others");
      if (heads.length) return this.begin("less", this.offName(), heads);
      this.take("less");
      const { all } = this.runs;
      if (this.chosen !== all && all?.steps.size) this.show(all, all.newest());
    }

    // As many others of the same layers.
    control() {
      if (!this.asked) return this.host.refuse("the control is another text: write one first");
      this.host.ask({ others: this.off, seed: this.seedOfOthers++ }, ({ heads, error }) => {
        if (error !== undefined) return this.host.refuse(error);
        if (!heads.length) return this.host.refuse("these layers have no other heads");
        this.begin("others", `The control, without ${heads.join(", ")}`, heads);
      });
    }
  }

  return { mount: (place, about, host) => new Writer(place, about, host) };
})();
