// The questions of a live figure, one at a time: the crate says which the figure answers.
"use strict";
window.liveQuestions = (() => {
  const { element } = window.liveControls;

  class Questions {
    // `show` sets the controls to an answer, for who gives up; `begin` to where each question
    // begins. What was found or shown is remembered under `name`. There is room for the
    // longest question and the longest that is found, so that nothing below moves.
    constructor({ questions, longest: [ask, found] }, show, begin, name) {
      Object.assign(this, { questions, begin, name, at: 0, found: new Set(), given: new Set() });
      this.ask = element("p", { className: "live-ask" });
      this.ask.dataset.room = ask;
      this.hint = element("p", { className: "live-hint" });
      this.says = element("p", { className: "live-found" });
      this.says.setAttribute("role", "status");
      this.next = element("button", { type: "button" });
      this.next.addEventListener("click", () => this.turn(1));
      this.give = element("button", { type: "button" }, "Show an answer");
      this.give.addEventListener("click", () => {
        this.given.add(this.at);
        this.note("shown");
        show(questions[this.at].answer);
      });
      const buttons = element("div", { className: "live-turns" }, this.next, this.give);
      const below = element("div", { className: "live-below" }, this.hint, this.says);
      below.dataset.room = found;
      this.element = element("div", { className: "live-questions" }, this.ask, buttons, below);
      this.show();
    }

    // After each answer of the crate: one truth a question.
    heard(answered, isMoved) {
      if (isMoved && answered[this.at]) {
        this.found.add(this.at);
        if (!this.given.has(this.at)) this.note("found");
      }
      this.show();
    }

    note(state) {
      const { progress } = window;
      progress?.note("live", `${progress.topic()}/${this.name}.${this.at}`, state);
    }

    turn(by) {
      this.at = (this.at + by) % this.questions.length;
      this.begin();
      this.show();
      this.ask.tabIndex = -1;
      this.ask.focus();
    }

    show() {
      const { at, questions, found } = this;
      const { ask, found: learnt } = questions[at];
      const n = questions.length;
      const nth = n > 1 ? `<span class="live-nth">${at + 1} of ${n}</span> ` : "";
      this.ask.innerHTML = `<span>${nth}${ask}</span>`;
      const says = found.has(at) ? `Found: ${learnt}` : "";
      if (this.said !== says) this.says.innerHTML = says;
      this.said = says;
      this.element.classList.toggle("is-found", found.has(at));
      this.next.textContent = at + 1 < n ? "Next question" : "First question";
      this.next.hidden = n === 1;
      this.give.disabled = found.has(at);
    }
  }

  return { Questions };
})();
