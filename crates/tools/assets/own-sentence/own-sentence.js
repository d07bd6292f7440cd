// A reader's own sentence in all heads of a reader's own model: files are chosen from disk,
// a worker computes, and this shows. Where it cannot be, the page stays as it is.
"use strict";
(() => {
  const place = document.querySelector("[data-own-sentence]");
  const isWeb = /^https?:$/.test(location.protocol);
  // All chapters in one are there to be printed.
  const isPrint = /print\.html$/.test(location.pathname);
  if (!place || !isWeb || isPrint || !window.WebAssembly || !window.Worker) return;

  const { element } = window.headMaps;

  // ---- The worker, and answers to those who asked.

  const root = new URL(path_to_root || "./", location.href).href;
  const waiting = new Map();
  let worker = null;
  let lastId = 0;

  function ask(request, each) {
    const id = ++lastId;
    waiting.set(id, each);
    worker.postMessage({ id, ...request });
  }

  function start(module) {
    worker = new Worker(root + place.dataset.encoderWorker);
    worker.onmessage = ({ data: { id, ...answer } }) => {
      const each = waiting.get(id);
      if (answer.done) waiting.delete(id);
      try {
        each?.(answer);
      } catch (problem) {
        // Without this the page would wait for ever, and say nothing.
        waiting.delete(id);
        refuse(`this cannot be shown: ${problem.message}`);
      }
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const said = { error: "the module cannot be started: reload the page", done: true };
      for (const each of waiting.values()) each(said);
      waiting.clear();
    };
    worker.postMessage({ module: `${root}assets/${module}` });
  }

  // ---- Files and a sentence.

  const files = element("input", { type: "file", multiple: true, id: "own-files" });
  const progress = element("progress", { max: 1, value: 0, hidden: true });
  progress.setAttribute("aria-label", "How much of the model is read");
  const drop = element("div", { className: "own-drop" },
    element("label", { htmlFor: "own-files" }, "The model's files: ",
      ...["config.json", "tokenizer.json", "model.safetensors"].flatMap((name, i) => [i ? ", " : "", element("code", {}, name)])),
    files, progress,
    element("small", {}, "Choose all three at once, or drop them here. They are read in this page and sent nowhere."));
  const sentence = element("input", { type: "text", id: "own-text", autocomplete: "off", disabled: true,
    value: "The animal didn't cross the street because it was too tired." });
  const button = element("button", { type: "submit", disabled: true }, "Look");
  const form = element("form", { className: "live-controls own-form" }, drop,
    element("label", { htmlFor: "own-text" }, "Your sentence"), sentence, button);
  const error = element("p", { className: "live-error" });
  error.setAttribute("role", "alert");
  const words = element("output", { className: "live-words" });
  words.setAttribute("aria-live", "polite");
  const shown = element("div");

  const state = (name) => (place.dataset.state = name);
  const isReady = (is) => (sentence.disabled = button.disabled = !is);

  // What was shown of an earlier sentence is not this one's.
  function refuse(said) {
    progress.hidden = true;
    words.textContent = "";
    shown.replaceChildren();
    error.textContent = said;
    state("refused");
  }

  function read(chosen) {
    if (!chosen.length) return;
    error.textContent = words.textContent = "";
    shown.replaceChildren();
    isReady(false);
    progress.hidden = false;
    progress.value = 0;
    state("reading");
    const began = performance.now();
    const request = { files: new Map([...chosen].map((file) => [file.name, file])) };
    ask(request, ({ progress: part, about, error: said, done }) => {
      if (part) progress.value = part;
      if (!done) return;
      progress.hidden = true;
      if (said !== undefined) return refuse(said);
      isReady(true);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      words.textContent = `A model of the family ${about.family}: ${about.n_layers} layers of ` +
        `${about.n_heads} heads, read in ${seconds} s.`;
      state("read");
      look();
    });
  }

  function look() {
    state("looking");
    ask({ sentence: sentence.value }, ({ looked, shares, took, error: said }) => {
      if (said !== undefined) return refuse(said);
      error.textContent = "";
      const n = looked.pieces.length;
      words.textContent = `${n} tokens in ${looked.heads.length} heads, ` +
        `computed in ${(took / 1000).toFixed(2)} s.`;
      window.ownSentence = { looked, shares, took };
      shown.replaceChildren(...window.ownHeads.show(looked, shares));
      state("shown");
    });
  }

  // The same files may have changed.
  files.addEventListener("click", () => (files.value = ""));
  files.addEventListener("change", () => read(files.files));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    look();
  });
  for (const type of ["dragover", "drop"]) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      if (type === "drop") read(event.dataTransfer.files);
    });
  }
  // mdBook leafs at an arrow key, which here moves within a text or a grid.
  place.addEventListener("keydown", (event) => event.stopPropagation());

  async function open() {
    const found = await fetch(`${root}assets/live.json`, { cache: "no-cache" });
    const { encoder } = await found.json();
    if (!encoder) return;
    start(encoder);
    place.prepend(form, error, words, shown);
    state("ready");
  }
  open().catch(() => {});
})();
