// Makes the live figures of a page live: a question above each, controls beside or below it,
// and the module that draws it anew, in a worker. The controls stand there at once, so that
// nothing moves later, and cannot be used yet: no module is loaded before a live figure comes
// near the window. Where it cannot run, the page is as if there were none.
"use strict";
(() => {
  const { element, make } = window.liveControls;
  const { Questions } = window.liveQuestions;
  const PART = 0.8; // of the time until the next step, while a figure plays
  const LOOKS = 1000; // ms in sight, before a training is prepared
  const places = [...document.querySelectorAll("[data-live]")];
  const { isPossible, open, ask } = window.liveModule;
  // What kept a place's room until now.
  const empty = (place) => place.querySelectorAll(":scope > .live-room").forEach((it) => it.remove());
  if (!isPossible) {
    for (const place of places) {
      empty(place);
      delete place.dataset.room;
    }
    return;
  }

  const address = new URLSearchParams(location.search);

  // ---- One live figure.

  class LiveFigure {
    constructor(place) {
      this.place = place;
      this.name = place.dataset.live;
      this.figure = place.querySelector("figure");
      this.about = JSON.parse(place.querySelector("script").textContent);
      this.isAsking = false; // whether an answer is under way
      this.isWanted = false; // whether a control has moved since
    }

    // Makes the controls, at what the address says. They wait for the module.
    furnish() {
      const { controls, words } = this.about;
      this.controls = controls.map((control) => {
        const made = { ...control };
        return Object.assign(made, make(control, () => this.changed(made)));
      });
      this.error = element("p", { className: "live-error" });
      this.error.setAttribute("role", "alert");
      this.words = element("output", { className: "live-words" });
      this.words.setAttribute("aria-live", "polite");
      if (words) this.words.dataset.room = words;
      const reset = element("button", { type: "button" }, "Reset");
      reset.addEventListener("click", () => this.reset());
      const link = element("button", { type: "button" }, "Copy link");
      link.addEventListener("click", () => this.copyLink(link));
      this.buttons = element("div", { className: "live-buttons" }, reset, link);
      const form = element("div", { className: "live-controls" }, ...this.rows(), this.buttons);
      // mdBook turns the page at an arrow key, which here moves a control.
      form.addEventListener("keydown", (event) => event.stopPropagation());
      form.setAttribute("role", "group");
      form.setAttribute("aria-label", "Change the figure");
      this.questions = new Questions(this.about, (answer) => this.set(answer), () => this.begins(), this.name);
      empty(this.place);
      this.place.prepend(this.questions.element, this.words, this.error);
      this.place.append(form);
      if (this.about.training) this.addTraining();
      this.furniture = [this.questions.element, this.words, this.error, this.buttons, form];
      for (const part of this.furniture) part.inert = true;
      for (const control of this.controls) {
        const text = address.get(this.keyOf(control)) ?? control.first;
        control.set(text);
        // What a control cannot show is kept as it is, for the figure to say what is wrong.
        if (control.get() !== text) control.other = text;
      }
    }

    // The controls; those that a hand sets in the drawing are folded.
    rows() {
      const elements = (isFolded) => this.controls.filter((it) => it.is_folded === isFolded).map((it) => it.element);
      const [rows, folded] = [elements(false), elements(true)];
      if (!folded.length) return rows;
      const heading = element("summary", {}, "With the keyboard");
      return [...rows, element("details", { className: "live-folded" }, heading, ...folded)];
    }

    // No module will come.
    clear() {
      for (const part of this.furniture) part.remove();
      delete this.place.dataset.room;
    }

    open(made) {
      this.worker = made;
      for (const part of this.furniture) part.inert = false;
      const drawn = window.figures.drawnIn(this.figure);
      const put = (control, text) => this.put([[control, text]]);
      const { watch, hint } = window.liveHandles;
      const under = (event) => window.figures.plotOf(this.figure)?.under(event);
      // A point may be what is dragged; a text or a cell is not.
      watch(drawn, this.controls, put, (pairs) => this.pick(pairs), (event) => {
        const found = under(event);
        return found?.pick && found.width > 0;
      });
      const plot = window.figures.plotOf(this.figure);
      this.questions.hint.textContent = hint(drawn, this.controls, plot, this.about.training);
      drawn.addEventListener("click", (event) => {
        const part = event.target.closest("[data-pick]");
        this.pick(part ? part.dataset.pick : under(event)?.pick);
      });
      this.place.dataset.state = "ready";
      if (this.isSet()) this.changed();
      // Weights are not fetched before a reader asks for it.
      if (!this.about.weights && !this.about.training) {
        this.rehearse();
        this.isWanted = true;
        this.draw();
      }
      if (this.about.training) looked.observe(this.place);
    }

    rehearse() {
      ask(this.worker, { call: "rehearse", name: this.name, settings: this.settings() }, () => {});
    }

    keyOf(control) {
      return `${this.name}.${control.key}`;
    }

    textOf(control) {
      return control.other ?? control.get();
    }

    isSet() {
      return this.controls.some((control) => this.textOf(control) !== control.first);
    }

    settings() {
      return Object.fromEntries(this.controls.map((control) => [control.key, this.textOf(control)]));
    }

    changed(control) {
      if (control) delete control.other;
      this.remember();
      // What is changed without training anew waits for the first training.
      if (this.about.training && !this.follows(control)) return;
      this.isWanted = true;
      this.draw();
    }

    // Of a training: whether what it shows changes with this control.
    follows(control) {
      if (control?.at_any_time && !this.run && this.isSet()) this.begin(true);
      if (this.run?.isBehind && this.isSet()) this.run.isAwaited = true;
      this.mark();
      return this.run && !this.run.isBehind && control?.at_any_time;
    }

    // Of a training: whether what is shown belongs to settings that are no longer set.
    isStale() {
      const isOther = (it) => this.textOf(it) !== (this.trained?.[it.key] ?? it.first);
      return this.controls.some((it) => !it.at_any_time && isOther(it));
    }

    mark() {
      const isStale = this.isStale();
      this.place.classList.toggle("is-stale", isStale);
      if (this.run?.isAwaited) this.train.textContent = "Stop";
      else this.train.textContent = isStale ? "Train with these settings" : "Train";
    }

    // Sets what a part of the drawing stands for: `stop=3`, or `query=3&key=5`.
    pick(pairs) {
      const named = ([key, text]) => [this.controls.find((it) => it.key === key), text];
      this.put([...new URLSearchParams(pairs)].map(named));
    }

    put(all) {
      const moved = all.filter(([control, text]) => control && this.textOf(control) !== text);
      for (const [control, text] of moved) {
        control.set(text);
        delete control.other;
      }
      if (moved.length) this.changed(moved[0][0]);
    }

    // Sets these controls, and the others where they stood first.
    set(pairs) {
      for (const control of this.controls) {
        const pair = pairs.find(([key]) => key === control.key);
        control.set(pair ? pair[1] : control.first);
        delete control.other;
      }
      const isTrained = (this.run?.isBehind || this.run?.isDone) && !this.isStale();
      if (!this.about.training || isTrained) return this.changed(this.anyTime());
      this.remember();
      this.begin();
    }

    // Asks for the newest settings; those that came between are passed over.
    draw() {
      if (this.isAsking || !this.isWanted) return;
      this.isAsking = true;
      this.isWanted = false;
      this.place.dataset.state = "asked";
      const call = this.about.training ? "look" : "draw";
      ask(this.worker, { call, name: this.name, settings: this.settings(), weights: this.about.weights }, (answer) => {
        this.isAsking = false;
        this.show(answer);
        this.draw();
      });
    }

    show({ shown, error, broken }) {
      if (broken) error = "The module that draws this figure has stopped. Reload the page.";
      this.error.textContent = error ?? "";
      if (shown) {
        // While it plays, a move lasts until the next, and is not read aloud. What a hand
        // holds is where the hand is.
        const pace = this.controls.map((control) => control.pace?.()).find(Boolean);
        // The first answer takes the place of what stood there for paper.
        const isAtOnce = !this.shown || this.figure.querySelector(".is-held");
        const ms = isAtOnce ? 0 : pace && PART * pace;
        this.words.setAttribute("aria-live", pace ? "off" : "polite");
        const glide = window.figureMotion.hold(window.figures.drawnIn(this.figure), ms);
        window.figures.show(this.figure, shown.figure);
        this.words.textContent = shown.words;
        this.shown = shown;
        this.questions.heard(shown.answered, this.isSet());
        glide();
      }
      if (!this.isWanted) this.place.dataset.state = error === undefined ? "shown" : "refused";
    }

    // Where each question begins. A training is kept: it was waited for.
    begins() {
      if (!this.about.training) this.reset();
    }

    reset() {
      for (const control of this.controls) {
        control.set(control.first);
        delete control.other;
      }
      this.changed(this.anyTime());
    }

    // A control that is changed without training anew.
    anyTime() {
      return this.controls.find((control) => control.at_any_time);
    }

    // ---- Training: begun by hand, told as it goes, stopped by hand.

    addTraining() {
      this.train = element("button", { type: "button", className: "live-train" }, "Train");
      this.progress = element("progress", { max: 1, value: 0 });
      this.progress.setAttribute("aria-label", "Steps of the training");
      this.train.addEventListener("click", () => (this.run?.isAwaited ? this.stop() : this.begin()));
      this.buttons.prepend(this.train, this.progress);
      // Above what it changes, where the words that grow below do not move it.
      this.questions.element.after(this.buttons);
    }

    // Trains behind what is shown, for a reader who has come to look: what is then changed
    // without training anew is answered at once.
    prepare() {
      if (!this.run && !this.isStale()) this.begin(true);
    }

    // Begins a run of the training: behind what is shown, or awaited, with its progress and
    // its end on the button.
    begin(isBehind = false) {
      const run = (this.run = { isBehind, isAwaited: !isBehind, isDone: false });
      this.trained = this.settings();
      this.mark();
      this.progress.value = 0;
      const state = () => run.isAwaited && (this.place.dataset.state = "training");
      state();
      ask(this.worker, { call: "train", name: this.name, settings: this.settings() }, (answer) => {
        if (this.run !== run) return; // another has begun
        const [taken, all] = answer.progress ?? [0, 1];
        if (run.isAwaited) this.progress.value = taken / all;
        const hasFailed = answer.error !== undefined || answer.broken;
        if (!hasFailed && !answer.done) {
          if (!run.isBehind) this.show(answer);
          return state();
        }
        Object.assign(run, { isBehind: false, isAwaited: false, isDone: taken === all });
        if (!isBehind || hasFailed) this.show(answer);
        this.mark();
        // Its controls may have been moved meanwhile.
        if (isBehind && this.isSet()) this.changed(this.anyTime());
      });
    }

    stop() {
      this.worker.postMessage({ call: "stop" });
    }

    // ---- The address keeps the settings, so that it can be sent to a friend.

    remember() {
      for (const control of this.controls) {
        const [key, text] = [this.keyOf(control), this.textOf(control)];
        if (text === control.first) address.delete(key);
        else address.set(key, text);
      }
      // Browsers refuse more than some changes a second.
      clearTimeout(this.remembering);
      this.remembering = setTimeout(() => history.replaceState(null, "", this.link()), 200);
    }

    link() {
      const query = address.toString();
      return `${location.pathname}${query && `?${query}`}#live-${this.name}`;
    }

    async copyLink(button) {
      const url = location.origin + this.link();
      history.replaceState(null, "", this.link());
      try {
        await navigator.clipboard.writeText(url);
        button.textContent = "Copied";
      } catch {
        button.textContent = "It is in the address bar";
      }
      setTimeout(() => (button.textContent = "Copy link"), 2000);
    }
  }

  // ---- A figure is opened when it comes near.

  const figures = new Map(places.map((place) => [place, new LiveFigure(place)]));
  for (const figure of figures.values()) figure.furnish();
  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      const figure = figures.get(target);
      open(target).then((made) => (made ? figure.open(made) : figure.clear()));
    }
  }, { rootMargin: "800px" });
  // What is trained is looked at for a while.
  const looked = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      const figure = figures.get(target);
      clearTimeout(figure.soon);
      if (isIntersecting) figure.soon = setTimeout(() => figure.prepare(), LOOKS);
    }
  }, { threshold: 0.3 });
  places.forEach((place) => watch.observe(place));
  window.live = { figures, ask };
})();
