// The texts of every drawing of a page: which meet another of the same drawing, and which are
// cut by the drawing's edge. Live figures are looked at live, where there are modules.
(async (hasModules) => {
  const TOUCH = 1; // pixels
  // Above and below the line that letters stand on, in parts of their size. The box that a
  // browser gives has more, since it keeps lines apart.
  const [ABOVE, BELOW] = [0.76, 0.22];

  // A box for each run of letters of one size on one line, turned as the text is.
  function boxesOf(text) {
    const runs = [];
    const whole = parseFloat(getComputedStyle(text).fontSize);
    const full = text.getNumberOfChars() && text.getExtentOfChar(0).height;
    for (let nth = 0; nth < text.getNumberOfChars(); nth += 1) {
      const [from, to] = [text.getStartPositionOfChar(nth), text.getEndPositionOfChar(nth)];
      const size = (whole * text.getExtentOfChar(nth).height) / full;
      const run = runs.at(-1);
      if (run && run.y === from.y && run.size === size) run.to = to.x;
      else runs.push({ from: from.x, to: to.x, y: from.y, size });
    }
    return runs.map((run) => boxOf(run, text.getScreenCTM()));
  }

  function boxOf({ from, to, y: line, size }, placing) {
    const corners = [from, to].flatMap((x) => [line - ABOVE * size, line + BELOW * size].map((y) => new DOMPoint(x, y)));
    const placed = corners.map((corner) => corner.matrixTransform(placing));
    const [x, y] = [placed.map((it) => it.x), placed.map((it) => it.y)];
    return { left: Math.min(...x), right: Math.max(...x), top: Math.min(...y), bottom: Math.max(...y) };
  }

  const overlap = (a, b) => Math.min(
    Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

  const isApart = (box, edge) => overlap(box, edge) <= 0;
  const beyond = (box, edge) => Math.max(
    edge.left - box.left, box.right - edge.right, edge.top - box.top, box.bottom - edge.bottom);

  function faultsOf(svg) {
    const edge = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map((text) => ({ says: text.textContent.trim(), boxes: boxesOf(text) }));
    // The finding at a chapter's head is the first panel of a figure: the rest is below its edge.
    const seen = texts.filter(({ boxes }) => !svg.closest(".finding") || boxes.some((box) => !isApart(box, edge)));
    const faults = [];
    seen.forEach((a, nth) => {
      const cut = Math.max(0, ...a.boxes.map((box) => beyond(box, edge)));
      if (cut > TOUCH) faults.push(`“${a.says}” is cut by ${cut.toFixed(1)} px`);
      for (const b of seen.slice(0, nth)) {
        const most = Math.max(...a.boxes.flatMap((one) => b.boxes.map((other) => overlap(one, other))));
        if (most > TOUCH) faults.push(`“${a.says}” and “${b.says}” meet by ${most.toFixed(1)} px`);
      }
    });
    return faults;
  }

  for (const place of hasModules ? document.querySelectorAll("[data-live]") : []) {
    const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 10)));
    place.scrollIntoView({ block: "center", behavior: "instant" });
    const live = () => window.live?.figures.get(place);
    while (!place.dataset.state || live().isWanted || live().isAsking) await frame();
  }

  const nameOf = (svg) => svg.closest("[data-live]")?.id || svg.closest("figure, .finding")?.id || svg.closest("[class]").getAttribute("class");
  const drawings = [...document.querySelectorAll("svg")].filter((svg) => svg.querySelector("text") && svg.getBoundingClientRect().width);
  return JSON.stringify({
    n_texts: drawings.reduce((sum, svg) => sum + svg.querySelectorAll("text").length, 0),
    faults: drawings.flatMap((svg) => faultsOf(svg).map((fault) => `${nameOf(svg)}: ${fault}`)),
  });
})
