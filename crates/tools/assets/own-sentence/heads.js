// The maps of all heads on a sentence, at a glance, and one in full: in the book, and in
// the page that `cargo learn look` writes.
"use strict";
window.headMaps = (() => {
  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // What shows the maps of one sentence: its pieces, and which of them are special. A map is
  // a function of a query and a key, which gives the share in hundredths.
  function of({ pieces, special }) {
    const n = pieces.length;
    const piece = (tag, i, properties) => element(tag, { className: special[i] ? "special" : "", ...properties }, pieces[i]);

    // Fills a table: a button per head, `perLayer` in a row, one of them reached with Tab and
    // the others with arrows. Each head has its map, a word for it, and what it is called.
    function glance(table, perLayer, heads, choose) {
      const names = Array.from({ length: perLayer }, (_, head) => element("th", { scope: "col" }, String(head)));
      table.createTHead().insertRow().append(element("td"), ...names);
      const body = table.createTBody();
      let row;
      const buttons = heads.map(({ word, label }, i) => {
        if (i % perLayer === 0) {
          row = body.insertRow();
          row.append(element("th", { scope: "row" }, String(i / perLayer)));
        }
        const canvas = element("canvas", { width: n, height: n });
        const button = element("button", { type: "button", title: label }, canvas, element("span", { textContent: word }));
        button.setAttribute("aria-label", label);
        button.addEventListener("click", () => choose(i));
        row.insertCell().append(button);
        return { button, canvas };
      });

      const reach = (reached) => buttons.forEach(({ button }, i) => (button.tabIndex = i === reached ? 0 : -1));
      const moves = { ArrowUp: -perLayer, ArrowDown: perLayer, ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
      table.addEventListener("keydown", (event) => {
        const at = buttons.findIndex(({ button }) => button === event.target);
        const move = moves[event.key];
        if (at < 0 || move === undefined) return;
        event.preventDefault();
        const next = Number.isFinite(move) ? at + move : move < 0 ? 0 : heads.length - 1;
        if (!buttons[next]) return;
        reach(next);
        buttons[next].button.focus();
      });

      // In the table's colour, which a theme may change.
      function draw() {
        const ink = getComputedStyle(table).color;
        buttons.forEach(({ canvas }, i) => {
          const pen = canvas.getContext("2d");
          pen.clearRect(0, 0, n, n);
          pen.fillStyle = ink;
          for (let at = 0; at < n * n; at++) {
            const [query, key] = [Math.floor(at / n), at % n];
            pen.globalAlpha = Math.sqrt(heads[i].map(query, key) / 100);
            pen.fillRect(key, query, 1, 1);
          }
        });
      }

      function press(chosen) {
        reach(chosen);
        buttons.forEach(({ button }, i) => button.setAttribute("aria-pressed", String(i === chosen)));
      }

      return { draw, press };
    }

    // Fills a table with one map, a row per query and a column per key; gives its cells. How
    // dark a cell is, its `--share` says.
    function full(table, map) {
      table.replaceChildren();
      const keys = table.createTHead().insertRow();
      keys.append(element("td"));
      pieces.forEach((name, key) => {
        const cell = piece("th", key, { scope: "col" });
        cell.replaceChildren(element("span", {}, name));
        keys.append(cell);
      });
      const body = table.createTBody();
      return pieces.map((name, query) => {
        const row = body.insertRow();
        row.append(piece("th", query, { scope: "row" }));
        return pieces.map((other, key) => {
          const share = map(query, key);
          const cell = row.insertCell();
          cell.textContent = Math.round(share) || "";
          cell.title = `${name} → ${other}: ${(share / 100).toFixed(3)}`;
          cell.style.setProperty("--share", `${Math.sqrt(share / 100) * 100}%`);
          return cell;
        });
      });
    }

    return { piece, glance, full };
  }

  return { element, of };
})();
