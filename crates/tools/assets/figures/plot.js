// Draws a figure along axes as SVG. `data` and `layout` are plotly's, as far as the crate
// `figures` writes them: what it does not write is not read here.
"use strict";
window.figurePlot = (() => {
  const { scale, lines } = window.figureAxes;
  const { element, text, width: widthOf, colourAt } = window.figureSvg;
  const marks = window.figureMarks;
  const LEGEND_ROW = 19;

  // Gives the drawing, and the boxes that tell something under the pointer.
  function draw({ data, layout, width, before }) {
    const { height, margin } = layout;
    const area = {
      left: margin.l, top: margin.t, width: width - margin.l - margin.r, height: height - margin.t - margin.b,
    };
    const svg = element("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, fill: "currentColor",
    });
    const panels = panelsOf(layout, area);
    for (const panel of panels.values()) svg.append(behind(panel));
    const told = [];
    for (const trace of before ?? []) svg.append(...drawn(trace, panels, layout, before, true).map((it) => it.group));
    for (const trace of data) {
      for (const { group, told: boxes } of drawn(trace, panels, layout, data, false)) {
        svg.append(group);
        told.push(...boxes);
      }
    }
    for (const panel of panels.values()) svg.append(names(panel));
    for (const shape of layout.shapes ?? []) svg.append(rectangle(shape, panels));
    for (const note of layout.annotations ?? []) svg.append(...annotation(note, panels, area));
    if (layout.showlegend) svg.append(legend(data, layout, area));
    if (layout.coloraxis?.colorbar) svg.append(colourBar(layout.coloraxis, area));
    return { svg, told };
  }

  // ---- Panels: each pair of axes, with its scales.

  function panelsOf(layout, area) {
    const panels = new Map();
    for (const [key, spec] of Object.entries(layout)) {
      if (!/^yaxis\d*$/.test(key)) continue;
      const nth = key.slice(5);
      const x = layout[`xaxis${spec.overlaying ? "" : nth}`] ?? layout[`xaxis${(spec.anchor ?? "x").slice(1)}`];
      const place = spec.overlaying ? layout[`yaxis${spec.overlaying.slice(1)}`] : spec;
      const [left, right] = (x.domain ?? [0, 1]).map((part) => area.left + part * area.width);
      const [bottom, top] = (place.domain ?? [0, 1]).map((part) => area.top + (1 - part) * area.height);
      const box = { left, right, top, bottom };
      panels.set(`y${nth}`, {
        box, spec: { x, y: spec }, isOver: !!spec.overlaying,
        x: scale(x, [left, right]), y: scale(spec, [bottom, top]),
      });
    }
    return panels;
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
      if (axis.visible === false || (isOver && isX)) continue;
      if (axis.showgrid !== false) {
        for (const { at: value } of lines(axis)) if (isIn(at(value), ends)) line(isX, at(value), 0.15);
      }
      if (axis.zeroline !== false && axis.type !== "log" && isIn(at(0), ends)) line(isX, at(0), 0.4);
    }
    for (const [opacity, d] of Object.entries(drawn)) {
      if (d) group.append(element("path", { d, "stroke-opacity": opacity }));
    }
    return group;
  }

  function names({ box, spec, x, y, isOver }) {
    const group = element("g");
    if (!isOver) group.append(namesBelow(box, spec.x, x));
    group.append(namesBeside(box, spec.y, y));
    return group;
  }

  function namesBelow(box, axis, at) {
    const group = element("g", { "text-anchor": "middle" });
    if (axis.visible === false) return group;
    const size = axis.tickfont?.size ?? 12;
    const top = box.bottom + 4 + (axis.ticklabelstandoff ?? 0);
    const shown = axis.showticklabels === false ? [] : lines(axis).filter(({ at: it }) => isIn(at(it), [box.left, box.right]));
    const room = Math.abs(box.right - box.left) / Math.max(shown.length, 1);
    const isTight = shown.some(({ name }) => widthOf(name, size) > room - 2);
    const isUpright = axis.tickangle === -90 || (axis.tickangle === undefined && isTight && axis.tickvals && axis.type !== "log");
    for (const [nth, { at: value, name }] of shown.entries()) {
      // What has no room stands at every other line.
      if (isTight && !isUpright && !axis.tickangle && nth % 2) continue;
      const place = at(value);
      group.append(isUpright || axis.tickangle
        ? text(name, { x: place, y: top, size, "text-anchor": "end", transform: `rotate(${axis.tickangle ?? -90} ${place} ${top}) translate(0 ${size * 0.35})` })
        : text(name, { x: place, y: top + size, size }));
    }
    if (axis.title?.text) {
      const below = shown.length ? size + 4 : 0;
      const letters = axis.title.font?.size ?? 12;
      group.append(text(axis.title.text, { x: (box.left + box.right) / 2, y: top + below + (axis.title.standoff ?? 6) + letters - 2, size: letters }));
    }
    return group;
  }

  function namesBeside(box, axis, at) {
    const isRight = axis.side === "right";
    const group = element("g", { "text-anchor": isRight ? "start" : "end" });
    if (axis.visible === false) return group;
    const size = axis.tickfont?.size ?? 12;
    const apart = 3 + (axis.ticklabelstandoff ?? 0);
    const x = isRight ? box.right + apart : box.left - apart;
    const shown = axis.showticklabels === false ? [] : lines(axis).filter(({ at: it }) => isIn(at(it), [box.top, box.bottom]));
    for (const { at: value, name } of shown) group.append(text(name, { x, y: at(value) + size * 0.35, size }));
    if (axis.title?.text) {
      const widest = Math.max(0, ...shown.map(({ name }) => widthOf(name, size)));
      const place = isRight ? x + widest + 14 : x - widest - 10;
      const middle = (box.top + box.bottom) / 2;
      group.append(text(axis.title.text, { x: place, y: middle, size: axis.title.font?.size ?? 12, "text-anchor": "middle", transform: `rotate(-90 ${place} ${middle})` }));
    }
    return group;
  }

  // ---- Traces.

  let clips = 0;

  function drawn(trace, panels, layout, all, isGhost) {
    if (trace.visible === false || trace.visible === "legendonly") return [];
    const key = trace.yaxis ?? "y";
    const panel = panels.get(key);
    if (!panel) return [];
    let made;
    if (trace.type === "bar") {
      const bars = all.filter((it) => it.type === "bar" && (it.yaxis ?? "y") === key && it.visible !== false);
      panel.places ??= new Map();
      const list = panel.places.get(all) ?? marks.barPlaces(bars, layout);
      panel.places.set(all, list);
      const place = list[bars.indexOf(trace)];
      made = isGhost ? { group: marks.ghost(trace, panel, place), told: [] } : marks.bars(trace, panel, place);
    } else if (isGhost) {
      made = { group: marks.ghost(trace, panel), told: [] };
    } else {
      made = trace.type === "heatmap" ? marks.map(trace, panel, layout) : marks.scatter(trace, panel);
    }
    if (!made.group) return [];
    if (trace.cliponaxis === false || trace.type === "heatmap") return [made];
    const { left, right, top, bottom } = panel.box;
    const id = `figure-clip-${(clips += 1)}`;
    const clip = element("clipPath", { id }, element("rect", { x: left - 1, y: top - 1, width: right - left + 2, height: bottom - top + 2 }));
    return [{ group: element("g", {}, clip, element("g", { "clip-path": `url(#${id})` }, made.group)), told: made.told }];
  }

  // ---- Over all panels.

  function rectangle(shape, panels) {
    const panel = panels.get(shape.yref.split(" ")[0]) ?? panels.get(shape.xref.replace("x", "y"));
    const { box } = panel;
    const y = shape.yref.endsWith("domain") ? (part) => box.bottom - part * (box.bottom - box.top) : panel.y;
    const [[x0, x1], [y0, y1]] = [[panel.x(shape.x0), panel.x(shape.x1)], [y(shape.y0), y(shape.y1)]];
    return element("rect", {
      x: Math.min(x0, x1), y: Math.min(y0, y1), width: Math.abs(x1 - x0), height: Math.abs(y1 - y0),
      fill: shape.fillcolor ?? "none", stroke: shape.line?.color ?? "currentColor", "stroke-width": shape.line?.width ?? 1,
    });
  }

  function annotation(note, panels, area) {
    if (note.showarrow) return arrow(note, panels);
    const place = (ref, at, isX) => {
      if (ref !== "paper") return panels.get(ref.replace("x", "y"))[isX ? "x" : "y"](at);
      return isX ? area.left + at * area.width : area.top + (1 - at) * area.height;
    };
    const size = note.font?.size ?? 12;
    const anchor = { left: "start", right: "end" }[note.xanchor] ?? "middle";
    const down = { bottom: -3, top: size }[note.yanchor] ?? size * 0.35;
    return [text(note.text, { x: Math.max(place(note.xref, note.x, true), 0), y: place(note.yref, note.y, false) + down, size, "text-anchor": anchor })];
  }

  function arrow(note, panels) {
    const panel = panels.get(note.ayref ?? "y");
    const [x0, y0, x1, y1] = [panel.x(note.ax), panel.y(note.ay), panel.x(note.x), panel.y(note.y)];
    const turn = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI;
    const size = 4 * (note.arrowsize ?? 1) * (note.arrowwidth ?? 1);
    return [
      element("path", { d: `M${x0} ${y0}L${x1} ${y1}`, stroke: note.arrowcolor, "stroke-width": note.arrowwidth, fill: "none" }),
      element("path", { d: `M0 0L${-size} ${-size / 2}V${size / 2}z`, fill: note.arrowcolor, transform: `translate(${x1} ${y1}) rotate(${turn})` }),
    ];
  }

  // Each name beside what is drawn under it: side by side where they fit, else in columns.
  function legend(data, layout, area) {
    const entries = data.filter((it) => it.name && it.showlegend !== false && it.visible !== false);
    const sizes = entries.map((it) => widthOf(it.name, 12) + 46);
    const room = area.width + layout.margin.l - 4;
    const isOneRow = sizes.reduce((a, b) => a + b, 0) <= room;
    const column = Math.max(...sizes, 1);
    const inRow = isOneRow ? entries.length : Math.max(1, Math.floor(room / column));
    const top = area.top + (1 - (layout.legend?.y ?? 1)) * area.height;
    const group = element("g");
    let x = 0;
    entries.forEach((trace, nth) => {
      const left = isOneRow ? x : (nth % inRow) * column;
      const y = top + LEGEND_ROW * (Math.floor(nth / inRow) + 0.5);
      group.append(sample(trace, left, y), text(trace.name, { x: left + 32, y: y + 4, size: 12 }));
      x += sizes[nth];
    });
    return group;
  }

  function sample(trace, x, y) {
    const still = { ...trace, text: undefined, opacity: undefined, hovertext: undefined };
    const panel = { x: (at) => x + 3 + at * 22, y: () => y };
    if (trace.type === "bar") {
      const colour = trace.marker?.color;
      return element("rect", { x: x + 8, y: y - 6, width: 16, height: 12, fill: Array.isArray(colour) ? colour[0] : colour });
    }
    const places = trace.mode?.includes("lines") ? [0, 1] : [0.5];
    const one = (values) => (Array.isArray(values) ? values[0] : values);
    const marker = Object.fromEntries(Object.entries(trace.marker ?? {}).map(([key, value]) => [key, one(value)]));
    const mode = trace.mode?.replace("+text", "");
    const group = marks.scatter({ ...still, x: places, y: places, marker, mode: mode === "lines+markers" ? "lines" : mode }, panel).group;
    if (mode === "lines+markers") group.append(marks.scatter({ ...still, x: [0.5], y: [0], marker, mode: "markers" }, panel).group);
    return group;
  }

  function colourBar({ colorscale, cmin, cmax, colorbar: bar }, area) {
    const [x, top] = [area.left + bar.x * area.width + (bar.xpad ?? 0), area.top + (1 - bar.y) * area.height + (bar.ypad ?? 0)];
    const title = bar.title?.font?.size ?? 12;
    const y = top + title + 5;
    const length = bar.len;
    const group = element("g", {}, text(bar.title?.text ?? "", { x, y: top + title, size: title }));
    const steps = 64;
    for (let nth = 0; nth < steps; nth += 1) {
      group.append(element("rect", { x: x + (nth * length) / steps, y, width: length / steps + 0.5, height: bar.thickness, fill: colourAt(colorscale, nth / (steps - 1)) }));
    }
    const size = bar.tickfont?.size ?? 10;
    for (const value of bar.tickvals ?? []) {
      const place = x + ((value - cmin) / (cmax - cmin)) * length;
      group.append(text(String(value), { x: place, y: y + bar.thickness + size + 2, size, "text-anchor": "middle" }));
    }
    return group;
  }

  return { draw };
})();
