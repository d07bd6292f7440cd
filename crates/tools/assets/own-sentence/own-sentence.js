// Sentences in all heads of a whole model: those that come with the page at once, and a
// reader's own in a model whose files are chosen from disk, computed by a worker. A model that
// writes goes on with a text instead (writer.js). Where something cannot be, the page stays as
// it is.
"use strict";
(() => {
  const place = document.querySelector("[data-own-sentence]");
  const isWeb = /^https?:$/.test(location.protocol);
  // All chapters in one are there to be printed.
  const isPrint = /print\.html$/.test(location.pathname);
  if (!place || !isWeb || isPrint) return;

  const { mount, byLayer, element } = window.headExplorer;
  const root = new URL(path_to_root || "./", location.href).href;
  const state = (name) => (place.dataset.state = name);

  // ---- The sentences that come with the page: maps of bytes, in a safetensors file each.

  const kept = JSON.parse(place.dataset.sentences);
  const texts = new Map(); // by key, promises

  async function fetched(file) {
    const answer = await fetch(root + file, { cache: "no-cache" });
    if (!answer.ok) throw new Error(`the maps of this sentence did not come (${answer.status})`);
    const buffer = await answer.arrayBuffer();
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const { __metadata__: { tokens }, maps } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    const pieces = tokens.split(" ");
    const [nLayers, nHeads] = maps.shape;
    return {
      pieces, special: pieces.map((_, i) => i === 0 || i === pieces.length - 1), causal: false,
      maps: new Uint8Array(buffer, 8 + length + maps.data_offsets[0]), one: 255, names: byLayer(nLayers, nHeads),
    };
  }

  // An explorer of those that come with the page, or of a reader's first.
  function explore(listed, first, beside) {
    const source = {
      id: "heads", texts: listed, beside,
      modes: [["all", "All keys"], ["first", "Without the first token"]], first,
      async load(key, mode) {
        const file = kept.find((it) => it.key === key)?.file;
        if (!texts.has(key)) texts.set(key, fetched(file));
        try {
          return { text: await texts.get(key), isWithoutFirst: mode === "first" };
        } catch (problem) {
          texts.delete(key); // the next time it may come
          throw problem;
        }
      },
    };
    return (window.wholeModel = mount(shown, source));
  }
  const shown = element("div");
  place.prepend(shown);
  let explorer = kept.length ? explore(kept.map(({ key, name }) => ({ key, name })), { text: kept[0].key, beside: kept[1].key, head: "3.1" }, true) : null;

  // ---- A worker for the reader's own model, and answers to those who asked.

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
      ...["config.json", "tokenizer.json", "model.safetensors"].flatMap((name, i) => [i ? ", " : "", element("code", {}, name)]),
      "; or one GGUF file, ", element("code", {}, "NAME.gguf")),
    files, progress,
    element("small", {}, "Choose all of a folder at once, its other files too, or drop them here. They are read in this page and sent nowhere."));
  const sentence = element("input", { type: "text", id: "own-text", autocomplete: "off", disabled: true, value: kept[0]?.name ?? "The bank of the river." });
  const button = element("button", { type: "submit", disabled: true }, "Look");
  const asks = [element("label", { htmlFor: "own-text" }, "Your sentence"), sentence, button];
  const form = element("form", { className: "live-controls own-form" }, drop, ...asks);
  const writing = element("div", { className: "own-writer" });
  const error = element("p", { className: "live-error" });
  error.setAttribute("role", "alert");
  const words = element("output", { className: "live-words" });
  words.setAttribute("aria-live", "polite");

  const isReady = (is) => (sentence.disabled = button.disabled = !is);
  // A sentence is asked for unless the model writes.
  function showAsked(isSentence) {
    for (const it of asks) it.hidden = !isSentence;
    if (isSentence) writing.replaceChildren();
  }

  // What is shown is of another sentence: it stays, greyed, until one is chosen.
  function refuse(said) {
    progress.hidden = true;
    words.textContent = "";
    explorer?.grey();
    error.textContent = said;
    state("refused");
  }

  function read(chosen) {
    if (!chosen.length) return;
    error.textContent = words.textContent = "";
    last.switchOff = undefined;
    explorer?.grey();
    isReady(false);
    writing.replaceChildren();
    progress.hidden = false;
    progress.value = 0;
    state("reading");
    const began = performance.now();
    const request = { files: new Map([...chosen].map((file) => [file.name, file])) };
    ask(request, ({ progress: part, about, memory, error: said, done }) => {
      if (part) progress.value = part;
      if (!done) return;
      progress.hidden = true;
      if (said !== undefined) return refuse(said);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      window.ownModel = { about, memory, seconds };
      showAsked(!about.writes);
      state("read");
      if (about.writes) return write(about, memory, seconds);
      isReady(true);
      words.textContent = `A model of the family ${about.family}: ${about.n_layers} layers of ` +
        `${about.n_heads} heads, read in ${seconds} s.`;
      look();
    });
  }

  function described({ family, translates, encoder, decoder, n_positions: nPositions, left_out: leftOut, ...about }) {
    const layers = (it) => `${it.n_layers} layers of ${it.n_heads} heads`;
    if (!translates) {
      const shared = about.n_kv_heads < about.n_heads ? ` on ${about.n_kv_heads} of keys and values` : "";
      return `A model that writes, of the family ${family}: ${layers(about)}${shared}`;
    }
    const longest = nPositions ? `${nPositions} positions` : "texts of any length";
    const not = leftOut.length ? ` (its files ask for ${leftOut.join(", ")} too, which is not done here)` : "";
    return `A model that reads one text and writes another, of the family ${family}: ${layers(encoder)} read, ${layers(decoder)} write, ${longest}${not}`;
  }

  function write(about, memory, seconds) {
    const read = `${described(about)}, read in ${seconds} s. It takes ${(memory / 1e6).toFixed(0)} MB of this page's memory.`;
    words.textContent = read;
    // A model that writes has no sentence: those that came with the page stay.
    explorer?.grey(false);
    const host = {
      ask, state,
      refuse(said) {
        error.textContent = said;
        words.textContent = "";
        state("refused");
      },
      words(said) {
        error.textContent = "";
        words.textContent = said || read;
      },
    };
    window.ownWriter = window.modelWriter.mount(writing, about, host);
  }

  let nLooked = 0;
  let last = {};

  const switchOff = (heads, each) => ask({ off: heads }, each);

  function look() {
    state("looking");
    explorer?.grey();
    const asked = sentence.value;
    ask({ sentence: asked }, ({ looked, shares, took, error: said }) => {
      if (said !== undefined) return refuse(said);
      error.textContent = "";
      const { pieces, special, causal, n_heads: nHeads } = looked;
      const n = pieces.length;
      const nMaps = shares.length / n ** 2;
      words.textContent = `${n} tokens in ${nMaps} heads, computed in ${(took / 1000).toFixed(2)} s.`;
      window.ownSentence = { looked, shares, took };
      const key = `own-${++nLooked}`;
      // The module has the last sentence alone: heads of an earlier one cannot be switched off.
      last.switchOff = undefined;
      const text = { pieces, special, causal, maps: shares, one: 1, names: byLayer(nMaps / nHeads, nHeads), switchOff };
      last = text;
      texts.set(key, Promise.resolve(text));
      const yours = { key, name: `Yours: ${asked}` };
      const added = explorer ? explorer.add(yours) : (explorer = explore([yours], { text: key }, false)).ready;
      added.then(() => state("shown"));
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
  // mdBook leafs at an arrow key, which here moves within a text.
  form.addEventListener("keydown", (event) => event.stopPropagation());

  // A module with one instruction on vectors, which browsers have had since 2021.
  const VECTORS = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

  async function open() {
    if (!window.WebAssembly || !window.Worker || !WebAssembly.validate(VECTORS)) return;
    const { encoder } = await window.liveModule.found("encoder", place);
    if (!encoder) return;
    start(encoder);
    shown.after(form, error, words, writing);
    state("ready");
  }
  open().catch(() => {});
})();
