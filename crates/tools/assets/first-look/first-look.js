// The first page: a sentence as text, and where its words look in every head of a trained
// model. One guesses where "it" looks, sees it, sees where the others look, and sees another
// head in which they look there too. From then on every word and every head can be clicked.
// All maps came with the page; where no script runs, a table stands here.
"use strict";
(() => {
  const place = document.querySelector("[data-first-look]");
  if (!place) return;
  const measures = window.headMeasures;
  const { element, share, told, PREFERS, SHORT } = window.headWords;
  const { colours, paint } = window.headDrawing;
  const { asks, looked, heads: HEADS, maps: kept, sentences } = JSON.parse(place.querySelector("script").textContent);

  const LEAST_ARC = 0.02;
  const LEAST_NUMBER = 0.05;
  const PER_ROW = 12; // heads of a layer

  const part = (name) => place.querySelector(`.first-${name}`);
  const [ask, stage, line, says, next, heads] = ["ask", "stage", "line", "says", "next", "heads"].map(part);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("aria-hidden", "true");
  stage.prepend(svg);

  // `step` is "guess", "answer", "others", "second" or "free".
  const state = { step: "guess", head: 0, query: 0, key: 0 };
  let view = null;
  let words = []; // a button for each token
  let maps = [];
  let controls = [];

  // ---- The sentence as text, token by token.

  // Which part of the sentence each token is: its own letters where they are found in order.
  function spelled(pieces, sentence) {
    let at = 0;
    return pieces.map((piece, i) => {
      const plain = piece.replace(/^##|^▁|^Ġ/, "");
      const found = sentence.toLowerCase().indexOf(plain.toLowerCase(), at);
      if (view.text.special[i] || found < 0) return { text: plain, isApart: true };
      const isApart = found > at || at === 0;
      at = found + plain.length;
      return { text: sentence.slice(found, at), isApart };
    });
  }

  function write(sentence) {
    const { pieces, special } = view.text;
    const parts = spelled(pieces, sentence);
    words = parts.map(({ text }, at) => {
      const word = element("button", { type: "button", className: special[at] ? "first-word first-special" : "first-word" },
        element("span", {}, text), element("small"));
      word.addEventListener("click", () => click(at));
      return word;
    });
    line.replaceChildren(...words.flatMap((word, at) => [at && parts[at].isApart ? " " : "", word]));
  }

  // ---- What is drawn: arcs, and a number below each word.

  // Punctuation and a lone letter have no room for a number.
  const isMark = ({ firstChild }) => firstChild.textContent.length < 2;

  // How high an arc rises: wide ones more, and none above the stage.
  const rise = (dx, top) => Math.min(14 + 0.3 * Math.abs(dx), Math.max(top - 4, 10) * 1.3);

  function arc([x1, y1], [x2, y2], number, className) {
    const path = document.createElementNS(svg.namespaceURI, "path");
    const up = rise(x2 - x1, Math.min(y1, y2));
    path.setAttribute("d", `M${x1} ${y1}C${x1} ${y1 - up} ${x2} ${y2 - up} ${x2} ${y2}`);
    path.setAttribute("class", `first-arc ${className}`);
    path.setAttribute("pathLength", 1);
    path.style.strokeWidth = `${1 + 8 * number}px`;
    return path;
  }

  // The arcs are those of the query, and with `others` those of the others to its key.
  function draw() {
    const { query, key, head, step } = state;
    const isOthers = step === "others" || step === "second";
    const map = step === "guess" ? null : maps[head];
    const box = stage.getBoundingClientRect();
    svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    const top = (at) => {
      const { left, width, top: above } = words[at].getBoundingClientRect();
      return [left + width / 2 - box.left, above - box.top];
    };
    const isShown = (at) => words[at].offsetParent !== null;
    const arcs = [];
    // Before a guess every word may be the one.
    const isOpen = (at) => step === "guess" && at !== query && isShown(at);
    words.forEach((word, at) => {
      word.classList.toggle("first-query", at === query);
      word.classList.toggle("first-key", map !== null && at === key);
      word.setAttribute("aria-pressed", String(at === query));
      const given = map ? (isOthers ? map[at][key] : map[query][at]) : 0;
      const isNumber = map && isShown(at) && (isOthers ? at !== key : given >= LEAST_NUMBER) && !isMark(word);
      word.lastChild.textContent = isNumber ? share(given) : "";
      word.lastChild.classList.toggle("first-other", isOthers && at !== query);
      if (isOpen(at)) arcs.push(arc(top(query), top(at), 0, "first-maybe"));
      if (!map || !isShown(at) || given < LEAST_ARC) return;
      if (!isOthers && at !== query) arcs.push(arc(top(query), top(at), given, ""));
      if (isOthers && at !== key) arcs.push(arc(top(at), top(key), given, at === query ? "" : "first-other"));
    });
    // The query's stand in front.
    const isOther = ({ classList }) => Number(classList.contains("first-other"));
    svg.replaceChildren(...arcs.sort((a, b) => isOther(b) - isOther(a)));
    heads.querySelectorAll("button").forEach((button, at) => {
      button.setAttribute("aria-pressed", String(map !== null && at === head));
      button.tabIndex = at === head ? 0 : -1;
    });
  }

  // ---- The steps.

  const word = (at) => element("em", {}, words[at].firstChild.textContent);
  const number = (at) => element("b", {}, at);
  const headName = (head) => view.text.names[head];

  function say(...parts) {
    says.replaceChildren(...parts);
  }

  // The next step is a button; where the one before had the focus, it has it.
  function offer(text, step) {
    const button = element("button", { type: "button", className: "first-button" }, text);
    button.addEventListener("click", step);
    const hadFocus = next.contains(document.activeElement);
    next.replaceChildren(button);
    if (hadFocus) button.focus();
  }

  function answer(guess) {
    const { query, key, head } = state;
    const row = maps[head][query];
    const beginning = guess === undefined ? [] : guess === key ? ["You are right. "] : ["You said ", word(guess), `, which gets ${share(row[guess])}. `];
    say(...beginning, `In head ${headName(head)} of a trained model, `, word(query), " gives ", word(key), " ", number(share(row[key])), " of its attention, as if it knew what ", word(query), " means.");
    offer("And the other words?", others);
  }

  // A reader's guess, or none.
  function guess(at) {
    if (at === state.query) return;
    state.step = "answer";
    ask.textContent = "Where a word looks";
    answer(at);
    draw();
  }

  function others() {
    state.step = "others";
    const { query, key, head } = state;
    say("On average, the other tokens give ", word(key), " ", number(share(controls[head](query, key))), ". That is a ", element("b", {}, "control"), ": they give ", word(key), " far less, so this head does say something about ", word(query), ".");
    offer("A second head", second);
    ask.textContent = "Where the other words look";
    draw();
  }

  function second() {
    Object.assign(state, { step: "second", head: view.text.names.indexOf(HEADS[1]) });
    const { query, key, head } = state;
    say(`In head ${headName(head)}, `, word(query), " gives ", word(key), " ", number(share(maps[head][query][key])), ", nearly as much. But here the others give it ", number(share(controls[head](query, key))), " on average: ", word(key), " is popular, and this head says little about ", word(query), ". Without the control, the two heads look alike.");
    ask.textContent = "Another head, the same share";
    offer("Now I choose", () => free({}));
    draw();
  }

  // From here on a reader chooses the word and the head.
  function free(chosen) {
    Object.assign(state, { step: "free" }, chosen);
    place.dataset.free = "";
    const { query, head } = state;
    state.key = measures.largestOf(maps[head][query]);
    ask.textContent = "Click a word, or a head below";
    say(`Head ${headName(head)}: `, told({ loaded: [view], maps: [maps[head]], controls: [controls[head]], isCompared: false }, { query, key: null }));
    const hadFocus = next.contains(document.activeElement);
    next.replaceChildren();
    draw();
    if (hadFocus) words[query].focus();
  }

  function click(at) {
    if (state.step === "guess") return guess(at);
    return free({ query: at });
  }

  // ---- All heads, small.

  function strip() {
    const byChance = measures.chance(view);
    const prefers = maps.map((_, head) => measures.preference(view, head, byChance));
    const counts = Object.groupBy ? Object.groupBy(prefers, ({ name }) => name) : {};
    const most = Object.keys(counts).sort((a, b) => counts[b].length - counts[a].length)[0];
    const numbers = new Float64Array(view.n ** 2);
    const ink = colours(place);
    const buttons = prefers.map(({ name, share: part }, head) => {
      const canvas = element("canvas", { width: view.n, height: view.n });
      paint(canvas.getContext("2d"), [view.n, view.n], numbers, ink, measures.fill(numbers, view, null, head));
      const label = name === most || name === "spread" ? "" : SHORT[name];
      const button = element("button", { type: "button" }, canvas, element("span", {}, label));
      button.title = `Head ${headName(head)}` + (PREFERS[name] ? `: prefers ${PREFERS[name]}, ${share(part)}` : "");
      button.setAttribute("aria-label", button.title.replace(":", label && `, ${label}:`));
      button.addEventListener("click", () => free({ head }));
      return button;
    });
    heads.replaceChildren(...buttons);
  }

  heads.addEventListener("keydown", (event) => {
    const buttons = [...heads.children];
    const at = buttons.indexOf(event.target);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -PER_ROW, ArrowDown: PER_ROW }[event.key];
    if (at < 0 || !step || !buttons[at + step]) return;
    event.preventDefault();
    buttons[at + step].click();
    buttons[at + step].focus();
  });
  // mdBook leafs at an arrow key.
  place.addEventListener("keydown", (event) => event.stopPropagation());

  // ---- A text: that of the page, another that came with the book, or a reader's own.

  function show(text, sentence) {
    view = measures.viewOf(text);
    maps = Array.from({ length: view.nHeads }, (_, head) => measures.mapOf(view, head));
    controls = maps.map((map) => measures.controls(view, map));
    write(sentence);
    strip();
  }

  const isWeb = /^https?:$/.test(location.protocol);
  const chooser = element("select", {}, ...sentences.map(({ key, name }) => element("option", { value: key }, name)));
  chooser.addEventListener("change", async () => {
    const { file, name } = sentences.find(({ key }) => key === chooser.value);
    try {
      show(await window.headKept.fetched(new URL((path_to_root || "./") + file, location.href)), name);
      free({ query: Math.max(view.text.pieces.indexOf(asks), 1) });
      stage.scrollIntoView({ block: "center" });
    } catch (problem) {
      say(problem.message);
    }
  });
  if (isWeb) part("others").append(element("label", {}, "Another sentence ", chooser));

  // ---- A reader's own sentence, in the model itself, which is fetched when it is asked for.

  const { encoderModel: encoder } = window;
  const typed = element("input", { type: "text", autocomplete: "off", value: "The cat sat on the mat because it was warm." });
  const look = element("button", { type: "submit", className: "first-button" });
  const progress = element("progress", { max: 1, value: 0, hidden: true });
  progress.setAttribute("aria-label", "How much of the model has loaded");
  const own = element("form", { className: "first-own" }, element("label", {}, "Your own sentence ", typed), look, progress);

  async function offerOwn() {
    const has = await encoder.about();
    look.textContent = has ? `Look (loads ${Math.round(has.bytes / 1e6)} MB once)` : "Look";
    if (has) return part("others").append(own);
    const how = element("p", {}, "To try a sentence of your own here, first download the model: ", element("code", {}, "cargo learn fetch minilm"), " (83 MB).");
    return part("others").append(how);
  }

  own.addEventListener("submit", async (event) => {
    event.preventDefault();
    look.disabled = true;
    place.dataset.state = "looking";
    try {
      if (!(await encoder.start(own))) throw new Error("The module that loads the model could not be found");
      progress.hidden = false;
      await encoder.load((part) => (progress.value = part));
      show(window.headKept.computed(await encoder.look(typed.value)), typed.value);
      const { head, query } = measures.strongest(view);
      free({ head, query });
      look.textContent = "Look";
      stage.scrollIntoView({ block: "center" });
    } catch (problem) {
      say(`${problem.message}.`);
    }
    progress.hidden = true;
    look.disabled = false;
    place.dataset.state = "alive";
  });
  if (isWeb) offerOwn();

  show(window.headKept.textOf(Uint8Array.from(atob(kept), (letter) => letter.charCodeAt(0)).buffer), sentences[0].name);
  Object.assign(state, { query: view.text.pieces.indexOf(asks), key: view.text.pieces.indexOf(looked), head: view.text.names.indexOf(HEADS[0]) });
  draw();
  offer("Skip the guess", () => guess());
  new ResizeObserver(draw).observe(stage);
  new MutationObserver(() => (strip(), draw())).observe(document.documentElement, { attributeFilter: ["class"] });
  place.dataset.state = "alive";
  window.firstLook = { state, show, free };
})();
