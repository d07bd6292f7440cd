// What is wrong with a reader's layer: a file is chosen, dropped or pasted, a worker finds
// the mistake, and this shows it. Where it cannot be, the page stays as it is.
"use strict";
(() => {
  const place = document.querySelector("[data-wrong-layer]");
  const { isPossible, found } = window.liveModule;
  if (!place) return;
  if (!isPossible) {
    place.dataset.state = "still";
    return;
  }

  const root = new URL(path_to_root || "./", location.href).href;

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // ---- Choices and files.

  const heads = element("input", { type: "number", min: 1, placeholder: "as the file says", id: "layer-heads" });
  const keyHeads = element("input", { type: "number", min: 1, placeholder: "as many", id: "layer-kv-heads" });
  const causal = element("input", { type: "checkbox", id: "layer-causal" });
  const rotary = element("select", { id: "layer-rotary" }, ...[["", "none, or as the file says"], ["halves", "halves"], ["pairs", "pairs"]]
    .map(([value, name]) => element("option", { value }, name)));
  const file = element("input", { type: "file", accept: ".safetensors", id: "layer-file" });
  const pasted = element("textarea", { id: "layer-pasted", rows: 5, spellcheck: false,
    placeholder: '{"heads": 2, "W_q.weight": [[…]], …, "query": [[[…]]], "output": [[[…]]]}' });
  const look = element("button", { type: "button" }, "Look");
  const row = (label, field) => element("div", { className: "live-row" },
    element("label", { htmlFor: field.id, className: "live-name" }, label), field);
  const broken = element("div", { className: "live-buttons layer-broken" }, element("strong", {}, "Try a broken layer:"));
  const drop = element("div", { className: "live-controls layer-form" },
    broken,
    element("div", { className: "layer-ways" },
      element("div", { className: "layer-drop" },
        element("label", { htmlFor: file.id }, "Drop your layer’s ", element("code", {}, ".safetensors"), " here, or choose it: "), file),
      element("div", { className: "layer-paste" },
        element("label", { htmlFor: pasted.id }, "Or paste its numbers: the same names with nested lists, as Python’s json.dumps writes them, with as many digits as you have"), pasted, look)),
    element("small", {}, "Read in this page, and sent nowhere."),
    element("details", { className: "layer-said" }, element("summary", {}, "What the file does not say"),
      row("Heads", heads), row("Heads of keys", keyHeads), row("A causal mask was meant", causal), row("Rotary positions were meant", rotary)));
  const error = element("p", { className: "live-error" });
  error.setAttribute("role", "alert");
  const verdict = element("p", { className: "layer-verdict" });
  const numbers = element("p", { className: "layer-numbers" });
  verdict.setAttribute("aria-live", "polite");
  const shown = element("div");
  const example = element("p", { className: "layer-example", hidden: true });

  // ---- What was found.

  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const small = (x) => (x === 0 ? "0" : x >= 1e-3 ? String(Number(x.toPrecision(2))) : x.toExponential(1).replace("-", "−"));

  const upper = (text) => text[0].toUpperCase() + text.slice(1);

  // The answer, in a line that begins with the mistake's name.
  function verdictOf({ verdict, explanations, precision, tensors, condition, number_words: number }) {
    if (verdict === "right") return `These numbers show nothing wrong: computed in ${precision}, they are what was meant.`;
    if (tensors.some((it) => it.verdict === "unknown" && it.is_zero)) return "Zeros alone are no evidence of any mistake.";
    if (verdict === "unknown") return "No known mistake explains it, nor do any two.";
    if (verdict === "condition") return `Right only if ${condition.only_if}. ${condition.otherwise ? `If not, the nearest is: ${condition.otherwise}.` : "If not, nothing that was tried is nearer."}`;
    if (!explanations.length) return `A number is another: ${number}.`;
    const names = explanations[0].map(({ name }) => name);
    const others = explanations.length - 1;
    const or = others ? ` ${plural(others, "other reading")} below ${others === 1 ? "fits" : "fit"} these numbers too.` : "";
    return `${upper(names.join(", and "))}.${or}`;
  }

  // How far the output is from what was meant.
  function numbersOf({ tensors }) {
    const output = tensors.at(-1)?.distance;
    if (!output) return "";
    const n = output.n_not_finite;
    if (n) return `In the output and in what was meant, ${plural(n, "number")} ${n === 1 ? "is" : "are"} NaN or infinite in one of the two alone.`;
    return `The output is ${small(output.rms)} away from what was meant (root mean square); rounding explains ${small(output.tolerance)}.`;
  }

  // The steps of a layer in a row, and those that are done otherwise.
  function steps({ steps }) {
    const list = steps.map(({ name, mistakes }) => {
      const made = element("li", { className: mistakes.length ? "layer-wrong" : "" }, name);
      if (mistakes.length) made.append(element("span", { className: "layer-mark" }, " ✗ here"));
      return made;
    });
    const made = element("ol", { className: "layer-steps" }, ...list);
    made.setAttribute("aria-label", "The steps of the layer");
    return made;
  }

  function chapterLink(topic) {
    const links = [...document.querySelectorAll("#mdbook-sidebar a")];
    const link = links.find((it) => new RegExp(`/\\d+-${topic}\\.html$`).test(it.pathname));
    return link ? [" Read ", element("a", { href: link.href }, link.textContent.trim()), "."] : [];
  }

  // A line of code beside what was meant, as a difference of two versions shows it.
  function difference(line) {
    const [is, meant] = line.split(" where ");
    const lines = meant?.endsWith(" was meant") ? [["−", is], ["+", meant.slice(0, -" was meant".length)]] : [["−", line]];
    const marked = lines.map(([sign, text]) => element("span", { className: sign === "+" ? "layer-plus" : "layer-minus" }, `${sign} ${text}\n`));
    return element("pre", { className: "layer-lines" }, element("code", {}, ...marked));
  }

  // `owner/name #7; owner/name PR #8`, each as a link.
  function reports(text) {
    const links = text.split("; ").map((report) => {
      const [, at, number] = report.match(/^(\S+\/\S+) (?:PR )?#(\d+)/) ?? [];
      return at ? element("a", { href: `https://github.com/${at}/issues/${number}` }, report) : report;
    });
    return ["Reported in ", ...links.flatMap((link, i) => (i ? ["; ", link] : [link])), "."];
  }

  // The verdict has the name of one that is alone.
  function mistake(it, _, { length: n }) {
    const [first, ...others] = [["PyTorch", it.pytorch], ["JAX", it.jax], ["candle", it.candle]].filter(([, line]) => line);
    return element("section", { className: "layer-mistake" },
      ...(n > 1 ? [element("h3", {}, upper(it.name))] : []),
      element("p", {}, it.does),
      element("p", {}, `Look for (${first[0]}):`), difference(first[1]),
      ...others.map(([name, line]) => element("details", {}, element("summary", {}, name), difference(line))),
      element("p", {}, "Why it looks right: ", it.plausible, ...chapterLink(it.chapter)),
      ...(it.report ? [element("p", {}, element("small", {}, ...reports(it.report)))] : []));
  }

  // ---- The step that differs, drawn.

  const NAMES = { attn: "attention weights", "v of each head": "values", heads: "what each head gives", concat: "the heads side by side", output: "the output" };

  function step(differs) {
    if (!differs) return [];
    const { of, is, should } = differs;
    const choose = element("select", { id: "layer-head" }, ...is.map((_, head) => element("option", { value: head }, `head ${head + 1}`)));
    const both = element("div");
    const draw = () => window.matrixMaps(both, is[choose.value], should[choose.value], of === "attn" ? 1 : undefined);
    choose.addEventListener("change", draw);
    queueMicrotask(draw); // in the page, where it has colours
    const title = `First sequence: ${NAMES[of] ?? of}`;
    return [is.length > 1 ? row(title, choose) : element("p", {}, title), both];
  }

  function list(title, lines, isOpen) {
    if (!lines.length) return [];
    return [element("details", { open: isOpen }, element("summary", {}, title), element("ul", {}, ...lines.map((line) => element("li", {}, line))))];
  }

  function show({ given, assumed, could_not_show: hidden, differs, diagnosis }) {
    const { explanations, nearest, places, remarks } = diagnosis;
    verdict.textContent = verdictOf(diagnosis);
    numbers.textContent = numbersOf(diagnosis);
    const title = (set, i) => `Reading ${i + 1} of ${explanations.length}: ${set.map(({ name }) => name).join(", and ")}`;
    const sets = explanations.map((set, i) => element("div", {},
      ...(explanations.length > 1 ? [element("p", {}, element("strong", {}, title(set, i)))] : []), ...set.map(mistake)));
    const near = nearest?.mistakes.length ? [`nearest is ${places.from}, ${small(nearest.distance.rms)} away`] : [];
    shown.replaceChildren(steps(diagnosis), ...sets, ...step(differs), numbers,
      ...list(`Where it differs from ${places?.from}`, [...near, ...(places?.summary ?? [])], !sets.length),
      ...list("Remarks", remarks, true), ...list("Given", given, false), ...list("Assumed", assumed, false),
      ...list("Mistakes that could not show in these numbers", hidden.map((it) => it.name), false));
  }

  // What was shown of an earlier file is not this one's.
  function clear(state) {
    example.hidden = true;
    error.textContent = verdict.textContent = "";
    shown.replaceChildren();
    place.dataset.state = state;
  }

  function refuse(said) {
    clear("refused");
    error.textContent = said;
  }

  // ---- The worker: one file at a time, and the last that was asked for is shown.

  let worker = null;
  let lastId = 0;

  function start(module) {
    worker = new Worker(root + document.querySelector("[data-encoder-worker]").dataset.encoderWorker);
    worker.onmessage = ({ data: { id, error: said, ...found } }) => {
      if (id !== lastId) return;
      window.wrongLayer = found;
      place.dataset.example = "shown";
      if (said !== undefined) return refuse(said);
      show(found);
      if (example.hidden) place.dataset.state = "shown";
    };
    worker.onerror = (event) => {
      event.preventDefault();
      refuse("the module cannot be started: reload the page");
    };
    worker.postMessage({ module: `${root}assets/${module}` });
  }

  function ask(layer) {
    clear("looking");
    verdict.textContent = "Looking …";
    const choices = { heads: heads.valueAsNumber || null, kv_heads: keyHeads.valueAsNumber || null, causal: causal.checked || null, rotary: rotary.value || null };
    worker.postMessage({ id: ++lastId, layer, choices });
  }

  // The first broken layer is shown before a reader gives one.
  async function showExample([name, at]) {
    const layer = new Uint8Array(await (await fetch(`${root}assets/${at}`)).arrayBuffer());
    if (lastId) return;
    example.replaceChildren(element("strong", {}, "An example. "), `This is what you would read about a layer with ${name}.`);
    example.hidden = false;
    worker.postMessage({ id: ++lastId, layer, choices: {} });
  }

  // Lists of numbers, as a file of tensors: an 8-byte length, a header, and the numbers.
  function tensors(text) {
    const named = Object.entries(JSON.parse(text));
    const header = { __metadata__: {} };
    const numbers = [];
    for (const [name, value] of named) {
      if (!Array.isArray(value)) {
        header.__metadata__[name] = String(value);
        continue;
      }
      const shape = [];
      for (let at = value; Array.isArray(at); at = at[0]) shape.push(at.length);
      const flat = value.flat(Infinity);
      const n = shape.reduce((a, b) => a * b, 1);
      if (flat.length !== n || !flat.every((x) => typeof x === "number")) throw new Error(`${name} is no table of numbers: ${flat.length} entries, and a shape of ${shape.join(" × ")}`);
      const begin = 8 * numbers.length;
      numbers.push(...flat);
      header[name] = { dtype: "F64", shape, data_offsets: [begin, 8 * numbers.length] };
    }
    const head = new TextEncoder().encode(JSON.stringify(header));
    const bytes = new Uint8Array(8 + head.length + 8 * numbers.length);
    const view = new DataView(bytes.buffer);
    view.setBigUint64(0, BigInt(head.length), true);
    bytes.set(head, 8);
    numbers.forEach((x, i) => view.setFloat64(8 + head.length + 8 * i, x, true));
    return bytes;
  }

  const read = async (blob) => blob && ask(new Uint8Array(await blob.arrayBuffer()));
  let chosen = null;
  file.addEventListener("click", () => (file.value = ""));
  file.addEventListener("change", () => read((chosen = file.files[0])));
  for (const control of [heads, keyHeads, causal, rotary]) control.addEventListener("change", () => read(chosen));
  look.addEventListener("click", () => {
    try {
      chosen = new Blob([tensors(pasted.value)]);
    } catch (problem) {
      return refuse(problem.message);
    }
    read(chosen);
  });
  for (const type of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.toggle("is-over", type === "dragover");
      if (type === "drop") read((chosen = event.dataTransfer.files[0]));
    });
  }
  // mdBook leafs at an arrow key, which here moves within a field.
  place.addEventListener("keydown", (event) => event.stopPropagation());

  async function open() {
    const { encoder, wrong_layers: layers } = await found("encoder", place);
    if (!encoder) {
      place.dataset.state = "still";
      return;
    }
    for (const [name, at] of layers) {
      const button = element("button", { type: "button" }, name);
      button.addEventListener("click", async () => {
        for (const field of [heads, keyHeads, rotary]) field.value = "";
        causal.checked = false;
        read((chosen = await (await fetch(`${root}assets/${at}`)).blob()));
      });
      broken.append(button);
    }
    start(encoder);
    place.prepend(drop, error, example, verdict, shown);
    place.dataset.state = "ready";
    showExample(layers[0]).catch(() => {});
  }
  open().catch(() => {});
})();
