// An entry of a product under the pointer, or reached with the arrow keys: its row and its
// column are lit, and its sum is written out below, from the numbers as they are drawn.
"use strict";
(() => {
  const numbers = (matrix) => [...matrix.querySelectorAll("text")].map((text) => text.textContent);
  const shape = (matrix) => matrix.dataset.shape.split(" ").map(Number);
  const frame = (matrix) => matrix.querySelector("rect");

  // `scores: 2·0 + 1·(−1) = −1`.
  function written(product, [a, b], row, column) {
    const [[, inner], [, wide]] = [a, b].map(shape);
    const [of, over] = [[a, b].map(numbers), product.dataset.over];
    const factor = (number) => (number.startsWith("−") ? `(${number})` : number);
    const terms = Array.from({ length: inner }, (_, k) => `${of[0][row * inner + k]}·${factor(of[1][k * wide + column])}`);
    const sum = over ? `(${terms.join(" + ")}) / ${over}` : terms.join(" + ");
    return `${product.dataset.name}: ${sum} = ${numbers(product)[row * shape(product)[1] + column]}`;
  }

  // A frame round some of a matrix's entries.
  function lit(matrix, rows, columns) {
    const [[n, m], rect] = [shape(matrix), frame(matrix)];
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
    const box = document.createElementNS(rect.namespaceURI, "rect");
    const set = { x: x + (columns[0] * w) / m, y: y + (rows[0] * h) / n };
    Object.assign(set, { width: (columns[1] * w) / m, height: (rows[1] * h) / n });
    for (const [name, value] of Object.entries(set)) box.setAttribute(name, value);
    box.setAttribute("class", "sum-lit");
    matrix.closest("svg").append(box);
  }

  function show(product, row, column) {
    const svg = product.closest("svg");
    const factors = product.dataset.product.split(" ").map((nth) => svg.querySelector(`[data-cells="${nth}"]`));
    for (const old of svg.querySelectorAll(".sum-lit")) old.remove();
    const [[n, inner], [, m]] = factors.map(shape);
    lit(factors[0], [row, 1], [0, inner]);
    lit(factors[1], [0, inner], [column, 1]);
    lit(product, [row, 1], [column, 1]);
    const line = svg.querySelector("[data-sum] text");
    line.textContent = written(product, factors, row, column);
    Object.assign(svg, { sumAt: { product, row: Math.min(row, n - 1), column: Math.min(column, m - 1) } });
  }

  // The entry whose sum the drawing comes with: of its first product, in the lit row.
  function showFirst(svg) {
    const product = svg.querySelector("[data-product]");
    show(product, Number(product.dataset.lit ?? 0), 0);
  }

  // Which entry of a product the pointer is on.
  function entryAt(product, event) {
    const [{ left, top, width, height }, [n, m]] = [frame(product).getBoundingClientRect(), shape(product)];
    const [row, column] = [Math.floor(((event.clientY - top) / height) * n), Math.floor(((event.clientX - left) / width) * m)];
    return row >= 0 && row < n && column >= 0 && column < m ? [row, column] : null;
  }

  for (const kind of ["pointermove", "pointerdown"]) {
    document.addEventListener(kind, (event) => {
      const svg = event.target.closest?.(".figure-diagram svg");
      for (const product of svg?.querySelectorAll("[data-product]") ?? []) {
        const at = entryAt(product, event);
        if (at) show(product, ...at);
      }
    });
  }

  // Left and right go on to the next product of the drawing at the end of a row.
  const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  function move(svg, [down, right]) {
    const all = [...svg.querySelectorAll("[data-product]")];
    const { product, row, column } = svg.sumAt ?? { product: all[0], row: 0, column: -1 };
    const [n, m] = shape(product);
    const next = all[all.indexOf(product) + right];
    if (column + right >= 0 && column + right < m) show(product, Math.min(Math.max(row + down, 0), n - 1), column + right);
    else if (next) show(next, Math.min(row, shape(next)[0] - 1), right > 0 ? 0 : shape(next)[1] - 1);
  }

  for (const place of document.querySelectorAll(".figure-diagram:has([data-product])")) {
    const heard = Object.assign(document.createElement("p"), { className: "figure-heard" });
    heard.setAttribute("aria-live", "polite");
    place.after(heard);
    place.tabIndex = 0;
    for (const svg of place.querySelectorAll("svg")) showFirst(svg);
    place.addEventListener("keydown", (event) => {
      if (!(event.key in MOVES)) return;
      event.preventDefault();
      const svg = [...place.querySelectorAll("svg")].find((it) => it.clientWidth);
      move(svg, MOVES[event.key]);
      heard.textContent = svg.querySelector("[data-sum] text").textContent;
    });
  }
})();
