// What is wrong with a reader's layer: a file is chosen, dropped or pasted, a worker finds
// the mistake, and this shows it. Where it cannot be, the page stays as it is.
"use strict";
(() => {
  const place = document.querySelector("[data-wrong-layer]");
  const isWeb = /^https?:$/.test(location.protocol);
  // All chapters in one are there to be printed.
  const isPrint = /print\.html$/.test(location.pathname);
  if (!place || !isWeb || isPrint || !window.WebAssembly || !window.Worker) return;

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
  const tryIt = element("button", { type: "button" }, "Try it on a broken layer");
  const row = (label, field) => element("div", { className: "live-row" },
    element("label", { htmlFor: field.id, className: "live-name" }, label), field);
  const drop = element("div", { className: "live-controls layer-form" },
    row("The layer's file (.safetensors)", file),
    row("Heads", heads), row("Heads of keys", keyHeads), row("A causal mask was meant", causal), row("Rotary positions were meant", rotary),
    element("details", { className: "layer-paste" }, element("summary", {}, "Paste numbers instead"),
      element("label", { htmlFor: pasted.id }, "The same names with nested lists, as Python's json.dumps writes them, with as many digits as you have"), pasted, look),
    element("div", { className: "live-buttons" }, tryIt, element("small", {}, "Read in this page, and sent nowhere.")));
  const error = element("p", { className: "live-error" });
  error.setAttribute("role", "alert");
  const verdict = element("p", { className: "layer-verdict" });
  verdict.setAttribute("aria-live", "polite");
  const shown = element("div");

  // ---- What was found.

  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const small = (x) => (x === 0 ? "0" : x >= 1e-3 ? String(Number(x.toPrecision(2))) : x.toExponential(1).replace("-", "−"));

  function verdictOf({ verdict, explanations, precision, tensors, condition, number_words: number }) {
    const output = tensors.at(-1)?.distance;
    const apart = !output ? "" : output.n_not_finite ? ` In the output and in what was meant, ${plural(output.n_not_finite, "number")} ${output.n_not_finite === 1 ? "is" : "are"} NaN or infinite in one of the two alone.` : ` The output is ${small(output.rms)} away from what was meant (root mean square); rounding explains ${small(output.tolerance)}.`;
    if (verdict === "right") return `Nothing is wrong with it: computed in ${precision}, it is what was meant.${apart}`;
    const zeros = tensors.find((it) => it.verdict === "unknown" && it.is_zero);
    if (zeros) return "Zeros alone are no evidence of any mistake.";
    if (verdict === "unknown") return `No mistake of the bank explains it, nor do two.${apart}`;
    if (verdict === "condition") return `Right only if ${condition.only_if} (${condition.tensor}). ${condition.otherwise ? `If not, the nearest is: ${condition.otherwise}.` : "If not, nothing that was tried is nearer."}${apart}`;
    if (!explanations.length) return `A number is another: ${number}.${apart}`;
    const n = explanations[0].length;
    const which = explanations.length > 1 ? ", but these numbers cannot tell which of the following" : "";
    return `${n === 1 ? "One mistake explains" : `${plural(n, "mistake")} explain`} it${which}.${apart}`;
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

  function mistake(it) {
    const lines = [["PyTorch", it.pytorch], ["JAX", it.jax], ["candle", it.candle]].filter(([, line]) => line);
    return element("section", { className: "layer-mistake" },
      element("h3", {}, it.name[0].toUpperCase() + it.name.slice(1)),
      element("p", {}, it.does),
      element("p", {}, "Why it looks right: ", it.plausible),
      ...lines.map(([name, line]) => element("p", {}, `Look for (${name}): `, element("code", {}, line))),
      element("p", {}, ...(it.report ? [element("small", {}, `Reported in ${it.report}.`)] : []), ...chapterLink(it.chapter)));
  }

  function map(rows, title) {
    const [n, m] = [rows.length, rows[0].length];
    const canvas = element("canvas", { width: m, height: n });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${title}: ${n} queries and ${m} keys`);
    canvas.style.aspectRatio = `${m} / ${n}`;
    const pen = canvas.getContext("2d");
    pen.fillStyle = getComputedStyle(place).getPropertyValue("--share");
    rows.forEach((row, query) => row.forEach((weight, key) => {
      pen.globalAlpha = Math.sqrt(Math.min(1, Math.max(0, weight)));
      pen.fillRect(key, query, 1, 1);
    }));
    return element("figure", { className: "layer-map" }, element("figcaption", {}, title), canvas);
  }

  function maps({ is, should }) {
    if (!is || !should) return [];
    const choose = element("select", { id: "layer-head" }, ...is.map((_, head) => element("option", { value: head }, `head ${head + 1}`)));
    const both = element("div", { className: "layer-maps" });
    const draw = () => both.replaceChildren(map(is[choose.value], "The map as it is"), map(should[choose.value], "As it should be"));
    choose.addEventListener("change", draw);
    draw();
    return [row("Attention weights of the first sequence", choose), both];
  }

  function list(title, lines, isOpen) {
    if (!lines.length) return [];
    return [element("details", { open: isOpen }, element("summary", {}, title), element("ul", {}, ...lines.map((line) => element("li", {}, line))))];
  }

  function show({ given, assumed, could_not_show: hidden, maps: both, diagnosis }) {
    const { explanations, nearest, places, remarks } = diagnosis;
    verdict.textContent = verdictOf(diagnosis);
    const sets = explanations.map((set, i) => element("div", {},
      ...(explanations.length > 1 ? [element("p", {}, element("strong", {}, `Reading ${i + 1} of ${explanations.length}`))] : []), ...set.map(mistake)));
    const near = nearest?.mistakes.length ? [`nearest is ${places.from}, ${small(nearest.distance.rms)} away`] : [];
    shown.replaceChildren(steps(diagnosis), ...sets,
      ...list(`Where it differs from ${places?.from}`, [...near, ...(places?.summary ?? [])], true), ...maps(both),
      ...list("Remarks", remarks, true), ...list("Given", given, false), ...list("Assumed", assumed, true),
      ...list("Mistakes that could not show in these numbers", hidden.map((it) => it.name), false));
    place.dataset.state = "shown";
  }

  // What was shown of an earlier file is not this one's.
  function clear(state) {
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
    worker = new Worker(root + place.dataset.encoderWorker);
    worker.onmessage = ({ data: { id, error: said, ...found } }) => {
      if (id !== lastId) return;
      window.wrongLayer = found;
      if (said !== undefined) refuse(said);
      else show(found);
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
  for (const type of ["dragover", "drop"]) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      if (type === "drop") read((chosen = event.dataTransfer.files[0]));
    });
  }
  // mdBook leafs at an arrow key, which here moves within a field.
  place.addEventListener("keydown", (event) => event.stopPropagation());

  async function open() {
    const found = await (await fetch(`${root}assets/live.json`, { cache: "no-cache" })).json();
    if (!found.encoder) return;
    tryIt.addEventListener("click", async () => {
      for (const field of [heads, keyHeads, rotary]) field.value = "";
      causal.checked = false;
      read((chosen = await (await fetch(`${root}assets/${found.wrong_layer}`)).blob()));
    });
    start(found.encoder);
    place.prepend(drop, error, verdict, shown);
    place.dataset.state = "ready";
  }
  open().catch(() => {});
})();
