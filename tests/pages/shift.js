// Notes what moves in a page without its reader's doing, as browsers report it.
"use strict";
window.shift = {
  entries: [],

  watch() {
    new PerformanceObserver((list) => {
      for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
        if (hadRecentInput) continue;
        const names = sources.map(({ node }) => node?.className || node?.nodeName || "a part that is gone");
        this.entries.push({ value, at: startTime, names });
      }
    }).observe({ type: "layout-shift", buffered: true });
  },

  // Reads the page to its end.
  async read() {
    const rest = (ms) => new Promise((done) => setTimeout(done, ms));
    await document.fonts.ready;
    await rest(1000);
    const height = () => document.documentElement.scrollHeight;
    while (scrollY + innerHeight < height() - 2) {
      const before = scrollY;
      scrollBy({ top: 400, behavior: "instant" });
      await rest(80);
      if (scrollY === before) break;
    }
    await rest(500);
    return JSON.stringify(this.worst());
  },

  // The window of at most five seconds, with less than one between two shifts, in which most
  // moved: the metric's own definition.
  worst() {
    let worst = { value: 0, names: [] };
    let now = null;
    for (const { value, at, names } of this.entries) {
      if (!now || at - now.last >= 1000 || at - now.first >= 5000) now = { value: 0, names: [], first: at };
      now.value += value;
      now.last = at;
      now.names.push(...names);
      if (now.value > worst.value) worst = { value: now.value, names: [...new Set(now.names)] };
    }
    return worst;
  },
};
window.shift.watch();
