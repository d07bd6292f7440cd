// What the tests of a reader's own sentence do in the page.
"use strict";
window.own = {
  // Puts the element where a chapter would have it.
  async insert(html) {
    const main = document.querySelector("main");
    main.insertAdjacentHTML("afterbegin", html);
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${path_to_root}assets/live.css` });
    await new Promise((done) => {
      link.onload = done;
      document.head.append(link);
    });
    this.place = main.querySelector("[data-own-sentence]");
    for (const name of this.place.dataset.figureScripts.split(" ")) {
      await new Promise((done) => {
        const script = document.createElement("script");
        script.onload = done;
        script.src = path_to_root + name;
        document.head.append(script);
      });
    }
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

  async look(text) {
    await this.sentence(text);
    this.began = performance.now();
    this.place.querySelector("form").requestSubmit();
    return "";
  },

  focus() {
    this.place.querySelector(".own-grid button[tabindex='0']").focus();
    return "";
  },

  async state() {
    // What begins, begins at once.
    await new Promise((done) => setTimeout(done, 20));
    await this.until(() => ["shown", "refused"].includes(this.place.dataset.state));
    const waited = Math.round(performance.now() - this.began);
    this.began = null;
    const text = (selector) => this.place.querySelector(selector)?.textContent ?? null;
    return JSON.stringify({
      waited,
      state: this.place.dataset.state,
      error: text(".live-error"),
      words: text(".live-words"),
      title: text("#own-one"),
      looked: window.ownSentence?.looked,
      took: window.ownSentence?.took,
      shares: window.ownSentence && [...window.ownSentence.shares],
    });
  },

  // What the element says when nothing more comes.
  async rest() {
    await new Promise((done) => setTimeout(done, 500));
    return this.place.innerText;
  },

  async problems() {
    const problems = [];
    const width = document.documentElement.scrollWidth;
    if (width > innerWidth) problems.push(`the page is ${width} px wide in a window of ${innerWidth}`);
    const canvas = this.place.querySelector("canvas");
    if (!canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)) {
      problems.push("the small maps are empty");
    }
    const rules = await axe.run(this.place, { resultTypes: ["violations"] });
    for (const rule of rules.violations) {
      if (!["serious", "critical"].includes(rule.impact)) continue;
      problems.push(`${rule.help} (${rule.id}): ${rule.nodes.slice(0, 3).map((node) => node.html).join(" ")}`);
    }
    return JSON.stringify(problems);
  },
};
