// Draws a figure along axes as SVG: `marks` on the panels of a `layout`, as the crate
// `figures` says them in spec.rs and marks.rs. It has no field that is not read.
"use strict";
window.figurePlot = (() => {
  const { scale, lines, below, beside } = window.figureAxes;
  const { element, text, width: widthOf, fitting, colourAt } = window.figureSvg;
  const marks = window.figureMarks;
  const LEGEND_ROW = 19;
  const SAMPLE = 13; // pixels, of a mark in the legend
  const TITLE = 12; // pixels, of what an axis measures
  const SEMIBOLD = 1.07; // as wide as normal letters, about
  const BAR = { length: 180, thick: 8, title: 11, tick: 10 }; // pixels, of a colour bar

  // Gives the drawing, the boxes that tell something under the pointer, and its panels.
  function draw({ marks: all, layout, width, ghost = [] }) {
    const { height, margin } = layout;
    const area = {
      left: margin.left, top: margin.above,
      width: width - margin.left - margin.right, height: height - margin.above - margin.below,
    };
    const svg = element("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, fill: "currentColor",
    });
    const panels = panelsOf(layout, area);
    for (const panel of panels) svg.append(behind(panel));
    const told = [];
    // A ghost lies below what is there, but for points alone, which bars would hide.
    const isOver = (mark) => mark.kind === "points" && !mark.has_lines;
    const ghosts = (marks) => svg.append(...marks.flatMap((mark) => drawn(mark, panels, layout, ghost, true).map((it) => it.group)));
    ghosts(ghost.filter((mark) => !isOver(mark)));
    for (const mark of all) {
      for (const { group, told: boxes } of drawn(mark, panels, layout, all, false)) {
        svg.append(group);
        told.push(...boxes);
      }
    }
    ghosts(ghost.filter(isOver));
    // Over all marks, so that none is in a hand's way.
    const dragged = all.filter((mark) => mark.drags && mark.shown !== false);
    svg.append(...dragged.flatMap((mark) => window.figureGrips(mark, panels[mark.panel ?? 0], all)));
    for (const panel of panels) svg.append(names(panel, panels, width));
    for (const box of layout.boxes ?? []) svg.append(rectangle(box, panels[box.panel]));
    for (const it of layout.labels ?? []) svg.append(label(it, layout.labels, area, width));
    for (const it of layout.arrows ?? []) svg.append(...arrow(it, panels[0]));
    if (layout.legend !== undefined) svg.append(legend(all, layout, area));
    if (layout.colour_bar) svg.append(colourBar(layout.colour_bar, area));
    return { svg, told, panels };
  }

  // ---- Panels: each pair of axes, with its scales.

  function panelsOf(layout, area) {
    return layout.panels.map(({ x, y, place, over }) => {
      const [left, right] = (place?.across ?? [0, 1]).map((part) => area.left + part * area.width);
      const [bottom, top] = (place?.up ?? [0, 1]).map((part) => area.top + (1 - part) * area.height);
      const box = { left, right, top, bottom };
      return { box, spec: { x, y }, isOver: !!over, x: scale(x, [left, right]), y: scale(y, [bottom, top]) };
    });
  }

  function isIn(at, [a, b]) {
    return at >= Math.min(a, b) - 0.5 && at <= Math.max(a, b) + 0.5;
  }

  // Faint lines, under all that is drawn.
  function behind({ box, spec, x, y, isOver }) {
    const group = element("g", { stroke: "currentColor", "stroke-width": 1 });
    const drawn = { 0.15: "", 0.4: "" }; // by opacity, a path of all lines that have it
    const line = (isX, at, opacity) => {
      const [from, to] = isX ? [[at, box.top], [at, box.bottom]] : [[box.left, at], [box.right, at]];
      drawn[opacity] += `M${from}L${to}`;
    };
    for (const [isX, axis, at, ends] of [[true, spec.x, x, [box.left, box.right]], [false, spec.y, y, [box.top, box.bottom]]]) {
      if (axis.hidden || (isOver && isX)) continue;
      if (!axis.lines) continue;
      for (const { at: value } of lines(axis)) if (isIn(at(value), ends)) line(isX, at(value), 0.15);
      if (!axis.log && isIn(at(0), ends)) line(isX, at(0), 0.4);
    }
    for (const [opacity, d] of Object.entries(drawn)) {
      if (d) group.append(element("path", { d, "stroke-opacity": opacity }));
    }
    return group;
  }

  function names({ box, spec, x, y, isOver }, panels, width) {
    const group = element("g");
    if (!isOver) group.append(namesBelow(box, spec.x, x, width));
    // As far as the panel before it, or the drawing's edge.
    const before = panels.filter((it) => it.box.right < box.left && it.box.top < box.bottom && it.box.bottom > box.top);
    const room = isOver ? width - box.right : box.left - Math.max(0, ...before.map((it) => it.box.right));
    group.append(namesBeside(box, spec.y, y, isOver, room));
    return group;
  }

  // The names that are seen, each with its place in pixels.
  function shown(axis, at, ends) {
    if (axis.labelled === false) return [];
    return lines(axis).map((it) => ({ name: it.name, place: at(it.at) })).filter(({ place }) => isIn(place, ends));
  }

  function namesBelow(box, axis, at, width) {
    const group = element("g", { "text-anchor": "middle" });
    if (axis.hidden) return group;
    const top = box.bottom + 4 + (axis.standoff ?? 0);
    const { size, isUpright, names } = below(axis, shown(axis, at, [box.left, box.right]), width, widthOf);
    for (const { place, name } of names) {
      group.append(isUpright
        ? text(name, { x: place, y: top, size, "text-anchor": "end", transform: `rotate(-90 ${place} ${top}) translate(0 ${size * 0.35})` })
        : text(name, { x: place, y: top + size, size }));
    }
    if (axis.title) {
      const [under, middle] = [names.length ? size + 3 : 0, (box.left + box.right) / 2];
      const fitted = fitting(axis.title, TITLE, 2 * Math.min(middle, width - middle) - 2);
      group.append(text(axis.title, { x: middle, y: top + under + 4 + TITLE - 2, size: fitted }));
    }
    return group;
  }

  function namesBeside(box, axis, at, isRight, room) {
    const group = element("g", { "text-anchor": isRight ? "start" : "end" });
    if (axis.hidden) return group;
    const apart = 3 + (axis.standoff ?? 0);
    const x = isRight ? box.right + apart : box.left - apart;
    const { size, names } = beside(axis, shown(axis, at, [box.top, box.bottom]), room - apart - 1, fitting);
    for (const { place, name } of names) {
      // The highest hangs from the panel's edge: over it is a title.
      group.append(text(name, { x, y: Math.max(place + size * 0.35, box.top + size * 0.6), size }));
    }
    if (axis.title) {
      const widest = Math.max(0, ...names.map(({ name }) => widthOf(name, size)));
      const place = isRight ? x + widest + 14 : x - widest - 10;
      const middle = (box.top + box.bottom) / 2;
      group.append(text(axis.title, { x: place, y: middle, size: TITLE, "text-anchor": "middle", transform: `rotate(-90 ${place} ${middle})` }));
    }
    return group;
  }

  // ---- Marks.

  let clips = 0;

  function drawn(mark, panels, layout, all, isGhost) {
    if (mark.shown === false) return [];
    const nth = mark.panel ?? 0;
    const panel = panels[nth];
    if (!panel) return [];
    let made;
    if (mark.kind === "bars") {
      const bars = all.filter((it) => it.kind === "bars" && (it.panel ?? 0) === nth && it.shown !== false);
      panel.places ??= new Map();
      const list = panel.places.get(all) ?? marks.barPlaces(bars, layout);
      panel.places.set(all, list);
      if (!isGhost) panel.bars = bars;
      const at = bars.indexOf(mark);
      const [place, key] = [list[at], `${nth}.${at}`];
      made = isGhost ? { group: marks.ghost(mark, panel, place), told: [] } : marks.bars(mark, panel, { ...place, key });
    } else if (isGhost) {
      made = { group: marks.ghost(mark, panel), told: [] };
    } else {
      made = mark.kind === "cells" ? marks.map(mark, panel, layout) : marks.points(mark, panel);
    }
    if (!made.group) return [];
    if (mark.unclipped || mark.kind === "cells") return [made];
    const { left, right, top, bottom } = panel.box;
    const id = `figure-clip-${(clips += 1)}`;
    const clip = element("clipPath", { id }, element("rect", { x: left - 1, y: top - 1, width: right - left + 2, height: bottom - top + 2 }));
    return [{ group: element("g", {}, clip, element("g", { "clip-path": `url(#${id})` }, made.group)), told: made.told }];
  }

  // ---- Over all panels.

  // A strip lies below its panel, in parts of its height.
  function rectangle({ x, y, strip, fill, line, width }, panel) {
    const { box } = panel;
    const up = strip ? (part) => box.bottom - part * (box.bottom - box.top) : panel.y;
    const [[x0, x1], [y0, y1]] = [x.map(panel.x), y.map(up)];
    return element("rect", {
      x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0),
      fill: fill ?? "none", stroke: line ?? "currentColor", "stroke-width": width,
    });
  }

  // On a line of its own, as far as the next on that line or the drawing's edge.
  function label({ text: words, x, y }, all, area, width) {
    const place = (it) => Math.max(area.left + it * area.width, 0);
    const next = all.filter((it) => it.y === y && it.x > x).map((it) => place(it.x) - TITLE);
    const [left, base] = [place(x), area.top + (1 - y) * area.height];
    const size = fitting(words, 13, (Math.min(width, ...next) - left) / SEMIBOLD);
    return text(words, { x: left, y: base - 7, size, "font-weight": 600, "text-anchor": "start" });
  }

  function arrow({ from, to, width, head, colour }, panel) {
    const [x0, y0, x1, y1] = [panel.x(from[0]), panel.y(from[1]), panel.x(to[0]), panel.y(to[1])];
    const turn = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI;
    const size = 4 * head * width;
    return [
      element("path", { d: `M${x0} ${y0}L${x1} ${y1}`, stroke: colour, "stroke-width": width, fill: "none" }),
      element("path", { d: `M0 0L${-size} ${-size / 2}V${size / 2}z`, fill: colour, transform: `translate(${x1} ${y1}) rotate(${turn})` }),
    ];
  }

  // Each name beside what is drawn under it: side by side where they fit, else in columns.
  function legend(all, layout, area) {
    const entries = all.filter((it) => it.name && it.legend !== false && it.shown !== false);
    const sizes = entries.map((it) => widthOf(it.name, 12) + 46);
    const room = area.width + layout.margin.left - 4;
    const isOneRow = sizes.reduce((a, b) => a + b, 0) <= room;
    const column = Math.max(...sizes, 1);
    const inRow = isOneRow ? entries.length : Math.max(1, Math.floor(room / column));
    const top = area.top + (1 - layout.legend) * area.height;
    const group = element("g");
    let x = 0;
    entries.forEach((mark, nth) => {
      const left = isOneRow ? x : (nth % inRow) * column;
      const y = top + LEGEND_ROW * (Math.floor(nth / inRow) + 0.5);
      group.append(sample(mark, left, y), text(mark.name, { x: left + 32, y: y + 4, size: 12 }));
      x += sizes[nth];
    });
    return group;
  }

  function sample(mark, x, y) {
    const panel = { x: (at) => x + 3 + at * 22, y: () => y };
    const one = (values) => (Array.isArray(values) ? values[0] : values);
    const colour = one(mark.colour);
    if (mark.kind === "bars") {
      return element("rect", { x: x + 8, y: y - 6, width: 16, height: 12, fill: colour });
    }
    const still = { ...mark, colour, size: Math.min(mark.size ?? 6, SAMPLE), has_texts: false, opacity: undefined, told: undefined, pattern: undefined };
    const places = mark.has_lines ? [0, 1] : [0.5];
    const group = marks.points({ ...still, x: places, y: places, has_marks: mark.has_marks && !mark.has_lines }, panel).group;
    if (mark.has_lines && mark.has_marks) group.append(marks.points({ ...still, x: [0.5], y: [0], has_lines: false }, panel).group);
    return group;
  }

  function colourBar({ stops, ends: [least, most], title, at, ticks }, area) {
    const [x, top] = [area.left, area.top + (1 - at) * area.height];
    const y = top + BAR.title + 5;
    const group = element("g", {}, text(title, { x, y: top + BAR.title, size: BAR.title }));
    const steps = 64;
    for (let nth = 0; nth < steps; nth += 1) {
      group.append(element("rect", { x: x + (nth * BAR.length) / steps, y, width: BAR.length / steps + 0.5, height: BAR.thick, fill: colourAt(stops, nth / (steps - 1)) }));
    }
    for (const value of ticks) {
      const place = x + ((value - least) / (most - least)) * BAR.length;
      group.append(text(String(value), { x: place, y: y + BAR.thick + BAR.tick + 2, size: BAR.tick, "text-anchor": "middle" }));
    }
    return group;
  }

  return { draw };
})();
