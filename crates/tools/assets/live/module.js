// The module of the live figures, in a worker: opened once, by the first who needs it.
"use strict";
window.liveModule = (() => {
  const isWeb = /^https?:$/.test(location.protocol);
  // All chapters in one are there to be printed.
  const isPrint = /print\.html$/.test(location.pathname);
  const isPossible = isWeb && !isPrint && !!window.WebAssembly && !!window.Worker;
  let worker = null; // a promise: null where there is no module

  // ---- What there is: asked again and again while a module is being compiled.

  const PAUSE = 3000; // ms between two looks
  const MISSES = 40; // looks without an answer, after which a page waits no longer
  const asked = new Map(); // by module: the answer's promise, and who hears of each look

  async function look() {
    const answer = await fetch(`${path_to_root}assets/live.json`, { cache: "no-cache" });
    return answer.json();
  }

  async function find(name, heard) {
    let missed = MISSES;
    for (;;) {
      // While a book replaces another, there is no answer, or one that knows of no module.
      const now = await look().catch(() => ({}));
      const isAwaited = now.awaited?.includes(name);
      if (now[name] || now.still || (!isAwaited && missed++ >= MISSES)) return now;
      if (isAwaited) {
        missed = 0;
        for (const each of heard) each(now);
      }
      await new Promise((done) => setTimeout(done, PAUSE));
    }
  }

  // What live.json says, once it has a module of this name or none will come; until then a
  // line in `place` says that it will.
  async function found(name, place) {
    if (!asked.has(name)) {
      const heard = [];
      asked.set(name, { heard, found: find(name, heard) });
    }
    const line = document.createElement("p");
    line.className = "live-awaited";
    asked.get(name).heard.push(({ since }) => {
      const minutes = Math.max(0, Math.floor((Date.now() / 1000 - since) / 60));
      const passed = minutes ? `, ${minutes} so far` : "";
      line.textContent = `The live parts of this page are being compiled: 2 to 10 minutes the first time${passed}. They appear without a reload.`;
      if (!line.isConnected) place.prepend(line);
    });
    const now = await asked.get(name).found;
    line.remove();
    if (now.still && !document.querySelector(".live-awaited")) {
      line.textContent = `${now.still[0].toUpperCase()}${now.still.slice(1)}.`;
      place.prepend(line);
    }
    return now;
  }

  // ---- The worker, and what it is asked.

  const waiting = new Map();
  let lastId = 0;

  async function start() {
    const { module, weights } = await asked.get("module").found;
    if (!module) return null;
    const url = document.querySelector("[data-worker]").dataset.worker;
    const made = new Worker(path_to_root + url);
    const root = new URL(`${path_to_root}assets/`, location.href).href;
    made.onmessage = ({ data }) => {
      const { id, ...answer } = data;
      waiting.get(id)?.(answer);
    };
    made.onerror = (event) => {
      event.preventDefault();
      for (const answer of waiting.values()) answer({ broken: event.message });
    };
    made.postMessage({ root, module, weights });
    return made;
  }

  // Sends a request; `each` hears every answer to it, the last with `done`.
  function ask(made, request, each) {
    const id = ++lastId;
    waiting.set(id, (answer) => {
      if (answer.done || answer.error !== undefined || answer.broken) waiting.delete(id);
      each(answer);
    });
    made.postMessage({ id, ...request });
    return id;
  }

  async function open(place) {
    await found("module", place);
    return (worker ??= start().catch(() => null));
  }
  return { isPossible, found, open, ask };
})();
