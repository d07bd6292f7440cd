// What lies on the axes of a panel: lines, marks and texts, bars, maps. Each kind gives its
// elements, and the places that tell something under the pointer.
"use strict";
window.figureMarks = (() => {
  const { name } = window.figureAxes;
  const { element, text, width, fitting, colourAt, inkOn } = window.figureSvg;
  const DASHES = { solid: undefined, dash: "9 5", dot: "2 4", dashdot: "9 4 2 4" };
  const GHOST = "#888";
  const CELL_GAP = 1;
  const CLOUD = 60; // points
  const FINGER = 24; // pixels

  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
  // One of a list, or the same for all.
  const of = (values, nth) => (Array.isArray(values) ? values[nth] : values);

  // ---- Lines, marks, texts.

  // What lies under it is dragged: what it tells itself is found by where it is.
  function points(mark, panel) {
    const group = element("g", { opacity: mark.opacity, "pointer-events": "none" });
    const place = (scale, value) => (isNumber(value) ? scale(value) : NaN);
    const places = mark.x.map((x, nth) => [place(panel.x, x), place(panel.y, mark.y[nth])]);
    const told = [];
    if (mark.has_lines) group.append(line(mark, places));
    places.forEach(([x, y], nth) => {
      if (!isNumber(x) || !isNumber(y)) return;
      if (mark.has_marks) group.append(symbol(mark, nth, x, y));
      const words = mark.has_texts && beside(mark, nth, x, y, panel);
      if (words) group.append(words.element);
      const tip = tipOf(mark, nth);
      // A text alone is pressed anywhere in it.
      const box = words && !mark.has_marks && !mark.has_lines ? words.box : { x, y, width: 0, height: 0 };
      if (tip) told.push({ ...box, tip, pick: mark.sets?.[nth] || filled(mark.picks, { nth }) });
    });
    return { group, told };
  }

  // Broken where a number is none.
  function line({ line: style = {} }, points) {
    let isOn = false;
    const path = points.map(([x, y]) => {
      const step = isNumber(x) && isNumber(y) ? `${isOn ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}` : "";
      isOn = step !== "";
      return step;
    });
    return element("path", {
      d: path.join(""), fill: "none", stroke: style.colour ?? "currentColor",
      "stroke-width": style.width ?? 2, "stroke-dasharray": DASHES[style.dash],
      "stroke-linejoin": "round", "stroke-linecap": style.dash === "dot" ? "round" : "butt",
    });
  }

  const SHAPES = {
    square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
    diamond: (r) => `M0 ${-1.3 * r}L${1.3 * r} 0L0 ${1.3 * r}L${-1.3 * r} 0z`,
    "triangle-up": (r) => `M0 ${-1.15 * r}L${1.15 * r} ${0.85 * r}H${-1.15 * r}z`,
    circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  };

  function symbol({ symbol: name, size, colour: fill, outline, mark_opacity: opacity, line: style }, nth, x, y) {
    const [kind, open] = (name ?? "circle").split(/-(open)$/);
    const colour = of(fill, nth) ?? style?.colour ?? "currentColor";
    return element("path", {
      d: (SHAPES[kind] ?? SHAPES.circle)((size ?? 6) / 2),
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      fill: open ? "none" : colour, opacity,
      stroke: open ? colour : outline?.colour,
      "stroke-width": open ? 1.5 : outline?.width,
    });
  }

  // A text by its point, or on the nearest line that is free of the others of its panel. One
  // by a mark stays within its panel.
  function beside(mark, nth, x, y, panel) {
    const [up, across] = (mark.text_place ?? "middle center").split(" ");
    const size = mark.text_size ?? 12;
    // A blank line is there for notebooks, where names do not make way.
    const words = (of(mark.texts, nth) ?? "").replace(/<br> $/, "");
    const wide = width(words, size);
    const apart = mark.has_lines || mark.has_marks ? (mark.size ?? 6) / 2 + 3 : 3;
    const beyond = mark.has_marks && across === "left" ? Math.max(0, panel.box.left + 2 - (x - apart - wide)) : 0;
    const dx = beyond + ({ left: -apart, right: apart }[across] ?? 0);
    const places = { top: -apart - 2, bottom: apart + size, middle: size * 0.35 };
    const isOut = mark.has_marks && { top: y + places.top - size < panel.box.top, bottom: y + places.bottom > panel.box.bottom }[up];
    const dy = isOut ? places[up === "top" ? "bottom" : "top"] : places[up] ?? places.middle;
    const left = x + dx - wide * ({ left: 1, right: 0 }[across] ?? 0.5);
    const boxAt = (line) => ({ left, right: left + wide, top: y + dy + line * size - size, bottom: y + dy + line * size });
    const taken = (panel.taken ??= []); // boxes
    const line = [0, -1, 1, -2, 2].find((line) => !taken.some((it) => meet(it, boxAt(line)))) ?? 0;
    const { right, top, bottom } = boxAt(line);
    taken.push({ left, right, top, bottom });
    const drawn = text(words, {
      x: x + dx, y: y + dy + line * size, size, fill: mark.text_colour ?? "currentColor", class: mark.text_colour ? undefined : "figure-haloed",
      "text-anchor": { left: "end", right: "start" }[across] ?? "middle",
    });
    return { element: drawn, box: { x: left, y: top, width: right - left, height: bottom - top } };
  }

  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

  function tipOf(mark, nth) {
    const [told, words] = [of(mark.told, nth), of(mark.texts, nth)];
    return mark.pattern ? filled(mark.pattern, { told, text: words }) : told ?? null;
  }

  const filled = (pattern, values) => pattern?.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

  // To three decimals.
  const written = (number) => (isNumber(number) ? number.toFixed(3) : "");

  // ---- Bars: `place` says which of a panel's bars stand side by side, and `key` which they
  // are, so that they grow and shrink when the figure changes.

  function bars(mark, panel, { start, thick, base, key }) {
    const { places, sizes, lying: isLying } = mark;
    const [along, across] = isLying ? [panel.x, panel.y] : [panel.y, panel.x];
    // Bars that meet have no seams.
    const meet = thick === 1 ? "crispEdges" : undefined;
    const group = element("g", { opacity: mark.opacity, "data-places": mark.sets && "", "shape-rendering": meet });
    const told = [];
    sizes.forEach((size, nth) => {
      if (!isNumber(size)) return;
      const from = base(places[nth], size);
      const [a, b] = [along(from), along(from + size)].sort((p, q) => p - q);
      const [c, d] = [across(places[nth] + start), across(places[nth] + start + thick)].sort((p, q) => p - q);
      const box = isLying ? { x: a, y: c, width: b - a, height: d - c } : { x: c, y: a, width: d - c, height: b - a };
      const name = key && `bar.${key}.${nth}`;
      group.append(element("rect", { ...box, fill: of(mark.colour, nth) ?? "currentColor", class: "figure-bar", "data-key": name, "data-pick": mark.sets?.[nth] }));
      // A bar that stands alone is pressed in all of its column, another one where it is
      // nearly nothing.
      const { top, bottom } = panel.box;
      const isAlone = panel.bars?.length === 1;
      if (mark.sets && !isLying && (isAlone || box.height < FINGER)) group.append(element("rect", { ...box, y: top, height: bottom - top, fill: "none", "pointer-events": "all", "data-pick": mark.sets[nth] }));
      if (mark.hatched) group.append(hatched(box));
      const words = of(mark.texts, nth);
      if (words) group.append(inBar(mark, words, box, isLying, name && `words.${name}`));
      const tip = tipOf(mark, nth);
      if (tip) told.push({ ...box, tip, pick: filled(mark.picks, { nth, text: words }) });
    });
    return { group, told };
  }

  function hatched({ x, y, width: w, height: h }) {
    let path = "";
    for (let at = -h; at < w; at += 6) {
      const [from, to] = [Math.max(at, 0), Math.min(at + h, w)];
      if (from < to) path += `M${x + from} ${y + h - (from - at)}L${x + to} ${y + h - (to - at)}`;
    }
    return element("path", { d: path, stroke: "#fff", "stroke-width": 1, fill: "none" });
  }

  // Inside where there is room, and otherwise behind the bar's end.
  function inBar(mark, words, box, isLying, key) {
    const size = mark.text_size ?? 12;
    const room = width(words, size) + 8;
    const isInside = mark.text_place !== "outside" && (isLying ? box.width : box.height) >= room;
    const look = { size, fill: isInside ? "#fff" : "currentColor", class: isInside ? undefined : "figure-haloed", "data-key": key };
    if (!isLying) {
      return text(words, { x: box.x + box.width / 2, y: box.y - 4, ...look, "text-anchor": "middle" });
    }
    const x = isInside ? box.x + 4 : box.x + box.width + 4;
    return text(words, { x, y: box.y + box.height / 2 + size * 0.35, ...look });
  }

  // Where the bars of each mark of a panel begin: beside the others, on them, or over them.
  function barPlaces(all, layout) {
    const gap = layout.bar_gap ?? 0.2;
    const [grouping, n] = [layout.grouping ?? "beside", all.length];
    const room = 1 - gap;
    const sums = new Map();
    return all.map((_, nth) => {
      if (grouping === "beside") {
        return { start: -room / 2 + (nth * room) / n, thick: room / n, base: () => 0 };
      }
      const base = (place, size) => {
        const key = `${place} ${size < 0}`;
        const from = sums.get(key) ?? 0;
        sums.set(key, from + size);
        return from;
      };
      return { start: -room / 2, thick: room, base };
    });
  }

  // ---- Maps.

  function map(mark, panel, layout) {
    const { stops, ends: [least, most] } = mark.scale ?? layout.colour_bar;
    const cells = new Map(); // by colour, a path of all cells that have it
    const words = element("g");
    const told = [];
    mark.rows.forEach((row, i) => row.forEach((number, j) => {
      const corner = (dx, dy) => [panel.x(j + dx), panel.y(i + dy)];
      const [[x0, y0], [x1, y1]] = [corner(-0.5, -0.5), corner(0.5, 0.5)];
      const box = {
        x: Math.min(x0, x1) + CELL_GAP / 2, width: Math.abs(x1 - x0) - CELL_GAP,
        y: Math.min(y0, y1) + CELL_GAP / 2, height: Math.abs(y1 - y0) - CELL_GAP,
      };
      const part = isNumber(number) ? (number - least) / (most - least) : NaN;
      const fill = colourAt(stops, part);
      const cell = `M${box.x} ${box.y}h${box.width}v${box.height}h${-box.width}z`;
      if (isNumber(number)) cells.set(fill, (cells.get(fill) ?? "") + cell);
      const inside = mark.numbered ? written(number) : mark.texts?.[i]?.[j];
      if (inside !== undefined) words.append(inCell(mark, inside, box, inkOn(fill, stops, part)));
      if (mark.paints) words.append(element("rect", { ...box, fill: "none", "pointer-events": "all", "data-paint": `${mark.paints} ${i} ${j}` }));
      // Written when it is asked for: of many cells, few are.
      const values = () => ({
        row: name(panel.spec.y, i), column: name(panel.spec.x, j),
        number: written(number), text: mark.texts?.[i]?.[j], told: mark.told?.[i]?.[j],
      });
      if (isNumber(number) && (mark.pattern || mark.told?.[i]?.[j])) told.push({
        ...box,
        get tip() { return mark.pattern ? filled(mark.pattern, values()) : mark.told[i][j]; },
        get pick() { return mark.sets?.[i][j] || filled(mark.picks, { row: i, column: j }); },
      });
    }));
    const paths = [...cells].map(([fill, d]) => element("path", { d, fill }));
    return { group: element("g", { "shape-rendering": "crispEdges" }, ...paths, words), told };
  }

  function inCell(mark, words, box, ink) {
    const size = fitting(words, Math.min(mark.text_size ?? 11, box.height - 2), box.width - 2);
    return text(words, {
      x: box.x + box.width / 2, y: box.y + box.height / 2 + size * 0.35, size,
      fill: mark.text_colour ?? ink, "text-anchor": "middle",
    });
  }

  // ---- What was there before, in grey. Of a map nothing: its cells would hide the new
  // ones; nor of what a hand drags, nor of a cloud of points.

  function ghost(mark, panel, place) {
    const isCloud = mark.kind === "points" && !mark.has_lines && mark.x.length > CLOUD;
    if (mark.kind === "cells" || mark.sets || mark.drags || isCloud) return null;
    const { group } = mark.kind === "bars" ? bars(mark, panel, place) : points(mark, { ...panel, taken: [] });
    for (const each of group.querySelectorAll("path, rect")) {
      if (each.getAttribute("fill") !== "none") each.setAttribute("fill", "none");
      each.setAttribute("stroke", GHOST);
      each.setAttribute("stroke-width", 1.5);
    }
    group.querySelectorAll("text").forEach((each) => each.remove());
    group.setAttribute("class", "figure-ghost");
    return group;
  }

  return { points, bars, barPlaces, map, ghost };
})();
