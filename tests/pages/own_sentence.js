// What the tests of a reader's own sentence do in the page.
"use strict";
window.own = {
  open() {
    this.place = document.querySelector("[data-own-sentence]");
    this.place.scrollIntoView({ behavior: "instant" });
    this.began = null;
    new MutationObserver(() => {
      if (["reading", "looking"].includes(this.place.dataset.state)) this.began ??= performance.now();
    }).observe(this.place, { attributeFilter: ["data-state"] });
    return "";
  },

  async until(holds) {
    const deadline = performance.now() + 60000;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`still ${this.place.dataset.state} after a minute`);
      await new Promise((done) => requestAnimationFrame(done));
    }
    return "";
  },

  clear() {
    this.place.querySelector("#own-files").value = "";
    return "";
  },

  silent() {
    for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "EventSource"]) {
      window[name] = () => {
        throw new Error(`${name} was called`);
      };
    }
    return "";
  },

  async sentence(text) {
    await this.until(() => this.place.querySelector("#own-text"));
    this.place.querySelector("#own-text").value = text;
    return "";
  },

  button() {
    return this.place.querySelector(".own-form > button").textContent;
  },

  async look(text) {
    await this.sentence(text);
    this.began = performance.now();
    this.place.querySelector("form").requestSubmit();
    return "";
  },

  async state() {
    // What begins, begins at once.
    await new Promise((done) => setTimeout(done, 20));
    await this.until(() => ["ready", "shown", "refused"].includes(this.place.dataset.state));
    const waited = Math.round(performance.now() - this.began);
    this.began = null;
    const text = (selector) => this.place.querySelector(selector)?.textContent ?? null;
    return JSON.stringify({
      ...JSON.parse(tried.state()),
      waited,
      state: this.place.dataset.state,
      error: text(".live-error"),
      told: text(".live-words"),
      looked: window.ownSentence?.looked,
      took: window.ownSentence?.took,
      shares: window.ownSentence && [...window.ownSentence.shares],
    });
  },

  // What is switched off, and what it says, when every draw is computed and every map drawn.
  async off() {
    const { off, small } = tried.explorer;
    await this.until(() => !off.heads.size || off.ablated?.n_done === off.ablated?.n_sets);
    await tried.rest();
    return JSON.stringify({
      heads: [...off.heads], ablated: off.ablated, isHidden: off.element.hidden, table: off.table.innerText, words: off.words.textContent,
      told: Object.fromEntries(small.heads.map(({ name, word }) => [name, word.textContent])),
      bars: small.heads.filter(({ bar }) => bar?.isConnected).length, focus: document.activeElement?.querySelector(".explorer-name")?.textContent ?? "",
    });
  },

  // What the element says when nothing more comes.
  async rest() {
    await new Promise((done) => setTimeout(done, 500));
    return this.place.innerText;
  },
};
