// What the tests of a model that writes do in the page.
"use strict";
window.ownModelTried = {
  place: document.querySelector("[data-own-sentence]"),

  async until(holds) {
    const deadline = performance.now() + 60000;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`still ${this.place.dataset.state} after a minute`);
      await new Promise((done) => requestAnimationFrame(done));
    }
  },

  async open() {
    this.place.scrollIntoView({ behavior: "instant" });
    await this.until(() => this.place.querySelector("#own-files"));
    return "";
  },

  clear() {
    this.place.querySelector("#own-files").value = "";
    return "";
  },

  // Writes; with the fields as given.
  write(fields) {
    const { ownWriter: writer } = window;
    for (const [name, value] of Object.entries(fields)) writer[name].value = value;
    writer.form.requestSubmit();
    return "";
  },

  names(line) {
    const { names } = window.ownWriter;
    names.element.open = true;
    names.names.value = line;
    names.element.querySelector("form").requestSubmit();
    return "";
  },

  // Where to click on it.
  async spot(selector) {
    const found = this.place.querySelector(selector);
    found.scrollIntoView({ behavior: "instant", block: "center" });
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { left, top, width, height } = found.getBoundingClientRect();
    return JSON.stringify([left + width / 2, top + height / 2]);
  },

  async axe() {
    const { violations } = await axe.run(this.place, { resultTypes: ["violations"] });
    return JSON.stringify(violations.map((rule) => `${rule.help} (${rule.id}): ${rule.nodes.slice(0, 3).map((node) => node.html).join(" ")}`));
  },

  // When nothing is under way any more.
  async state() {
    await new Promise((done) => setTimeout(done, 50));
    await this.until(() => ["ready", "read", "shown", "written", "refused"].includes(this.place.dataset.state));
    await this.until(() => !window.ownWriter?.looks.later);
    const { ownWriter: writer, ownModel } = window;
    const text = (selector) => this.place.querySelector(selector)?.textContent ?? null;
    const runs = Object.entries(writer?.runs ?? {}).map(([key, run]) => [key, {
      off: run.off, caption: run.caption.textContent, differs: run.parts ?? null,
      ids: run.tokens.map(({ id }) => id), nPrompt: run.nPrompt, text: run.text.textContent,
      source: run.source && { ids: run.source.tokens.map(({ id }) => id), maps: [...run.source.maps] },
      steps: [...run.steps.values()].map(({ at, likely, looks }) => ({ at, likely, looks: [...looks] })),
    }]);
    return JSON.stringify({
      state: this.place.dataset.state, error: text(".live-error"), told: text(".live-words"), about: ownModel?.about,
      runs: Object.fromEntries(runs), head: text(".own-head > .own-caption:not([hidden])"), next: text(".own-next > .own-caption"),
      strongest: text(".own-head .own-bars:not([hidden]) > li:first-child > .own-number"), nBars: this.place.querySelectorAll(".own-next li").length,
      prompt: writer?.prompt.value ?? null, label: text(".own-wide > span"), keys: text(".own-shares:not([hidden])"),
      focus: document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "",
      wide: document.documentElement.scrollWidth > innerWidth,
    });
  },
};
