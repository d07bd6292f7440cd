// What lies on the axes of a panel: lines, marks and texts, bars, maps. Each kind gives its
// elements, and the places that tell something under the pointer.
"use strict";
window.figureMarks = (() => {
  const { name } = window.figureAxes;
  const { element, text, width, colourAt, inkOn } = window.figureSvg;
  const DASHES = { solid: undefined, dash: "9 5", dot: "2 4", dashdot: "9 4 2 4" };
  const GHOST = "#888";
  const CELL_GAP = 1;

  const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
  // One of a list, or the same for all.
  const of = (values, nth) => (Array.isArray(values) ? values[nth] : values);

  // ---- Lines, marks, texts.

  function scatter(trace, panel) {
    const group = element("g", { opacity: trace.opacity });
    const place = (scale, value) => (isNumber(value) ? scale(value) : NaN);
    const points = trace.x.map((x, nth) => [place(panel.x, x), place(panel.y, trace.y[nth])]);
    const told = [];
    const mode = trace.mode ?? "lines";
    if (mode.includes("lines")) group.append(line(trace, points));
    points.forEach(([x, y], nth) => {
      if (!isNumber(x) || !isNumber(y)) return;
      if (mode.includes("markers")) group.append(mark(trace, nth, x, y));
      if (mode.includes("text")) group.append(beside(trace, nth, x, y));
      const tip = tipOf(trace, nth);
      if (tip) told.push({ x, y, width: 0, height: 0, tip });
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
      d: path.join(""), fill: "none", stroke: style.color ?? "currentColor",
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

  function mark({ marker = {}, line: style }, nth, x, y) {
    const [kind, open] = (of(marker.symbol, nth) ?? "circle").split(/-(open)$/);
    const colour = of(marker.color, nth) ?? style?.color ?? "currentColor";
    return element("path", {
      d: (SHAPES[kind] ?? SHAPES.circle)((of(marker.size, nth) ?? 6) / 2),
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      fill: open ? "none" : colour, opacity: of(marker.opacity, nth),
      stroke: open ? colour : of(marker.line?.color, nth),
      "stroke-width": open ? 1.5 : of(marker.line?.width, nth),
    });
  }

  function beside(trace, nth, x, y) {
    const [up, across] = (of(trace.textposition, nth) ?? "middle center").split(" ");
    const size = of(trace.textfont?.size, nth) ?? 12;
    const apart = trace.mode === "text" ? 3 : (of(trace.marker?.size, nth) ?? 6) / 2 + 3;
    const dx = { left: -apart, right: apart }[across] ?? 0;
    const dy = { top: -apart - 2, bottom: apart + size, middle: size * 0.35 }[up] ?? size * 0.35;
    return text(of(trace.text, nth) ?? "", {
      x: x + dx, y: y + dy, size, fill: of(trace.textfont?.color, nth) ?? "currentColor",
      "text-anchor": { left: "end", right: "start" }[across] ?? "middle",
    });
  }

  function tipOf(trace, nth) {
    if (trace.hoverinfo === "skip") return null;
    const [told, words] = [of(trace.hovertext, nth), of(trace.text, nth)];
    if (!trace.hovertemplate) return told ?? null;
    return filled(trace.hovertemplate, { hovertext: told, text: words });
  }

  const filled = (template, values) => template
    .replace("<extra></extra>", "")
    .replace(/%\{(\w+)(?::\.(\d)f)?\}/g, (_, key, decimals) => {
      const value = values[key];
      return decimals && isNumber(value) ? value.toFixed(decimals) : value ?? "";
    });

  // ---- Bars: `place` says which of a panel's traces stand side by side.

  function bars(trace, panel, { start, thick, base }) {
    const isLying = trace.orientation === "h";
    const [places, sizes] = isLying ? [trace.y, trace.x] : [trace.x, trace.y];
    const [along, across] = isLying ? [panel.x, panel.y] : [panel.y, panel.x];
    const group = element("g", { opacity: trace.opacity });
    const told = [];
    sizes.forEach((size, nth) => {
      if (!isNumber(size)) return;
      const from = base(places[nth], size);
      const [a, b] = [along(from), along(from + size)].sort((p, q) => p - q);
      const [c, d] = [across(places[nth] + start), across(places[nth] + start + thick)].sort((p, q) => p - q);
      const box = isLying ? { x: a, y: c, width: b - a, height: d - c } : { x: c, y: a, width: d - c, height: b - a };
      group.append(element("rect", { ...box, fill: of(trace.marker?.color, nth) ?? "currentColor", class: "figure-bar" }));
      if (of(trace.marker?.pattern?.shape, nth)) group.append(hatched(box));
      const words = of(trace.text, nth);
      if (words) group.append(inBar(trace, words, box, isLying));
      const tip = tipOf(trace, nth);
      if (tip) told.push({ ...box, tip });
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
  function inBar(trace, words, box, isLying) {
    const size = trace.textfont?.size ?? 12;
    const room = width(words, size) + 8;
    const isInside = trace.textposition !== "outside" && (isLying ? box.width : box.height) >= room;
    const fill = isInside ? trace.insidetextfont?.color ?? "#fff" : "currentColor";
    if (!isLying) {
      return text(words, { x: box.x + box.width / 2, y: box.y - 4, size, fill, "text-anchor": "middle" });
    }
    const x = isInside ? box.x + 4 : box.x + box.width + 4;
    return text(words, { x, y: box.y + box.height / 2 + size * 0.35, size, fill });
  }

  // Where each bar trace of a panel begins: beside the others, on them, or over them.
  function barPlaces(traces, layout) {
    const gap = layout.bargap ?? 0.2;
    const [mode, n] = [layout.barmode ?? "group", traces.length];
    const room = 1 - gap;
    const sums = new Map();
    return traces.map((_, nth) => {
      if (mode === "group") {
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

  function map(trace, panel, layout) {
    const shared = trace.coloraxis ? layout[trace.coloraxis] : null;
    const [least, most] = shared ? [shared.cmin, shared.cmax] : [trace.zmin, trace.zmax];
    const stops = shared?.colorscale ?? trace.colorscale;
    const cells = new Map(); // by colour, a path of all cells that have it
    const words = element("g");
    const told = [];
    trace.z.forEach((row, i) => row.forEach((z, j) => {
      const corner = (dx, dy) => [panel.x(j + dx), panel.y(i + dy)];
      const [[x0, y0], [x1, y1]] = [corner(-0.5, -0.5), corner(0.5, 0.5)];
      const box = {
        x: Math.min(x0, x1) + CELL_GAP / 2, width: Math.abs(x1 - x0) - CELL_GAP,
        y: Math.min(y0, y1) + CELL_GAP / 2, height: Math.abs(y1 - y0) - CELL_GAP,
      };
      const part = isNumber(z) ? (z - least) / (most - least) : NaN;
      const fill = colourAt(stops, part);
      const cell = `M${box.x} ${box.y}h${box.width}v${box.height}h${-box.width}z`;
      if (isNumber(z)) cells.set(fill, (cells.get(fill) ?? "") + cell);
      const values = { z, x: name(panel.spec.x, j), y: name(panel.spec.y, i), text: trace.text?.[i]?.[j], hovertext: trace.hovertext?.[i]?.[j] };
      if (trace.texttemplate) words.append(inCell(trace, filled(trace.texttemplate, values), box, fill, part));
      const tip = trace.hovertemplate ? filled(trace.hovertemplate, values) : values.hovertext;
      if (tip && trace.hoverinfo !== "skip") told.push({ ...box, tip });
    }));
    const paths = [...cells].map(([fill, d]) => element("path", { d, fill }));
    return { group: element("g", { "shape-rendering": "crispEdges" }, ...paths, words), told };
  }

  function inCell(trace, words, box, fill, part) {
    const ink = fill.startsWith("rgb") ? inkOn(fill) : part > 0.6 ? "#fff" : "currentColor";
    const size = Math.min(trace.textfont?.size ?? 11, box.height - 2);
    return text(words, {
      x: box.x + box.width / 2, y: box.y + box.height / 2 + size * 0.35, size,
      fill: trace.textfont?.color ?? ink, "text-anchor": "middle",
    });
  }

  // ---- What was there before, in grey. Of a map nothing: its cells would hide the new ones.

  function ghost(trace, panel, place) {
    if (trace.type === "heatmap") return null;
    const { group } = trace.type === "bar" ? bars(trace, panel, place) : scatter({ ...trace, mode: trace.mode === "text" ? "none" : trace.mode }, panel);
    for (const each of group.querySelectorAll("path, rect")) {
      if (each.getAttribute("fill") !== "none") each.setAttribute("fill", "none");
      each.setAttribute("stroke", GHOST);
      each.setAttribute("stroke-width", 1.5);
    }
    group.querySelectorAll("text").forEach((each) => each.remove());
    group.setAttribute("class", "figure-ghost");
    return group;
  }

  return { scatter, bars, barPlaces, map, ghost };
})();
