window.pictures = (() => {
  const top = (thing) => thing.getBoundingClientRect().top + scrollY;
  const PICTURE = "svg, img, canvas, .figure, [data-live], [data-heads], [data-own-sentence]";
  const isSeen = (thing) => {
    const { width, height } = thing.getBoundingClientRect();
    return width >= 120 && height >= 40 && !thing.closest("button, a.header, details:not([open])");
  };

  // The longest stretch of a chapter, up to its exercises, that has no picture, and the
  // heading that it begins below.
  function stretch() {
    const main = document.querySelector("main");
    const headings = [...main.querySelectorAll("h1, h2, h3")];
    const exercises = headings.find((it) => /^exercises?$/i.test(it.textContent.trim()));
    const end = exercises ? top(exercises) : top(main) + main.offsetHeight;
    const seen = [...main.querySelectorAll(PICTURE)].filter(isSeen);
    const spans = seen.map((it) => [top(it), top(it) + it.getBoundingClientRect().height]);
    let [last, longest, below] = [top(main), 0, ""];
    for (const [from, to] of [...spans.sort((a, b) => a[0] - b[0]), [end, end]]) {
      if (Math.min(from, end) - last > longest) {
        longest = Math.min(from, end) - last;
        below = headings.filter((it) => top(it) <= last + 5).at(-1)?.textContent.trim() ?? "";
      }
      last = Math.max(last, to);
    }
    return JSON.stringify({ longest, below });
  }

  const number = (text) => Number(text.replaceAll("−", "-").replace(/[()]/g, "").replace("∞", "Infinity"));
  const root = (text) => (text?.startsWith("√") ? Math.sqrt(number(text.slice(1))) : number(text ?? "1"));

  // Points at every number of the drawings that is a sum of products, and computes what is
  // written: how many there are, and the furthest that one is from what stands in its cell,
  // beyond what the rounding of its factors explains.
  function sums() {
    let [n, furthest, worst] = [0, -1, ""];
    for (const thing of document.querySelectorAll(".figure [data-left]")) {
      if (!thing.getClientRects().length) continue;
      for (const letters of thing.querySelectorAll("text")) {
        const { left, top, width, height } = letters.getBoundingClientRect();
        const [clientX, clientY] = [left + width / 2, top + height / 2];
        letters.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX, clientY }));
        const written = thing.ownerSVGElement.querySelector("[data-sum] text").textContent;
        const [, sum, over, found] = /: \(?(.*?·.*?)(?:\) \/ (\S+))? [=≈] (\S+)$/.exec(written) ?? [];
        const terms = (sum ?? "NaN·NaN").split(" + ").map((term) => term.split("·").map(number));
        const total = terms.reduce((all, [a, b]) => all + a * b, 0) / root(over);
        const half = (entry) => (Number.isInteger(entry) ? 0 : 0.05);
        const unsure = terms.reduce((all, [a, b]) => all + half(a) * Math.abs(b) + half(b) * Math.abs(a), 0.051);
        const apart = found === letters.textContent ? Math.abs(total - number(found)) - unsure : Infinity;
        n += 1;
        if (!(apart <= furthest)) [furthest, worst] = [apart, written];
      }
    }
    return JSON.stringify({ n, furthest, worst });
  }

  return { stretch, sums };
})();
