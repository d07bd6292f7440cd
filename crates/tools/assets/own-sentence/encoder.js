// The module that reads models, for every page that asks it: started once, told of a model, and
// asked for sentences. A model is one that the book's host has, or comes from a reader's files.
//
//   encoderModel.about()            → a promise of { name, bytes, files }; null where it is not
//   encoderModel.start(place)       → a promise of whether the module can run; until it is
//                                     compiled, a line in `place` says so
//   encoderModel.load(onProgress)   → a promise of { about, memory, size }; fetched once, and
//                                     `onProgress` hears how much of it is there, from 0 to 1
//   encoderModel.read(files, …)     → the same with a reader's files
//   encoderModel.look(sentence)     → a promise of { looked, shares, took }
//   encoderModel.ask(request, each) → whatever worker.js does, answer by answer
"use strict";
window.encoderModel = (() => {
  const { isPossible, found } = window.liveModule;
  // The encoder whose sentences pages show, as the host calls it.
  const ENCODER = "minilm";

  // A module with one instruction on vectors, which browsers have had since 2021.
  const VECTORS = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

  const root = () => new URL(path_to_root || "./", location.href).href;
  const waiting = new Map();
  let lastId = 0;
  let worker = null;
  let started = null; // promises
  let listed = null;
  let loaded = null; // { key, model }

  // ---- What the host has.

  async function list() {
    const answer = await fetch(`${root()}assets/models.json`, { cache: "no-cache" });
    return answer.ok ? answer.json() : {};
  }

  async function about(key = ENCODER) {
    listed ??= list().catch(() => ({}));
    return (await listed)[key] ?? null;
  }

  // ---- The worker.

  async function begin(place) {
    if (!isPossible || !WebAssembly.validate(VECTORS)) return false;
    const { encoder } = await found("encoder", place);
    if (!encoder) return false;
    worker = new Worker(root() + document.querySelector("[data-encoder-worker]").dataset.encoderWorker);
    worker.onmessage = ({ data: { id, ...answer } }) => hear(id, answer);
    worker.onerror = (event) => {
      event.preventDefault();
      for (const id of [...waiting.keys()]) hear(id, { error: "the module cannot be started: reload the page", done: true });
    };
    worker.postMessage({ module: `${root()}assets/${encoder}` });
    return true;
  }

  const start = (place) => (started ??= begin(place).catch(() => false));

  function hear(id, answer) {
    const each = waiting.get(id);
    if (answer.done) waiting.delete(id);
    if (answer.isBroken) loaded = null;
    try {
      each?.(answer);
    } catch (problem) {
      // Without this a page would wait for ever, and say nothing.
      waiting.delete(id);
      each({ error: `this cannot be shown: ${problem.message}`, done: true });
    }
  }

  // Sends a request; `each` hears every answer to it, the last with `done`, and with `error` if
  // there is none.
  function ask(request, each) {
    const id = ++lastId;
    waiting.set(id, each);
    worker.postMessage({ id, ...request });
  }

  // The last answer to a request, or its error; one that `isBroken` has no model any more.
  function answerTo(request, onProgress = () => {}) {
    return new Promise((done, fail) => ask(request, ({ progress, error, isBroken, done: isLast, ...answer }) => {
      if (progress !== undefined) onProgress(progress);
      if (isLast) error === undefined ? done(answer) : fail(Object.assign(new Error(error), { isBroken }));
    }));
  }

  // ---- Models and sentences.

  // A reader's files: they replace what was loaded.
  function read(files, onProgress) {
    loaded = null;
    return answerTo({ files: new Map([...files].map((file) => [file.name, file])) }, onProgress);
  }

  function load(onProgress, key = ENCODER) {
    if (loaded?.key === key) return loaded.model;
    const model = fetched(key, onProgress);
    const now = (loaded = { key, model });
    // The next time it may come.
    model.catch(() => (loaded = loaded === now ? null : loaded));
    return model;
  }

  async function fetched(key, onProgress) {
    const has = await about(key);
    if (!has) throw new Error("the model is not on this host");
    const files = has.files.map(({ name, bytes, address }) => ({ name, bytes, url: new URL(address, root()).href }));
    return answerTo({ fetched: files }, onProgress);
  }

  const look = (sentence) => answerTo({ sentence });

  return { about, start, load, read, look, ask };
})();
