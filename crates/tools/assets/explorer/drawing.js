// A map or lines between tokens, on a canvas or as SVG: one drawing for a pen of either kind.
"use strict";
window.headDrawing = (() => {
  // ---- Colours, of the theme as it is now.

  const probe = document.createElement("canvas").getContext("2d");
  function rgb(css) {
    probe.fillStyle = css.trim();
    const hex = probe.fillStyle;
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  }

  function colours(element) {
    const style = getComputedStyle(element);
    const of = (name) => rgb(style.getPropertyValue(name));
    return { paper: of("--explorer-paper"), text: rgb(style.color), more: of("--explorer-more"), less: of("--explorer-less") };
  }

  const mix = (from, to, part) => from.map((channel, i) => Math.round(channel + (to[i] - channel) * part));
  const css = ([r, g, b]) => `rgb(${r},${g},${b})`;

  // WCAG 2's relative luminance, and contrast.
  function luminance(colour) {
    const [r, g, b] = colour.map((channel) => {
      const part = channel / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function contrast(a, b) {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  }

  // A share, or a difference of two, as a colour; `most` is the darkest. Its root, so that
  // small ones are seen.
  function shade({ paper, more, less }, share, most = 1) {
    const part = Math.sqrt(Math.min(Math.abs(share) / most, 1));
    return mix(paper, share < 0 ? less : more, part);
  }

  // Fills pixels, as many as there are keys and queries.
  function paint(context, [n, nQueries], numbers, ink, most) {
    const image = context.createImageData(n, nQueries);
    const pixels = new Uint32Array(image.data.buffer);
    const packed = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;
    // 256 shades for each sign.
    const shades = [ink.more, ink.less].map((to) => Uint32Array.from({ length: 256 }, (_, i) => packed(mix(ink.paper, to, i / 255))));
    for (let at = 0; at < numbers.length; at++) {
      const part = Math.min(Math.abs(numbers[at]) / (most || 1), 1);
      pixels[at] = shades[numbers[at] < 0 ? 1 : 0][Math.round(255 * Math.sqrt(part)) || 0];
    }
    context.putImageData(image, 0, 0);
  }

  // ---- Pens.

  // What can be clicked is underlined, in dots.
  function dots(context, plain, align, size) {
    const { width } = context.measureText(plain);
    const [from, to] = align === "end" ? [-width, 0] : [0, width];
    context.strokeStyle = context.fillStyle;
    context.lineWidth = 1;
    context.setLineDash([1, 2]);
    context.beginPath();
    context.moveTo(from, size / 2 + 1);
    context.lineTo(to, size / 2 + 1);
    context.stroke();
  }

  function canvasPen(context) {
    return {
      // Cells without numbers, all at once.
      cells([x, y], [n, nQueries], cell, numbers, ink, most) {
        const small = Object.assign(document.createElement("canvas"), { width: n, height: nQueries });
        paint(small.getContext("2d"), [n, nQueries], numbers, ink, most);
        context.imageSmoothingEnabled = false;
        context.drawImage(small, x, y, n * cell, nQueries * cell);
      },
      rect(x, y, width, height, colour, opacity = 1) {
        context.globalAlpha = opacity;
        context.fillStyle = css(colour);
        context.fillRect(x, y, width, height);
        context.globalAlpha = 1;
      },
      image(image, x, y, width, height) {
        context.imageSmoothingEnabled = true;
        context.drawImage(image, x, y, width, height);
      },
      frame(x, y, width, height, colour) {
        context.strokeStyle = css(colour);
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, width - 2, height - 2);
      },
      line(from, to, colour, width) {
        context.strokeStyle = css(colour);
        context.lineWidth = width;
        context.beginPath();
        context.moveTo(...from);
        context.lineTo(...to);
        context.stroke();
      },
      text(plain, [x, y], colour, { size, align = "start", turned = false, italic = false, isLink = false }) {
        context.save();
        context.translate(x, y);
        if (turned) context.rotate(-Math.PI / 2);
        context.font = `${italic ? "italic " : ""}${size}px system-ui, sans-serif`;
        context.textAlign = align;
        context.textBaseline = "middle";
        context.fillStyle = css(colour);
        context.fillText(plain, 0, 0);
        if (isLink) dots(context, plain, align, size);
        context.restore();
      },
    };
  }

  const escaped = (plain) => plain.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const short = (number) => String(Math.round(number * 100) / 100);

  // Collects SVG.
  function svgPen() {
    const parts = [];
    const box = (x, y, width, height) => `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    return {
      rect: (x, y, width, height, colour, opacity = 1) => parts.push(
        `<rect ${box(x, y, width, height)} fill="${css(colour)}"${opacity < 1 ? ` fill-opacity="${short(opacity)}"` : ""}/>`),
      image: ({ src }, x, y, width, height) => parts.push(
        `<image ${box(x, y, width, height)} preserveAspectRatio="none" href="${escaped(src)}"/>`),
      frame: (x, y, width, height, colour) => parts.push(`<rect ${box(x, y, width, height)} fill="none" stroke="${css(colour)}" stroke-width="2"/>`),
      line: ([x1, y1], [x2, y2], colour, width) => parts.push(
        `<line x1="${short(x1)}" y1="${short(y1)}" x2="${short(x2)}" y2="${short(y2)}" stroke="${css(colour)}" stroke-width="${short(width)}"/>`),
      text(plain, [x, y], colour, { size, align = "start", turned = false, italic = false }) {
        const anchor = { start: "start", end: "end", center: "middle" }[align];
        const turn = turned ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : "";
        parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${short(size)}" text-anchor="${anchor}" ` +
          `dominant-baseline="central" fill="${css(colour)}"${italic ? ' font-style="italic"' : ""}${turn}>${escaped(plain)}</text>`);
      },
      svg: (width, height, title) => `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" ` +
        `viewBox="0 0 ${short(width)} ${short(height)}" font-family="system-ui, sans-serif"><title>${escaped(title)}</title>${parts.join("")}</svg>`,
    };
  }

  // ---- Where things are. A panel is { queries, keys, special, map, isDifference,
  // most }; `special` is of queries and of keys.

  const LARGEST_CELL = 28;
  const LEAST_WITH_NAMES = 8;
  const LEAST_WITH_NUMBERS = 20;
  const clipped = (name) => (name.length > 12 ? `${name.slice(0, 11)}…` : name);

  function widest(names, size) {
    probe.font = `${size}px system-ui, sans-serif`;
    return Math.ceil(Math.max(0, ...names.map((name) => probe.measureText(clipped(name)).width)));
  }

  function mapPlan({ queries, keys }, width) {
    const n = keys.length;
    const sized = (size) => {
      const left = Math.max(widest(queries, size) + 6, 46); // the corner has room for two words
      return { left, top: widest(keys, size) + 6, cell: Math.min(LARGEST_CELL, (width - left - 2) / n), size };
    };
    let plan = sized(12);
    plan = sized(Math.min(12.5, Math.max(7, plan.cell * 0.8)));
    if (plan.cell < LEAST_WITH_NAMES) {
      plan = { left: 2, top: 2, cell: Math.min(LARGEST_CELL, (width - 4) / n), size: 0 };
    }
    plan.cell = Math.max(plan.cell, 0.5);
    // Whole pixels where there is room, so that cells meet sharply.
    if (plan.cell > 4) plan.cell = Math.floor(plan.cell);
    const { left, top, cell } = plan;
    const height = top + cell * queries.length + 2;
    const hit = (x, y) => {
      const [key, query] = [Math.floor((x - left) / cell), Math.floor((y - top) / cell)];
      const found = { query: query >= 0 && query < queries.length ? query : null, key: key >= 0 && key < n ? key : null };
      return found.query === null && found.key === null ? null : found;
    };
    return { ...plan, width: left + cell * n + 2, height, hit };
  }

  function drawMap(pen, panel, plan, ink) {
    const { left, top, cell, size } = plan;
    const { queries, keys, special, map, most } = panel;
    if (pen.cells && cell < LEAST_WITH_NUMBERS) pen.cells([left, top], [keys.length, queries.length], cell, map.flatMap((shares) => [...shares]), ink, most);
    else drawCells(pen, panel, plan, ink);
    if (!size) return;
    if (top > 30) ["to →", "from ↓"].forEach((side, i) => pen.text(side, [left - 5, top - 19 + 13 * i], ink.text, { size: 11, align: "end", italic: true }));
    queries.forEach((name, i) => pen.text(clipped(name), [left - 5, top + (i + 0.5) * cell], ink.text, { size, align: "end", italic: special[0][i], isLink: true }));
    keys.forEach((name, i) => pen.text(clipped(name), [left + (i + 0.5) * cell, top - 5], ink.text, { size, turned: true, italic: special[1][i], isLink: true }));
  }

  function drawCells(pen, { map, isDifference, most }, { left, top, cell }, ink) {
    const gap = cell > 6 ? 1 : 0;
    map.forEach((shares, query) => shares.forEach((share, key) => {
      const colour = shade(ink, share, most);
      const [x, y] = [left + key * cell, top + query * cell];
      pen.rect(x, y, cell - gap, cell - gap, colour);
      const hundredths = Math.round(share * 100);
      if (cell < LEAST_WITH_NUMBERS || !hundredths) return;
      const dark = contrast(colour, ink.text) >= contrast(colour, ink.paper) ? ink.text : ink.paper;
      const sign = isDifference && hundredths > 0 ? "+" : "";
      pen.text(sign + String(hundredths).replace("-", "−"), [x + (cell - gap) / 2, y + cell / 2], dark, { size: 10.5, align: "center" });
    }));
  }

  // The row and the column of a cell.
  function markMap(pen, panel, plan, ink, { query, key }) {
    const { left, top, cell } = plan;
    const [width, height] = [cell * panel.keys.length, cell * panel.queries.length];
    if (query !== null) pen.frame(left - 1, top + query * cell - 1, width + 1, cell + 1, ink.text);
    if (key !== null) pen.frame(left + key * cell - 1, top - 1, cell + 1, height + 1, ink.text);
  }

  const LEAST_LINE = 0.02;

  function linesPlan({ queries, keys }, width) {
    const n = Math.max(queries.length, keys.length);
    const step = Math.max(Math.min(24, 1600 / n), 10);
    const size = Math.min(13, step - 1);
    const side = Math.min(Math.max(widest(queries, size), widest(keys, size)) + 8, width * 0.36);
    const across = Math.min(width, 560);
    const right = across - side;
    const hit = (x, y) => {
      const at = Math.floor((y - 18) / step);
      if (at < 0 || at >= n) return null;
      return x < across / 2 ? { query: at, key: null } : { query: null, key: at };
    };
    return { step, size, left: side, right, width: across, height: 18 + step * n + 4, hit };
  }

  const lineAt = ({ left, right, step }, query, key) => [[left, 18 + (query + 0.5) * step], [right, 18 + (key + 0.5) * step]];

  function drawLines(pen, panel, plan, ink) {
    const { queries, keys, special, map, most } = panel;
    map.forEach((shares, query) => shares.forEach((share, key) => {
      if (Math.abs(share) < LEAST_LINE) return;
      pen.line(...lineAt(plan, query, key), shade(ink, share * 0.8, most), 0.5 + 2.5 * Math.abs(share));
    }));
    const { size, left, right, step } = plan;
    pen.text("from", [left - 5, 9], ink.text, { size: 11, align: "end", italic: true });
    pen.text("to", [right + 5, 9], ink.text, { size: 11, italic: true });
    queries.forEach((name, i) => pen.text(clipped(name), [left - 5, 18 + (i + 0.5) * step], ink.text, { size, align: "end", italic: special[0][i], isLink: true }));
    keys.forEach((name, i) => pen.text(clipped(name), [right + 5, 18 + (i + 0.5) * step], ink.text, { size, italic: special[1][i], isLink: true }));
  }

  function markLines(pen, panel, plan, ink, { query, key }) {
    const { left, right, step, width } = plan;
    if (query !== null) pen.frame(1, 18 + query * step, left - 2, step, ink.text);
    if (key !== null) pen.frame(right + 1, 18 + key * step, width - right - 2, step, ink.text);
    panel.map.forEach((shares, i) => shares.forEach((share, j) => {
      const isMarked = query !== null && key !== null ? query === i && key === j : query === i || key === j;
      if (!isMarked || Math.abs(share) < LEAST_LINE / 2) return;
      pen.line(...lineAt(plan, i, j), share < 0 ? ink.less : ink.more, 1.5 + 5 * Math.abs(share));
    }));
  }

  const views = {
    map: { plan: mapPlan, draw: drawMap, mark: markMap },
    lines: { plan: linesPlan, draw: drawLines, mark: markLines },
  };
  return { colours, contrast, shade, paint, canvasPen, svgPen, views };
})();
