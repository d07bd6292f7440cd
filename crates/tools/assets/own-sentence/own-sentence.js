// Sentences in all heads of a whole model: those that come with the page at once, and a
// reader's own, in the model that the book's host has or in one whose files are chosen from
// disk; a worker computes them (encoder.js). A model that writes goes on with a text instead
// (writer.js). Where something cannot be, the page stays as it is.
"use strict";
(() => {
  const place = document.querySelector("[data-own-sentence]");
  const isWeb = /^https?:$/.test(location.protocol);
  // All chapters in one are there to be printed.
  const isPrint = /print\.html$/.test(location.pathname);
  if (!place || !isWeb || isPrint) return;

  const { mount, element, strongest } = window.headExplorer;
  const { encoderModel: encoder } = window;
  const root = new URL(path_to_root || "./", location.href).href;
  const state = (name) => (place.dataset.state = name);

  // ---- The sentences that come with the page.

  const kept = JSON.parse(place.dataset.sentences);
  const texts = new Map(); // by key, promises

  // They come in pairs that differ in one word; beside a reader's own stands the one before.
  function partner(key) {
    const nth = Number(/^own-(\d+)$/.exec(key)?.[1]);
    if (nth) return nth > 1 ? `own-${nth - 1}` : "";
    const at = kept.findIndex((it) => it.key === key);
    return at < 0 ? "" : kept[at % 2 ? at - 1 : at + 1].key;
  }

  // An explorer of those that come with the page, or of a reader's first.
  function explore(listed, first) {
    const source = {
      id: "heads", texts: listed, beside: true, partner,
      modes: [["all", "All keys"], ["first", "Without the first token"]], first,
      async load(key, mode) {
        const file = kept.find((it) => it.key === key)?.file;
        if (!texts.has(key)) texts.set(key, window.headKept.fetched(root + file));
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
  let explorer = kept.length ? explore(kept.map(({ key, name }) => ({ key, name })), { text: kept[0].key, head: "3.1" }) : null;

  // ---- What stands around them: a sentence above, and a reader's files below.

  const megabytes = (n) => `${Math.max(1, Math.round(n / 1e6))} MB`;
  const code = (text) => element("code", {}, text);

  const sentence = element("input", { type: "text", id: "own-text", autocomplete: "off", value: kept[0]?.name ?? "The bank of the river." });
  const label = element("label", { htmlFor: "own-text" }, "Your sentence");
  const button = element("button", { type: "submit" }, "Look");
  const missing = element("p", { className: "own-missing", hidden: true });
  const progress = element("progress", { max: 1, value: 0, hidden: true });
  progress.setAttribute("aria-label", "How much of the model has loaded");
  const form = element("form", { className: "live-controls own-form" }, label, sentence, button, progress, missing);

  const files = element("input", { type: "file", multiple: true, id: "own-files" });
  const drop = element("div", { className: "own-drop" },
    element("label", { htmlFor: "own-files" }, "The model's files: ",
      ...["config.json", "tokenizer.json", "model.safetensors"].flatMap((name, i) => [i ? ", " : "", code(name)]),
      "; or one GGUF file, ", code("NAME.gguf")),
    files, element("small", {}, "Select every file in the model's folder at once, or drop them here. They are read in this page and never uploaded."));
  const other = element("details", { className: "own-other-model" }, element("summary", {}, "Another model, from your files"), drop);
  const writing = element("div", { className: "own-writer" });
  const error = element("p", { className: "live-error" });
  error.setAttribute("role", "alert");
  const words = element("output", { className: "live-words" });
  words.setAttribute("aria-live", "polite");

  // ---- The model: the one that the host has, or one from files.

  const key = place.dataset.model;
  const isWriter = !kept.length;
  let about = null; // what the host has
  let isRead = false; // whether a model is there to be asked

  // What can be asked: a sentence, where a model reads some or would; the host's model, where it
  // is not loaded; and the command that brings it, where the host has none.
  function showAsked(writes = isWriter) {
    const canLoad = Boolean(about) && !isRead;
    label.hidden = sentence.hidden = writes || !(isRead || canLoad);
    button.hidden = writes ? !canLoad : label.hidden;
    button.disabled = sentence.disabled = false;
    missing.hidden = Boolean(about) || isRead;
    form.hidden = [label, button, missing, progress].every((it) => it.hidden);
    if (canLoad) button.textContent = writes ? `Load ${about.name} (${megabytes(about.bytes)})` : `Look (loads ${megabytes(about.bytes)})`;
    else button.textContent = "Look";
    if (!writes) writing.replaceChildren();
  }

  function tellMissing() {
    const [what, size] = isWriter ? ["To write in this page", "93 MB"] : ["For a sentence of your own", "83 MB"];
    missing.replaceChildren(`${what}, run `, code(`cargo learn fetch ${key}`), ` in a terminal once: it asks before it downloads ${size}. Then reload this page in the book that `, code("cargo learn"), " opens.");
  }

  // What is shown is of another sentence: it stays, greyed, until one is chosen.
  function refuse(problem) {
    progress.hidden = true;
    words.textContent = "";
    button.disabled = false;
    explorer?.grey();
    error.textContent = problem;
    state("refused");
  }

  // Waits for a model, and says how far it is.
  async function read(coming) {
    error.textContent = words.textContent = "";
    last.switchOff = undefined;
    explorer?.grey();
    isRead = false;
    button.disabled = true;
    writing.replaceChildren();
    form.hidden = progress.hidden = false;
    progress.value = 0;
    state("reading");
    const began = performance.now();
    try {
      const { about: model, memory } = await coming((part) => (progress.value = part));
      progress.hidden = true;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      window.ownModel = { about: model, memory, seconds };
      isRead = true;
      showAsked(model.writes);
      state("read");
      if (model.writes) return write(model, memory, seconds);
      words.textContent = `A ${model.family} model: ${model.n_layers} layers of ${model.n_heads} heads, loaded in ${seconds} s.`;
      return look();
    } catch (problem) {
      isRead = false;
      showAsked();
      return refuse(problem.message);
    }
  }

  function readFiles(chosen) {
    if (chosen.length) read((onProgress) => encoder.read(chosen, onProgress));
  }

  function described({ family, translates, encoder: reads, decoder, n_positions: nPositions, left_out: leftOut, ...model }) {
    const layers = (it) => `${it.n_layers} layers of ${it.n_heads} heads`;
    if (!translates) {
      const shared = model.n_kv_heads < model.n_heads ? ` on ${model.n_kv_heads} of keys and values` : "";
      return `A ${family} model, which writes: ${layers(model)}${shared}`;
    }
    const longest = nPositions ? `${nPositions} positions` : "texts of any length";
    const not = leftOut.length ? ` (its files ask for ${leftOut.join(", ")} too, which is not done here)` : "";
    return `A ${family} model, which reads one text and writes another: encoder of ${layers(reads)}, decoder of ${layers(decoder)}, ${longest}${not}`;
  }

  function write(model, memory, seconds) {
    const read = `${described(model)}, read in ${seconds} s. It takes ${(memory / 1e6).toFixed(0)} MB of this page's memory.`;
    words.textContent = read;
    // A model that writes has no sentence: those that came with the page stay.
    explorer?.grey(false);
    const host = {
      ask: encoder.ask, state,
      refuse(problem) {
        error.textContent = problem;
        words.textContent = "";
        state("refused");
      },
      words(text) {
        error.textContent = "";
        words.textContent = text || read;
      },
    };
    window.ownWriter = window.modelWriter.mount(writing, model, host);
  }

  // ---- A sentence.

  let nLooked = 0;
  let last = {};

  const switchOff = (heads, each) => encoder.ask({ off: heads }, each);

  async function look() {
    state("looking");
    explorer?.grey();
    const asked = sentence.value;
    try {
      show(asked, await encoder.look(asked));
    } catch (problem) {
      if (problem.isBroken) {
        isRead = false;
        showAsked();
      }
      refuse(problem.message);
    }
  }

  function show(asked, { looked, shares, took }) {
    error.textContent = "";
    const text = { ...window.headKept.computed({ looked, shares }), switchOff };
    words.textContent = `${text.pieces.length} tokens in ${text.names.length} heads, computed in ${(took / 1000).toFixed(2)} s.`;
    window.ownSentence = { looked, shares, took };
    const own = `own-${++nLooked}`;
    // The module has the last sentence alone: heads of an earlier one cannot be switched off.
    last.switchOff = undefined;
    last = text;
    texts.set(own, Promise.resolve(text));
    const yours = { key: own, name: `Yours: ${asked}` };
    const added = explorer ? explorer.add(yours, strongest(text)) : (explorer = explore([yours], { text: own, head: strongest(text) })).ready;
    added.then(() => state("shown"));
  }

  // The same files may have changed.
  files.addEventListener("click", () => (files.value = ""));
  files.addEventListener("change", () => readFiles(files.files));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    if (isRead) look();
    else read((onProgress) => encoder.load(onProgress, key));
  });
  for (const type of ["dragover", "drop"]) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      if (type === "drop") readFiles(event.dataTransfer.files);
    });
  }
  // mdBook leafs at an arrow key, which here moves within a text.
  for (const it of [form, other]) it.addEventListener("keydown", (event) => event.stopPropagation());

  async function open() {
    if (!(await encoder.start(place))) return;
    about = await encoder.about(key);
    tellMissing();
    showAsked();
    other.open = isWriter && !about;
    place.prepend(form, error, words, shown, other, writing);
    state("ready");
  }
  open().catch(() => {});
})();
