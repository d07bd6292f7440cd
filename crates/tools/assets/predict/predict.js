// Asks the questions of a chapter in its page, one at a time. The crate gives them as data:
// each with several rows of numbers, and with each row its answer and the slips that people make.
"use strict";
(() => {
  const { read, judge } = window.predictRead;
  const { progress } = window;
  const STATES = { right: "✓ right on the first try", later: "✓ right", missed: "missed" };

  function make(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  function button(text, act) {
    const made = make("button", { type: "button" }, text);
    made.addEventListener("click", act);
    return made;
  }

  // ---- One question.

  class Question {
    constructor(element, { id, rows }, topic, next) {
      Object.assign(this, { element, rows, id: `${topic}/${id}` });
      const find = (name) => element.querySelector(`.predict-${name}`);
      [this.text, this.state] = [find("text"), make("span", { className: "predict-state" })];
      find("title").append(" ", this.state);
      this.form = make("form", { className: "predict-room" });
      this.form.noValidate = true;
      this.form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.answer();
      });
      find("room").replaceWith(this.form);
      this.says = make("div", { className: "predict-says" });
      this.says.setAttribute("role", "status");
      this.hint = button("Hint", () => this.helped());
      this.again = button("Try again with different numbers", () => this.pose(this.row + 1).focus());
      this.give = button("Show the answer", () => this.given());
      this.turns = make("div", { className: "predict-turns" }, this.hint, this.again, this.give, next);
      this.form.after(this.says, this.turns);
      // Numbers that were missed before do not come first again.
      this.pose(this.kept() === "missed" ? 1 : 0);
    }

    kept() {
      return progress.all()[`question ${this.id}`];
    }

    show() {
      this.state.textContent = STATES[this.kept()] ?? "";
    }

    // The question with a row of numbers. Gives the field to type in, or the first option.
    pose(row) {
      this.row = row % this.rows.length;
      this.now = this.rows[this.row];
      const { text, kind, prompt, options } = this.now;
      this.text.innerHTML = text;
      this.says.replaceChildren();
      this.element.classList.remove("is-answered");
      const submit = make("button", { type: "submit" }, "Answer");
      if (kind === "option") {
        const chips = options.map((value) => make("label", { className: "predict-option" },
          make("input", { type: "radio", name: `predict ${this.id}`, value }), make("span", {}, value)));
        const legend = make("legend", {}, prompt);
        this.form.replaceChildren(make("fieldset", {}, legend, ...chips), submit);
      } else {
        const field = make("input", { type: "text", autocomplete: "off", spellcheck: false, placeholder: prompt });
        field.setAttribute("aria-label", prompt);
        this.form.replaceChildren(field, submit);
      }
      this.turn({ hint: true });
      this.show();
      return this.form.querySelector("input");
    }

    turn({ hint, again, give }) {
      this.again.textContent = give ? "Try again with different numbers" : "The same with different numbers";
      [this.hint.hidden, this.again.hidden, this.give.hidden] = [!hint, !again, !give];
    }

    line() {
      const input = this.form.querySelector(this.now.kind === "option" ? "input:checked" : "input");
      return input?.value ?? "";
    }

    answer() {
      const line = this.line();
      const { kind, right, ways, slips } = this.now;
      const given = line.trim() && read(kind, line);
      if (!given) return this.say("", `That answer could not be read, so it does not count. Enter ${ways}.`);
      const verdict = judge(kind, given, right);
      if (verdict === "near") return this.say("is-near", "Close: that is the right answer, rounded. Enter the exact number.");
      const isShown = this.element.classList.contains("is-answered"); // then it is no answer
      if (!isShown) progress.note("question", this.id, verdict);
      this.show();
      if (verdict === "right") return this.reveal("is-right", `Right: ${this.now.answer}.`);
      const slip = slips.find((it) => judge(kind, given, it.right) !== "missed");
      const says = make("span", { innerHTML: slip?.says ?? "" });
      this.say("is-missed", `It is not ${kind === "option" ? `“${line}”` : line.trim()}. `, says);
      this.turn({ hint: true, again: true, give: true });
    }

    say(look, ...words) {
      this.says.replaceChildren(make("p", { className: `predict-verdict ${look}` }, ...words));
    }

    // What is shown once it has run, and why it is so.
    reveal(look, words) {
      const { shown, why } = this.now;
      this.say(look, words);
      if (shown) this.says.append(make("pre", { tabIndex: 0 }, shown)); // it may scroll
      this.says.append(make("p", { innerHTML: why }));
      this.element.classList.add("is-answered");
      this.turn({ again: true });
    }

    helped() {
      if (this.says.querySelector(".predict-hint")) return;
      this.says.append(make("p", { className: "predict-hint", innerHTML: this.now.hint }));
      this.hint.hidden = true;
    }

    given() {
      progress.note("question", this.id, "missed");
      this.reveal("", `It is ${this.now.answer}.`);
      this.show();
    }
  }

  // ---- The questions of a chapter, and what is remembered.

  function begin(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const elements = [...place.querySelectorAll(".predict-question")];
    const show = (nth) => elements.forEach((it, at) => (it.hidden = at !== nth));
    const next = (at) => button("Next question", () => {
      const to = (at + 1) % questions.length;
      show(to);
      questions[to].text.tabIndex = -1;
      questions[to].text.focus();
    });
    const questions = data.map((it, nth) => new Question(elements[nth], it, place.dataset.predict, next(nth)));
    const isOpen = (it) => !["right", "later"].includes(it.kept());
    place.classList.add("is-asked");
    show(Math.max(0, questions.findIndex(isOpen)));
    // mdBook turns the page at an arrow key, which here chooses an option.
    place.addEventListener("keydown", (event) => event.stopPropagation());
    document.addEventListener("progress", () => questions.forEach((it) => it.show()));
    remember(place);
  }

  function remember(place) {
    const find = (name) => place.querySelector(`[data-${name}]`);
    const status = place.querySelector(".predict-kept [role=status]");
    find("export").addEventListener("click", () => {
      const href = URL.createObjectURL(new Blob([progress.exported()], { type: "application/json" }));
      make("a", { href, download: "attention-progress.json" }).click();
      setTimeout(() => URL.revokeObjectURL(href), 1000);
      status.textContent = "Saved as attention-progress.json.";
    });
    const clear = find("clear");
    clear.addEventListener("click", () => {
      const isSure = clear.textContent !== "Clear";
      if (isSure) progress.clear();
      clear.textContent = isSure ? "Clear" : "Yes, clear all chapters";
      status.textContent = isSure ? "Nothing is remembered now." : "";
    });
  }

  document.querySelectorAll("[data-predict]").forEach(begin);
})();
