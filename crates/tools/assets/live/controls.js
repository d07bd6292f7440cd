// The controls of a live figure, one maker per kind. Each gives its element, and how its
// text is read and set: the same text that stands in an address.
"use strict";
(() => {
  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // A slider, and a field for the same number: the field takes what the slider cannot.
  function number({ label, caption, least, most, step, is_played }, changed) {
    const slider = element("input", { type: "range", min: least, max: most, step });
    const field = element("input", { type: "text", inputMode: "decimal", size: 6 });
    slider.setAttribute("aria-label", label);
    field.setAttribute("aria-label", `${label}, as a number`);
    const put = (value) => {
      field.value = value;
      slider.value = value;
      changed();
    };
    const player = is_played ? playing(slider, label, put) : undefined;
    for (const [input, other] of [[slider, field], [field, slider]]) {
      input.addEventListener("input", () => {
        player?.stop();
        other.value = input.value;
        changed();
      });
    }
    steps(field, step);
    const parts = player ? [player.button, slider, field] : [slider, field];
    return {
      element: element("div", { className: "live-row" }, name(caption), ...parts),
      get: () => field.value,
      set: (text) => {
        player?.stop();
        field.value = text;
        slider.value = text;
      },
      pace: () => player?.pace(),
    };
  }

  const WHOLE = 12000; // ms, from one end of a slider to the other
  const LEAST = 120; // ms, for a step

  // Moves a slider step by step to its end; from its end, through all of it once more. The
  // space bar plays and stops, on the button and on the slider.
  function playing(slider, label, put) {
    const [least, most, step] = [slider.min, slider.max, slider.step].map(Number);
    const ms = Math.max(WHOLE / ((most - least) / step), LEAST);
    let timer = null;
    const button = element("button", { type: "button", className: "live-play" });
    const show = () => {
      button.textContent = timer ? "❚❚" : "▶";
      button.setAttribute("aria-label", `${timer ? "Pause" : "Play"}: ${label}`);
    };
    const stop = () => {
      clearInterval(timer);
      timer = null;
      show();
    };
    const next = () => {
      put(Math.min(Number(slider.value) + step, most));
      if (Number(slider.value) >= most) stop();
    };
    const toggle = () => {
      if (timer) return stop();
      timer = setInterval(next, ms);
      show();
      if (Number(slider.value) >= most) put(least);
      else next();
    };
    button.addEventListener("click", toggle);
    slider.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
    show();
    return { button, stop, pace: () => (timer ? ms : undefined) };
  }

  function count({ caption, least, most }, changed) {
    const field = element("input", { type: "number", min: least, max: most, step: 1 });
    field.addEventListener("input", changed);
    const row = element("label", { className: "live-row" }, name(caption), field);
    return { element: row, get: () => field.value, set: (text) => (field.value = text) };
  }

  function choice({ caption, options }, changed) {
    const list = element("select");
    for (const [value, text] of options) list.append(element("option", { value }, text));
    list.addEventListener("input", changed);
    const row = element("label", { className: "live-row" }, name(caption), list);
    return { element: row, get: () => list.value, set: (text) => (list.value = text) };
  }

  function onOff({ caption }, changed) {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("input", changed);
    const row = element("label", { className: "live-row" }, box, name(caption));
    return {
      element: row,
      get: () => (box.checked ? "on" : "off"),
      set: (text) => (box.checked = text === "on"),
    };
  }

  function text({ caption, most }, changed) {
    const field = element("input", { type: "text", className: "live-text", size: most, maxLength: most, spellcheck: false, autocomplete: "off" });
    field.addEventListener("input", changed);
    const row = element("label", { className: "live-row" }, name(caption), field);
    return { element: row, get: () => field.value, set: (given) => (field.value = given) };
  }

  // Words in several lines. A long text is not cut off in silence: of what is too long, one
  // character too many is handed on, and the figure says so.
  function words({ caption, most, placeholder }, changed) {
    const field = element("textarea", { rows: 1, placeholder, spellcheck: false, autocapitalize: "off", autocomplete: "off" });
    field.addEventListener("input", changed);
    const row = element("label", { className: "live-row live-words-typed" }, name(caption), field);
    return {
      element: row,
      get: () => [...field.value].slice(0, most + 1).join(""),
      set: (given) => (field.value = given),
    };
  }

  // Entries that are typed; the arrow keys add and take away a half.
  function matrix({ label, caption, rows, columns }, changed) {
    const fields = rows.map(() => columns.map(() => element("input", { type: "text", inputMode: "decimal", size: 4 })));
    const table = grid(caption, rows, columns, (i, j) => {
      const field = fields[i][j];
      field.setAttribute("aria-label", [label, rows[i], columns[j]].filter(Boolean).join(", "));
      field.addEventListener("input", changed);
      steps(field, 0.5);
      return field;
    });
    return {
      element: table,
      get: () => fields.map((row) => row.map((field) => field.value.trim()).join(",")).join(";"),
      set: (text) => {
        const lines = text.split(";").map((line) => line.split(","));
        fields.forEach((row, i) => row.forEach((field, j) => (field.value = lines[i]?.[j] ?? "")));
      },
    };
  }

  // Cells that are on or off. One is reached with Tab, the others with the arrow keys; a
  // mouse that is held down paints with what the first cell became.
  function paint({ label, caption, rows, columns }, changed) {
    let brush = null;
    const cells = rows.map((row, i) => columns.map((column, j) => {
      const cell = element("input", { type: "checkbox", tabIndex: i + j ? -1 : 0 });
      cell.setAttribute("aria-label", [label, row, column].filter(Boolean).join(", "));
      cell.addEventListener("input", changed);
      return cell;
    }));
    const table = grid(caption, rows, columns, (i, j) => cells[i][j]);
    table.classList.add("live-paint");
    const painted = (event) => {
      const cell = document.elementFromPoint(event.clientX, event.clientY);
      if (brush === null || !table.contains(cell) || cell.type !== "checkbox") return;
      if (cell.checked === brush) return;
      cell.checked = brush;
      changed();
    };
    table.addEventListener("pointerdown", (event) => {
      if (event.target.type !== "checkbox" || event.button !== 0) return;
      brush = !event.target.checked;
      event.target.checked = brush;
      event.target.focus();
      changed();
      event.preventDefault();
      const end = () => {
        brush = null;
        removeEventListener("pointermove", painted);
      };
      addEventListener("pointermove", painted);
      addEventListener("pointerup", end, { once: true });
      addEventListener("pointercancel", end, { once: true });
    });
    // The press has painted already.
    table.addEventListener("click", (event) => {
      if (event.target.type === "checkbox" && event.detail) event.preventDefault();
    });
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    table.addEventListener("keydown", (event) => {
      const move = moves[event.key];
      const i = cells.findIndex((row) => row.includes(event.target));
      if (!move || i < 0) return;
      event.preventDefault();
      const next = cells[i + move[0]]?.[cells[i].indexOf(event.target) + move[1]];
      if (!next) return;
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    return {
      element: table,
      get: () => cells.map((row) => row.map((cell) => Number(cell.checked)).join(",")).join(";"),
      set: (text) => {
        const lines = text.split(";").map((line) => line.split(","));
        cells.forEach((row, i) => row.forEach((cell, j) => (cell.checked = lines[i]?.[j] === "1")));
      },
    };
  }

  // A point: a field for x and one for y. Its arrow in the figure is dragged, by `handles.js`.
  function point({ label, caption, most }, changed) {
    const fields = ["x", "y"].map((axis) => {
      const field = element("input", { type: "text", inputMode: "decimal", size: 4 });
      field.setAttribute("aria-label", `${label}, ${axis}`);
      field.addEventListener("input", changed);
      steps(field, 0.5);
      return field;
    });
    const within = (value) => Math.round(Math.min(Math.max(value, -most), most) * 10) / 10 || 0;
    const labelled = fields.map((field, i) => element("label", {}, "xy"[i], " ", field));
    return {
      element: element("div", { className: "live-row live-point" }, name(caption), ...labelled),
      get: () => fields.map((field) => field.value.trim()).join(","),
      set: (text) => {
        const parts = text.split(",");
        fields.forEach((field, i) => (field.value = parts[i] ?? ""));
      },
      at: () => fields.map((field) => Number(field.value) || 0),
      move: (point) => {
        fields.forEach((field, i) => (field.value = within(point[i])));
        changed();
      },
    };
  }

  // As the crate writes it, with d_k set low.
  function name(caption) {
    return element("span", { className: "live-name", innerHTML: caption });
  }

  function grid(caption, rows, columns, cell) {
    const table = element("table", { className: "live-grid" });
    table.createCaption().innerHTML = caption;
    if (columns.some(Boolean)) {
      const head = table.createTHead().insertRow();
      head.append(element("td"), ...columns.map((text) => element("th", { scope: "col" }, text)));
    }
    const body = table.createTBody();
    rows.forEach((text, i) => {
      const row = body.insertRow();
      row.append(element("th", { scope: "row" }, text));
      columns.forEach((_, j) => row.insertCell().append(cell(i, j)));
    });
    const frame = element("div", { className: "live-scroll" }, table);
    return frame;
  }

  const DRAG = 5; // pixels a step, when a number is dragged

  // The arrow keys change a typed number, and so does a drag to the left or right.
  function steps(field, step) {
    const set = (value) => {
      field.value = Number(value.toFixed(6));
      field.dispatchEvent(new Event("input"));
    };
    field.addEventListener("keydown", (event) => {
      const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      const from = Number(field.value);
      if (!sign || !Number.isFinite(from)) return;
      event.preventDefault();
      set(from + sign * step);
    });
    field.classList.add("live-dragged");
    field.addEventListener("pointerdown", ({ clientX, pointerId }) => {
      const from = Number(field.value);
      if (!Number.isFinite(from)) return;
      const drag = (event) => {
        const steps = Math.trunc((event.clientX - clientX) / DRAG);
        if (!steps && !field.hasPointerCapture(pointerId)) return;
        field.setPointerCapture(pointerId);
        set(from + steps * step);
      };
      const end = () => field.removeEventListener("pointermove", drag);
      field.addEventListener("pointermove", drag);
      field.addEventListener("pointerup", end, { once: true });
      field.addEventListener("pointercancel", end, { once: true });
    });
  }

  const makers = { number, count, choice, switch: onOff, text, words, matrix, paint, point };
  window.liveControls = { element, make: (control, changed) => makers[control.kind](control, changed) };
})();
