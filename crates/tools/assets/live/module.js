// The module of the live figures, in a worker: opened once, by the first who needs it.
"use strict";
window.liveModule = (() => {
  const isWeb = /^https?:$/.test(location.protocol);
  // All chapters in one are there to be printed.
  const isPrint = /print\.html$/.test(location.pathname);
  const isPossible = isWeb && !isPrint && !!window.WebAssembly && !!window.Worker;
  let worker = null; // a promise: null where there is no module

  const waiting = new Map();
  let lastId = 0;

  async function start() {
    const found = await fetch(`${path_to_root}assets/live.json`, { cache: "no-cache" });
    const { module, weights } = await found.json();
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

  const open = () => (worker ??= start().catch(() => null));
  return { isPossible, open, ask };
})();
