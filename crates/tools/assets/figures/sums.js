// A number that is a row times a column, under the pointer or reached with the arrow keys:
// the row and the column are lit, and the sum is written out in the drawing, from the
// numbers as they are drawn. `data-left` names the things whose numbers are the row, and
// `data-right` the rows of the matrix, or one thing that is its column.
"use strict";
(() => {
  const letters = (thing) => [...thing.querySelectorAll("text")];
  const named = (svg, keys) => keys.split(" ").map((key) => svg.querySelector(`[data-key="${key}"]`));

  // The entries that are multiplied with each other, as the drawing has them now.
  function factors(thing, nth) {
    const svg = thing.ownerSVGElement;
    const [left, right] = ["left", "right"].map((side) => named(svg, thing.dataset[side]));
    if ([...left, ...right].includes(null)) return null;
    const row = left.flatMap(letters);
    const isColumn = right.length === 1 && row.length > 1; // and not a matrix of one row
    return { row, column: isColumn ? letters(right[0]) : right.map((of) => letters(of)[nth]) };
  }

  // `scores: (2·0 + 1·(−1)) / √2 = −0.7`.
  function written({ dataset: { of, over } }, { row, column }, found) {
    const factor = ({ textContent: number }) => (number.startsWith("−") ? `(${number})` : number);
    const terms = row.map((entry, k) => `${entry.textContent}·${factor(column[k])}`).join(" + ");
    // Numbers that were rounded to be drawn add up to about what is drawn.
    const is = /[.√]/.test(terms + over) ? "≈" : "=";
    return `${of}: ${over ? `(${terms}) / ${over}` : terms} ${is} ${found.textContent}`;
  }

  // Frames round letters, with some room.
  function light(svg, letters) {
    for (const letter of letters) {
      const { x, y, width, height } = letter.getBBox();
      const box = document.createElementNS(svg.namespaceURI, "rect");
      const set = { x: x - 3, y: y - 1, width: width + 6, height: height + 2, rx: 3, class: "sum-lit" };
      for (const [name, value] of Object.entries(set)) box.setAttribute(name, value);
      svg.append(box);
    }
  }

  function show(thing, nth) {
    const svg = thing.ownerSVGElement;
    const [found, sum] = [letters(thing)[nth], svg.querySelector("[data-sum] text")];
    svg.firstSum ??= sum?.textContent;
    const of = found && sum && factors(thing, nth);
    if (!of) return;
    for (const old of svg.querySelectorAll(".sum-lit")) old.remove();
    light(svg, [...of.row, ...of.column, found]);
    sum.textContent = written(thing, of, found);
    svg.sumAt = [thing.dataset.key, nth];
  }

  // At a number that is no sum.
  function clear(svg) {
    for (const old of svg?.querySelectorAll(".sum-lit") ?? []) old.remove();
    if (svg?.firstSum) svg.querySelector("[data-sum] text").textContent = svg.firstSum;
  }

  for (const kind of ["pointermove", "pointerdown"]) {
    document.addEventListener(kind, (event) => {
      const thing = event.target.closest?.("[data-left]");
      if (!thing) return void clear(event.target.closest?.("[data-key]")?.ownerSVGElement);
      const at = ({ left, width }) => Math.abs(event.clientX - left - width / 2);
      const away = letters(thing).map((letter) => at(letter.getBoundingClientRect()));
      show(thing, away.indexOf(Math.min(...away)));
    });
  }

  // All such numbers of a drawing, row by row: up and down go to the next row.
  const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  function move(svg, [down, right]) {
    const things = [...svg.querySelectorAll("[data-left]")];
    const [key, nth] = svg.sumAt ?? [things[0].dataset.key, -right];
    const at = things.findIndex((thing) => thing.dataset.key === key);
    const n = letters(things[at]).length;
    const over = nth + right < 0 ? -1 : Number(nth + right >= n);
    const next = things[at + down + over];
    if (next) show(next, over < 0 ? letters(next).length - 1 : over ? 0 : Math.min(nth + right, letters(next).length - 1));
  }

  for (const place of document.querySelectorAll(".figure-diagram:has([data-sum])")) {
    const heard = Object.assign(document.createElement("p"), { className: "figure-heard" });
    heard.setAttribute("aria-live", "polite");
    place.after(heard);
    place.tabIndex = 0;
    place.addEventListener("keydown", (event) => {
      const svg = [...place.querySelectorAll("svg")].find((it) => it.clientWidth);
      if (!(event.key in KEYS) || !svg?.querySelector("[data-left]")) return;
      event.preventDefault();
      move(svg, KEYS[event.key]);
      heard.textContent = svg.querySelector("[data-sum] text").textContent;
    });
  }
})();
