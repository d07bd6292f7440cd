// What a reader has answered, drawn, found and passed, kept in this browser under one key: a state for
// each `kind id`, where an id begins with the topic of its chapter: `question masks/causal-open`.
// Nothing is sent. Where a browser forbids to keep, it is known until the page is closed.
"use strict";
window.progress = (() => {
  const KEY = "learn-progress";
  const RANK = { missed: 1, shown: 1, later: 2, drawn: 3, found: 3, right: 3, passed: 3 };
  let kept = read({});

  function read(otherwise) {
    try {
      const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
      return found && typeof found === "object" && !Array.isArray(found) ? found : {};
    } catch {
      return otherwise;
    }
  }

  function write() {
    try {
      if (Object.keys(kept).length) localStorage.setItem(KEY, JSON.stringify(kept));
      else localStorage.removeItem(KEY);
    } catch {
      // It is known as long as the page is open.
    }
    document.dispatchEvent(new Event("progress"));
    mark();
  }

  // What was reached stays: an answer that was missed once is right later, and never at first.
  function note(kind, id, state) {
    kept = { ...kept, ...read({}) }; // another page may have been open
    const key = `${kind} ${id}`;
    const before = kept[key];
    const now = state === "right" && (before === "missed" || before === "later") ? "later" : state;
    if ((RANK[before] ?? 0) >= (RANK[now] ?? 0)) return;
    kept[key] = now;
    write();
  }

  // How many questions of a chapter there are, by its topic; each page says so.
  function total(topic) {
    const said = document.querySelector("[data-questions]")?.dataset.questions ?? "";
    return Number(said.split(" ").find((it) => it.startsWith(`${topic}:`))?.split(":")[1] ?? 0);
  }

  // `{ total, right, later, missed, drawn, shown, found, passed }`, each a number.
  function of(topic) {
    const counts = { total: total(topic), right: 0, later: 0, missed: 0, drawn: 0, shown: 0, found: 0, passed: 0 };
    for (const [key, state] of Object.entries(kept)) {
      const [kind, id] = key.split(" ");
      const isShown = state === "shown" && kind === "live"; // an answer that was given
      if (id?.startsWith(`${topic}/`) && state in counts && !isShown) counts[state] += 1;
    }
    return counts;
  }

  function clear() {
    kept = {};
    write();
  }

  // ---- In the contents and on the first page, beside each chapter of which something is known.

  function mark() {
    document.querySelectorAll(".progress-mark").forEach((it) => it.remove());
    for (const link of document.querySelectorAll("#mdbook-sidebar a[href], main .cards a[href]")) {
      const topic = link.getAttribute("href").match(/(?:^|\/)\d+-([^/]*)\.html$/)?.[1];
      if (!topic) continue;
      const { total: all, right, later, missed, drawn, found, passed } = of(topic);
      if (!(right + later + missed + drawn + found + passed)) continue;
      const n = Math.min(right + later, all);
      const made = document.createElement("span");
      made.className = "progress-mark";
      made.setAttribute("role", "img");
      const more = (drawn ? `, figures drawn: ${drawn}` : "") + (found ? `, found in live figures: ${found}` : "") + (passed ? `, exercises passed: ${passed}` : "");
      made.title = `${n} of ${all} questions right${more}`;
      made.setAttribute("aria-label", made.title);
      made.textContent = `${n}/${all}${passed ? ` ✓${passed}` : ""}`;
      link.append(made);
    }
    markPassed();
  }

  // At an exercise, and in the list of all.
  function markPassed() {
    const passed = new Set(Object.keys(kept).filter((key) => key.startsWith("exercise ")).map((key) => key.split("/")[1]));
    for (const place of document.querySelectorAll("[data-passed]")) place.textContent = passed.has(place.dataset.passed) ? " ✓ passed" : "";
  }

  // The chapter of this page, without its number.
  const topic = () => location.pathname.split("/").pop().replace(/^\d+-/, "").replace(/\.html$/, "");

  addEventListener("storage", ({ key }) => {
    if (key !== KEY && key !== null) return;
    kept = read({});
    document.dispatchEvent(new Event("progress"));
    mark();
  });
  mark();
  return {
    note, of, clear, topic,
    all: () => ({ ...kept }),
    exported: () => JSON.stringify({ book: "Many Heads", version: 1, kept }, null, 2),
  };
})();
