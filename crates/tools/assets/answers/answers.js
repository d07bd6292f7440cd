// An exercise in any language: its inputs go out as text or as a file, what a reader's function
// printed is pasted or dropped, and a worker finds the verdict. Nothing is sent. Where the
// module cannot run, the fold says how a terminal does the same.
"use strict";
(() => {
  const { isPossible, found } = window.liveModule;
  const { progress } = window;
  const places = [...document.querySelectorAll("[data-answer]")];
  if (!isPossible || !places.length) return;

  const root = new URL(path_to_root || "./", location.href).href;
  // Each with how it begins to print an answer.
  const LIBRARIES = [["torch", "PyTorch", "tensor("], ["numpy", "numpy", "array("], ["jax", "JAX", "Array("], ["lists", "lists", ""]];
  const LIBRARY = "learn-library";
  const LONGEST = 64 << 20; // bytes of an answer

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  function button(text, act) {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", act);
    return made;
  }

  const code = (text) => element("code", {}, text);
  const upper = (text) => text[0].toUpperCase() + text.slice(1);
  const ended = (text) => (/[.?”]$/.test(text) ? text : `${text}.`);

  // ---- The library that a reader writes with: one for all exercises.

  let library = "torch";
  try {
    const kept = localStorage.getItem(LIBRARY);
    if (LIBRARIES.some(([name]) => name === kept)) library = kept;
  } catch {
    // It is known as long as the page is open.
  }

  function choose(name) {
    library = name;
    try {
      localStorage.setItem(LIBRARY, name);
    } catch {
      // The same.
    }
    document.dispatchEvent(new Event("library"));
  }

  // ---- The worker: asked by its first fold that is opened.

  const waiting = new Map();
  let lastId = 0;
  let worker = null; // a promise: null where there is no module

  async function start(place) {
    const { answers } = await found("answers", place.querySelector(".answer-terminal"));
    if (!answers) return null;
    const made = new Worker(root + document.querySelector("[data-answers-worker]").dataset.answersWorker);
    made.onmessage = ({ data: { id, ...answer } }) => {
      waiting.get(id)(answer);
      waiting.delete(id);
    };
    made.onerror = (event) => {
      event.preventDefault();
      for (const answer of waiting.values()) answer({ error: "the check cannot be started: reload the page" });
      waiting.clear();
    };
    made.postMessage({ root, module: `${root}assets/${answers}` });
    return made;
  }

  const ask = (made, asked) => new Promise((done) => {
    waiting.set(++lastId, done);
    made.postMessage({ id: lastId, ...asked });
  });

  // ---- The verdict, in words.

  const paragraph = (label, ...words) => element("p", {}, element("strong", {}, `${label}. `), ...words);

  const link = (href, text) => element("a", { href: root + href }, text);

  const chapter = ({ chapter: number, section, href }) => link(href, `Chapter ${number}, “${section}”`);

  function headline({ verdict, summary, mistakes }) {
    if (verdict === "passed") return "✓ Passed.";
    if (verdict === "mistake") return `✗ ${ended(`Your answer ${mistakes[0].name}`)}`;
    return ended(`${verdict === "coarse" ? "?" : "✗"} ${upper(summary.replace(/^it /, "your answer "))}`);
  }

  const look = ({ verdict }) => ({ passed: "is-right", coarse: "is-near" })[verdict] ?? "is-missed";

  function mistake({ does, looks_right: why }) {
    return [paragraph("What it does", does), paragraph("Why it looks right", why)];
  }

  function several(mistakes, more) {
    const item = (it) => element("li", {}, link(more(it).href, `Your answer ${it.name}`), `: ${it.does}`);
    return mistakes.length ? [paragraph("It may be one of these"), element("ul", {}, ...mistakes.map(item))] : [];
  }

  const DIGITS = "Four digits are enough for most mistakes. To tell these apart, compute in float32 or float64 and print all digits, as the copied lines do; or save a file.";

  function difference({ first_difference: first }) {
    if (!first) return [];
    const label = first.kind === "entry" ? "First difference, with" : "With";
    return [element("p", {}, element("strong", {}, `${label} ${first.case}. `), upper(ended(first.text)))];
  }

  // What is said, and where the maps go.
  function sentences(report, words, maps) {
    const more = ({ id }) => words.mistakes.find((it) => it.id === id);
    const [first] = report.verdict === "mistake" ? report.mistakes : [];
    const right = report.right_with.map((sizes) => element("li", {}, sizes));
    const isPassed = report.verdict === "passed";
    const read = first ? more(first).read : words.read;
    return [
      ...(isPassed ? [element("p", {}, report.summary)] : []),
      ...(first ? mistake(first) : several(report.mistakes, more)),
      ...(report.verdict === "coarse" ? [paragraph("To know", DIGITS)] : []),
      ...(right.length ? [paragraph("It is right with"), element("ul", {}, ...right)] : []),
      ...difference(report),
      maps,
      ...(report.look_for ? [paragraph("Look for", ended(report.look_for))] : []),
      ...(isPassed ? [] : [paragraph("Read", chapter(read), ...(first ? ["; and ", link(more(first).href, "the page of this mistake")] : []), ".")]),
    ];
  }

  // A number that JSON does not have is a text.
  const WORDS = { nan: NaN, inf: Infinity, "-inf": -Infinity };
  const numbers = (rows) => rows.map((row) => row.map((x) => (typeof x === "string" ? WORDS[x] : x)));

  // ---- A fold.

  class Fold {
    constructor(place, made) {
      Object.assign(this, { place, made });
      const { answer: name, function: of, answerFile: file } = place.dataset;
      this.about = { name, function: of, file };
      this.says = element("div", { className: "answer-says" });
      this.says.setAttribute("role", "status");
      this.form = element("div", { className: "answer-form" }, ...this.out(), ...this.back(), this.says);
      // mdBook leafs at an arrow key, which here moves within a field.
      this.form.addEventListener("keydown", (event) => event.stopPropagation());
      place.querySelector(".answer-terminal").before(this.form);
      document.addEventListener("library", () => this.head());
    }

    // What goes out: the function's head, and the inputs.
    out() {
      const id = `answer-library-${this.about.name}`;
      this.library = element("select", { id }, ...LIBRARIES.map(([value, text]) => element("option", { value }, text)));
      this.library.addEventListener("change", () => choose(this.library.value));
      this.signature = code("");
      this.copied = element("span", { className: "answer-copied" });
      this.copied.setAttribute("role", "status");
      this.copy = button("Copy the inputs and the call", () => this.copyInputs());
      const file = (form, end) => button(end, () => this.download(form, end));
      return [
        element("p", { className: "answer-row" }, element("label", { htmlFor: id }, "1. Write this function with "), this.library),
        element("pre", { tabIndex: 0 }, this.signature),
        element("p", {}, "2. Copy the inputs, paste them below your function and run the file. Its last line prints your answers."),
        element("p", { className: "answer-row" }, this.copy, this.copied, element("span", {}, "Or the inputs as a file: "), file("safetensors", ".safetensors"), file("lines", ".jsonl")),
      ];
    }

    // What comes back: a text or a file.
    back() {
      const [pasted, chosen] = [`answer-pasted-${this.about.name}`, `answer-file-${this.about.name}`];
      this.pasted = element("textarea", { id: pasted, rows: 4, spellcheck: false });
      this.pasted.addEventListener("paste", () => setTimeout(() => this.checkText()));
      this.file = element("input", { type: "file", id: chosen, accept: ".npy,.npz,.safetensors,.txt,.json,.jsonl" });
      this.file.addEventListener("click", () => (this.file.value = ""));
      this.file.addEventListener("change", () => this.checkFile(this.file.files[0]));
      const drop = element("div", { className: "answer-drop" },
        element("label", { htmlFor: pasted }, "3. Paste what it printed"), this.pasted,
        element("p", { className: "answer-row" }, button("Check", () => this.checkText()),
          element("label", { htmlFor: chosen }, "or drop a file here, or choose one:"), this.file),
        element("small", {}, "A file has an array for each input, in their order: .npy, .npz (case_0, case_1, …), .safetensors or .txt. Four digits are enough for most mistakes. Nothing leaves this page."));
      for (const type of ["dragover", "dragleave", "drop"]) {
        drop.addEventListener(type, (event) => {
          event.preventDefault();
          drop.classList.toggle("is-over", type === "dragover");
          if (type === "drop") this.checkFile(event.dataTransfer.files[0]);
        });
      }
      return [drop];
    }

    async head() {
      this.library.value = library;
      const [, , begins] = LIBRARIES.find(([name]) => name === library);
      this.pasted.placeholder = `[${begins}[[0.2689, 0.7311], …`;
      const { signature, error } = await ask(this.made, { ask: "signature", library, ...this.about });
      if (error) this.refuse(error);
      else this.signature.textContent = `${signature}\n    …\n`;
      this.place.dataset.state ??= "ready";
    }

    async inputs(form) {
      const { bytes, error } = await ask(this.made, { ask: "inputs", form, ...this.about });
      if (error) this.refuse(error);
      return bytes;
    }

    async copyInputs() {
      const bytes = await this.inputs(library);
      if (!bytes) return;
      const text = new TextDecoder().decode(bytes);
      try {
        await navigator.clipboard.writeText(text);
        this.copied.textContent = "Copied.";
      } catch {
        this.shown ??= this.showInputs();
        this.shown.value = text;
        this.shown.select();
        this.copied.textContent = "Copy the text below.";
      }
    }

    // Where a browser forbids to copy.
    showInputs() {
      const shown = element("textarea", { rows: 4, readOnly: true, spellcheck: false });
      shown.setAttribute("aria-label", "The inputs and the call");
      this.copy.parentElement.after(shown);
      return shown;
    }

    async download(form, end) {
      const bytes = await this.inputs(form);
      if (!bytes) return;
      const href = URL.createObjectURL(new Blob([bytes]));
      element("a", { href, download: `${this.about.name}${end}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 1000);
    }

    checkText() {
      return this.check(new TextEncoder().encode(this.pasted.value), "");
    }

    async checkFile(file) {
      if (!file) return;
      if (file.size > LONGEST) return this.refuse(`${file.name}: more than ${LONGEST >> 20} MB are no answer`);
      this.check(new Uint8Array(await file.arrayBuffer()), file.name);
    }

    async check(given, from) {
      const nth = (this.nth = (this.nth ?? 0) + 1);
      const verdict = await ask(this.made, { ask: "verdict", given, from, ...this.about });
      if (nth !== this.nth) return; // another was asked for meanwhile
      if (verdict.error) this.refuse(verdict.error);
      else this.show(verdict);
    }

    refuse(error) {
      this.says.replaceChildren(element("p", { className: "answer-verdict is-near" }, `⚠ ${ended(upper(error))}`));
      this.place.dataset.state = "refused";
    }

    show({ report, maps, words }) {
      window.answered = { report, maps };
      const place = element("div");
      this.says.replaceChildren(element("p", { className: `answer-verdict ${look(report)}` }, headline(report)), ...sentences(report, words, place));
      if (maps) window.matrixMaps(place, numbers(maps.is), numbers(maps.should));
      if (report.verdict === "passed") progress.note("exercise", `${this.place.dataset.topic}/${this.about.name}`, "passed");
      this.place.dataset.state = report.verdict;
    }
  }

  function open(place) {
    worker ??= start(place).catch(() => null);
    worker.then((made) => made && new Fold(place, made).head());
  }

  for (const place of places) {
    const opened = () => {
      if (!place.open) return;
      place.removeEventListener("toggle", opened);
      open(place);
    };
    place.addEventListener("toggle", opened);
    opened();
  }
})();
