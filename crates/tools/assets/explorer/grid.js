// A query's shares over a grid of patches, and over the picture that they were cut from: a
// third way to draw a head, beside its map and its lines. A panel is as in drawing.js, with
// { grid: [rows, columns, how many tokens stand before], image, query, even }.
"use strict";
(() => {
  const { shade, views } = window.headDrawing;
  const LARGEST_PATCH = 40;
  const [BEFORE, LEGEND] = [26, 40];
  const VEIL = 0.88; // how much of a picture a share of 0 hides

  const thousandths = (share) => share.toFixed(3).replace(/^(-?)0/, "$1").replace("-", "−");

  function plan(panel, width) {
    const [rows, cols, nBefore] = panel.grid;
    const cell = Math.max(Math.min(LARGEST_PATCH, Math.floor((width - 4) / cols)), 2);
    const top = 2 + (nBefore ? BEFORE : 0);
    const wide = Math.max(cell * cols, Math.min(width - 4, 240));
    const beforeWidth = nBefore ? Math.min(84, wide / nBefore) : 0;
    const spotOf = (token) => {
      if (token < nBefore) return [2 + token * beforeWidth, 2, beforeWidth - 2, BEFORE - 4];
      const at = token - nBefore;
      return [2 + (at % cols) * cell, top + Math.floor(at / cols) * cell, cell, cell];
    };
    const hit = (x, y) => {
      const key = panel.keys.findIndex((_, token) => {
        const [left, above, width, height] = spotOf(token);
        return x >= left && x < left + width && y >= above && y < above + height;
      });
      return key < 0 ? null : { query: panel.query, key };
    };
    return { cell, top, wide, spotOf, hit, width: wide + 4, height: top + rows * cell + LEGEND };
  }

  // Where shares above an even one end: a line around them.
  function contour(pen, { grid: [rows, cols, nBefore], even }, shares, { spotOf }, ink) {
    const isAbove = (row, col) => row >= 0 && col >= 0 && row < rows && col < cols && shares[nBefore + row * cols + col] > even;
    for (let row = 0; row < rows; row++) {
      for (let col = 0; col < cols; col++) {
        if (!isAbove(row, col)) continue;
        const [x, y, width, height] = spotOf(nBefore + row * cols + col);
        const sides = [[-1, 0, [x, y], [x + width, y]], [1, 0, [x, y + height], [x + width, y + height]],
          [0, -1, [x, y], [x, y + height]], [0, 1, [x + width, y], [x + width, y + height]]];
        for (const [down, right, from, to] of sides) if (!isAbove(row + down, col + right)) pen.line(from, to, ink.text, 1.5);
      }
    }
  }

  function draw(pen, panel, planned, ink) {
    const { grid: [rows, cols, nBefore], image, keys, query, isDifference, even } = panel;
    const { cell, top, wide, spotOf } = planned;
    const shares = panel.map[query];
    // On the scale of the patches: what stands before them often gets far more.
    const most = Math.max(...shares.subarray(nBefore).map(Math.abs)) || 1;
    const hasImage = image && !isDifference;
    if (hasImage) pen.image(image, 2, top, cols * cell, rows * cell);
    shares.forEach((share, key) => {
      const spot = spotOf(key);
      if (hasImage && key >= nBefore) pen.rect(...spot, ink.paper, VEIL * (1 - Math.sqrt(Math.min(share / most, 1))));
      else pen.rect(...spot, shade(ink, share, most));
    });
    for (let token = 0; token < nBefore; token++) {
      const [x, y, width, height] = spotOf(token);
      const name = keys[token].slice(0, Math.max(Math.floor(width / 8), 1));
      const colour = shade(ink, shares[token], most);
      const { contrast } = window.headDrawing;
      pen.text(name, [x + width / 2, y + height / 2], contrast(colour, ink.text) >= contrast(colour, ink.paper) ? ink.text : ink.paper, { size: 11, align: "center" });
    }
    const below = top + rows * cell + 8;
    if (isDifference) return;
    contour(pen, panel, shares, planned, ink);
    // The scale, with the even share on it.
    const steps = 48;
    const width = Math.min(wide, 240);
    for (let i = 0; i < steps; i++) pen.rect(2 + (i * width) / steps, below, width / steps + 0.5, 8, shade(ink, ((i + 0.5) / steps) * most, most));
    const at = 2 + width * Math.min(even / most, 1);
    pen.line([at, below - 3], [at, below + 11], ink.text, 2);
    pen.text(`even ${thousandths(even)}`, [Math.min(Math.max(at, 34), width - 62), below + 20], ink.text, { size: 11, align: "center" });
    pen.text(thousandths(most), [2 + width, below + 20], ink.text, { size: 11, align: "end" });
  }

  function mark(pen, panel, { spotOf }, ink, { query, key }) {
    if (panel.isSelf) pen.frame(...spotOf(query), ink.less);
    if (key !== null) pen.frame(...spotOf(key), ink.text);
  }

  // Where an arrow key leads.
  function moved({ grid: [, cols, nBefore], keys }, key, arrow) {
    const step = { ArrowUp: -cols, ArrowDown: cols, ArrowLeft: -1, ArrowRight: 1 }[arrow];
    if (arrow === "ArrowDown" && key < nBefore) return nBefore;
    if (arrow === "ArrowUp" && key >= nBefore && key - cols < nBefore) return Math.max(nBefore - 1, 0);
    return Math.min(Math.max(key + step, 0), keys.length - 1);
  }

  views.grid = { plan, draw, mark, moved };
})();
