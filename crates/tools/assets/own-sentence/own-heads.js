// All heads on a reader's own sentence: their maps at a glance, and one in full, each with its
// controls.
"use strict";
window.ownHeads = (() => {
  const { element } = window.headMaps;
  const share = (number) => number.toFixed(2).replace(/^0/, "");

  function show(looked, shares) {
    const { pieces, special, heads, n_heads: nHeads } = looked;
    const n = pieces.length;
    const { piece, glance, full } = window.headMaps.of({ pieces, special });
    const maps = heads.map((_, i) => (query, key) => shares[(i * n + query) * n + key] * 100);
    const spelled = (i) => (pieces.indexOf(pieces[i]) === pieces.lastIndexOf(pieces[i]) ? pieces[i] : `${pieces[i]}(${i})`);
    const heading = (id, text) => element("h4", { id }, text);
    const scroll = (labelledBy, ...children) => {
      const made = element("div", { className: "live-scroll", tabIndex: 0, role: "region" }, ...children);
      made.setAttribute("aria-labelledby", labelledBy);
      return made;
    };

    const grid = element("table", { className: "own-grid" });
    const { draw, press } = glance(grid, nHeads, heads.map((head, i) => {
      const controlled = head.share === null ? "" : `, ${share(head.share)}, by chance ${share(head.chance)}`;
      return { map: maps[i], word: head.prefers, label: `head ${head.name}: ${head.prefers}${controlled}` };
    }), choose);

    // ---- One head in full.

    const title = heading("own-one", "");
    title.setAttribute("aria-live", "polite");
    const about = element("p");
    const map = element("table", { className: "own-map" });
    const strongest = element("table");

    function choose(chosen) {
      press(chosen);
      const head = heads[chosen];
      title.textContent = `Head ${head.name} in full`;
      const prefers = head.share === null
        ? "It prefers no kind of key by more than a tenth above chance."
        : `It prefers ${head.prefers}: ${share(head.share)} of the shares, by chance ${share(head.chance)}.`;
      const links = head.links.map(([query, key, it, others]) => `${spelled(query)} → ${spelled(key)} ${share(it)} (others ${share(others)})`);
      about.textContent = `${prefers} Its shares spread over ${head.bits.toFixed(1)} bits. ` +
        (links.length ? `Its strongest links between two words: ${links.join("; ")}.` : "");
      const cells = full(map, maps[chosen]);
      strongest.replaceChildren();
      const top = strongest.createTHead().insertRow();
      top.append(...["query", "strongest key", "share", "from the others"].map((text) => element("th", { scope: "col" }, text)));
      const lines = strongest.createTBody();
      head.strongest.forEach(([best, most, others], i) => {
        cells[i][best].classList.add("own-best");
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
      scroll("own-one", map),
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
