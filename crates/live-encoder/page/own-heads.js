// All heads on a sentence: their maps at a glance, and one in full.
"use strict";
window.ownHeads = (() => {
  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }
  const share = (number) => number.toFixed(2).replace(/^0/, "");

  function show(looked, shares) {
    const { pieces, special, heads, n_heads: nHeads } = looked;
    const n = pieces.length;
    const mapOf = (i) => shares.subarray(i * n * n, (i + 1) * n * n);
    const spelled = (i) => (pieces.indexOf(pieces[i]) === pieces.lastIndexOf(pieces[i]) ? pieces[i] : `${pieces[i]}(${i})`);
    const piece = (tag, i, properties = {}) => element(tag, { className: special[i] ? "own-special" : "", ...properties }, pieces[i]);
    const heading = (id, text) => element("h4", { id }, text);
    const scroll = (labelledBy, ...children) => {
      const made = element("div", { className: "live-scroll", tabIndex: 0, role: "region" }, ...children);
      made.setAttribute("aria-labelledby", labelledBy);
      return made;
    };

    // ---- All heads: a button each, one of them reached with Tab, the others with arrows.

    const rowsOf = [];
    const grid = element("table", { className: "own-grid" });
    const top = grid.createTHead().insertRow();
    top.append(element("td"), ...Array.from({ length: nHeads }, (_, head) => element("th", { scope: "col" }, String(head))));
    const body = grid.createTBody();
    const buttons = heads.map((head, i) => {
      const [layer, column] = [Math.floor(i / nHeads), i % nHeads];
      if (!column) {
        rowsOf.push(body.insertRow());
        rowsOf[layer].append(element("th", { scope: "row" }, String(layer)));
      }
      const canvas = element("canvas", { width: n, height: n });
      const button = element("button", { type: "button", tabIndex: i ? -1 : 0 }, canvas, element("span", {}, head.prefers));
      const controlled = head.share === null ? "" : `, ${share(head.share)}, by chance ${share(head.chance)}`;
      button.setAttribute("aria-label", `head ${head.name}: ${head.prefers}${controlled}`);
      button.title = button.getAttribute("aria-label");
      button.addEventListener("click", () => choose(i));
      rowsOf[layer].insertCell().append(button);
      return { button, canvas };
    });
    const moves = { ArrowUp: -nHeads, ArrowDown: nHeads, ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
    grid.addEventListener("keydown", (event) => {
      const at = buttons.findIndex(({ button }) => button === event.target);
      const move = moves[event.key];
      if (at < 0 || move === undefined) return;
      event.preventDefault();
      const next = Number.isFinite(move) ? at + move : move < 0 ? 0 : heads.length - 1;
      if (!buttons[next]) return;
      reach(next);
      buttons[next].button.focus();
    });
    const reach = (chosen) => buttons.forEach(({ button }, i) => (button.tabIndex = i === chosen ? 0 : -1));

    function draw() {
      const ink = getComputedStyle(grid).color;
      buttons.forEach(({ canvas }, i) => {
        const pen = canvas.getContext("2d");
        pen.clearRect(0, 0, n, n);
        pen.fillStyle = ink;
        mapOf(i).forEach((it, at) => {
          pen.globalAlpha = Math.sqrt(it);
          pen.fillRect(at % n, Math.floor(at / n), 1, 1);
        });
      });
    }

    // ---- One head in full.

    const title = heading("own-one", "");
    title.setAttribute("aria-live", "polite");
    const about = element("p");
    const full = element("table", { className: "own-map" });
    const strongest = element("table");

    function choose(chosen) {
      reach(chosen);
      buttons.forEach(({ button }, i) => button.setAttribute("aria-pressed", String(i === chosen)));
      const [head, map] = [heads[chosen], mapOf(chosen)];
      title.textContent = `Head ${head.name} in full`;
      const prefers = head.share === null
        ? "It prefers no kind of key by more than a tenth above chance."
        : `It prefers ${head.prefers}: ${share(head.share)} of the shares, by chance ${share(head.chance)}.`;
      const links = head.links.map(([query, key, it, others]) => `${spelled(query)} → ${spelled(key)} ${share(it)} (others ${share(others)})`);
      about.textContent = `${prefers} Its shares spread over ${head.bits.toFixed(1)} bits. ` +
        (links.length ? `Its strongest links between two words: ${links.join("; ")}.` : "");
      full.replaceChildren();
      const keys = full.createTHead().insertRow();
      keys.append(element("td"), ...pieces.map((_, j) => {
        const cell = element("th", { scope: "col" }, element("span", {}, pieces[j]));
        cell.classList.toggle("own-special", special[j]);
        return cell;
      }));
      const rows = full.createTBody();
      strongest.replaceChildren();
      const top = strongest.createTHead().insertRow();
      top.append(...["query", "strongest key", "share", "from the others"].map((text) => element("th", { scope: "col" }, text)));
      const lines = strongest.createTBody();
      head.strongest.forEach(([best, most, others], i) => {
        const row = rows.insertRow();
        row.append(piece("th", i, { scope: "row" }));
        for (let j = 0; j < n; j++) {
          const it = map[i * n + j];
          const cell = row.insertCell();
          cell.textContent = it >= 0.005 ? Math.round(it * 100) : "";
          // Never so strong that its number could not be read.
          cell.style.setProperty("--share", `${Math.sqrt(it) * 55}%`);
          if (j === best) cell.classList.add("own-best");
        }
        const line = lines.insertRow();
        line.append(piece("th", i, { scope: "row" }), piece("td", best), element("td", {}, share(most)), element("td", {}, share(others)));
      });
    }

    const list = element("ol", { className: "own-pieces" }, ...pieces.map((_, i) => piece("li", i)));
    list.setAttribute("aria-label", "The pieces");
    // A theme that is chosen by hand changes the ink too.
    const watch = new MutationObserver(() => (grid.isConnected ? draw() : watch.disconnect()));
    watch.observe(document.documentElement, { attributeFilter: ["class"] });
    const parts = [
      heading("own-pieces", "The pieces"), list,
      heading("own-glance", "All heads at a glance"),
      element("p", {}, "Layers from top to bottom, heads from left to right, both counted from 0. The word is the kind of key " +
        "whose share is farthest above chance, or spread where none is by more than a tenth; first and last are the " +
        "special tokens around the text. Choose a head; the arrow keys move between them."),
      element("div", { className: "live-scroll" }, grid), title, about,
      element("p", {}, "A row per query, a column per key, in hundredths. The frame is the query's strongest key."),
      scroll("own-one", full),
      heading("own-strongest", "Each query's strongest key"),
      element("p", {}, "The control stands next to each share: what the other queries give the same key, on average."),
      scroll("own-strongest", strongest),
    ];
    choose(0);
    requestAnimationFrame(draw);
    return parts;
  }

  return { show };
})();
