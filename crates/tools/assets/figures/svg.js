// What is drawn with: elements, texts with low and high letters, colours of a scale.
"use strict";
window.figureSvg = (() => {
  const SMALLEST = 7; // pixels, of letters
  const LINE = 1.25; // of a letter's height
  const SHIFT = { sub: 0.28, sup: -0.36 }; // of a letter's height

  function element(name, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== null) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  const plain = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

  // A text as the crate writes it: plain, with <sub>, <sup>, <b> and <br>. Its lines lie
  // around `y`.
  function text(html, { x, y, size = 12, ...more }) {
    const made = element("text", { x, "font-size": size, ...more });
    if (!/[<&]/.test(html)) {
      made.setAttribute("y", y);
      made.textContent = html;
      return made;
    }
    const lines = String(html).split("<br>");
    lines.forEach((line, nth) => {
      const down = (nth - (lines.length - 1) / 2) * LINE * size;
      made.append(element("tspan", { x, y: y + down }, ...pieces(line, size)));
    });
    return made;
  }

  function pieces(line, size) {
    const made = [];
    let [shift, before, isBold] = [0, 0, false];
    for (const part of line.split(/(<\/?(?:sub|sup|b)>)/)) {
      const found = part.match(/^<(\/?)(sub|sup|b)>$/);
      if (found?.[2] === "b") isBold = !found[1];
      else if (found) shift = found[1] ? 0 : SHIFT[found[2]] * size;
      else if (part) {
        made.push(element("tspan", {
          dy: shift - before || undefined, "font-size": shift ? size * 0.72 : undefined,
          "font-weight": isBold ? "bold" : undefined,
        }, plain(part)));
        before = shift;
      }
    }
    return made;
  }

  const measure = document.createElement("canvas").getContext("2d");
  const widths = new Map(); // of texts that were measured
  let family = "system-ui, sans-serif";

  // From here on in the letters of the page, which have come.
  function readFont() {
    family = getComputedStyle(document.body).fontFamily;
    widths.clear();
  }

  // How wide a text is drawn, in pixels.
  function width(html, size) {
    const key = `${size} ${html}`;
    if (!widths.has(key)) {
      measure.font = `${size}px ${family}`;
      widths.set(key, measure.measureText(plain(String(html).replace(/<[^>]*>/g, ""))).width);
    }
    return widths.get(key);
  }

  // The largest size, at most this one, at which a text is no wider; but no smaller than can
  // be read.
  function fitting(html, size, most) {
    return Math.min(size, Math.max(SMALLEST, Math.floor((size * most) / width(html, size) * 10) / 10));
  }

  const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

  // The colour at a part from 0 to 1 of a scale of stops.
  function colourAt(scale, part) {
    if (!Number.isFinite(part)) return "none";
    const place = Math.min(Math.max(part, 0), 1);
    const above = Math.max(1, scale.findIndex(([at]) => at >= place));
    const [[low, from], [high, to]] = [scale[above - 1], scale[above]];
    if (!/^#/.test(from) || !/^#/.test(to)) return mixed(from, to, (place - low) / (high - low));
    const [a, b] = [channels(from), channels(to)];
    const mix = a.map((value, nth) => Math.round(value + ((place - low) / (high - low)) * (b[nth] - value)));
    return `rgb(${mix})`;
  }

  const mixed = (from, to, part) => `color-mix(in srgb, ${to} ${100 * part}%, ${from})`;

  const [LOW, HIGH] = [0.6, 0.76]; // parts of a scale between which black stands out best

  // What stands out on a colour that `colourAt` gave. The scale of shares is light at one end
  // and dark at the other, and which is which depends on the theme.
  function inkOn(colour, scale, part) {
    if (colour.startsWith("rgb(")) {
      const [r, g, b] = colour.match(/\d+/g).map((value) => (value / 255) ** 2.2);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
    }
    const [, most] = scale.at(-1);
    if (!most.startsWith("var(")) return part > LOW ? "#fff" : "currentColor";
    if (part > HIGH) return "var(--on-high-share)";
    return part > LOW ? "#000" : "var(--on-low-share)";
  }

  return { element, text, readFont, width, fitting, colourAt, inkOn };
})();
