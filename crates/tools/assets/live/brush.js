// Paints on a map: a press turns the cell of a table of on and off, and what it became is what
// a stroke makes of the others. `data-paint` holds the control's key, a row and a column.
"use strict";
(() => {
  let brush = null; // what is being painted, and where

  function cellAt({ clientX, clientY }) {
    const cell = document.elementFromPoint(clientX, clientY)?.closest("[data-paint]");
    const figure = window.live?.figures.get(cell?.closest("[data-live]"));
    if (!figure) return null;
    const [key, row, column] = cell.dataset.paint.split(" ");
    const control = figure.controls.find((it) => it.key === key);
    return control && { figure, control, row, column };
  }

  function paint({ figure, control, row, column }) {
    const cells = control.get().split(";").map((it) => it.split(","));
    brush ??= { control, value: cells[row][column] === "1" ? "0" : "1" };
    if (brush.control !== control) return;
    cells[row][column] = brush.value;
    figure.put([[control, cells.map((it) => it.join(",")).join(";")]]);
  }

  document.addEventListener("pointerdown", (event) => {
    const cell = event.button === 0 && cellAt(event);
    if (!cell) return;
    event.preventDefault();
    paint(cell);
  });
  document.addEventListener("pointermove", (event) => {
    const cell = brush && cellAt(event);
    if (cell) paint(cell);
  });
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => (brush = null));
})();
