// A matrix as it is, as it should be, and where they differ: three pictures, wherever an answer
// or a layer is compared with what was meant.
"use strict";
window.matrixMaps = (() => {
  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // In one colour, as dark as its entries are large beside `one`; what is no number has the
  // colour of what differs.
  function drawn(rows, one, colour, title, place) {
    const [n, m] = [rows.length, rows[0].length];
    const canvas = element("canvas", { width: m, height: n });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${title}: ${n} rows of ${m}`);
    canvas.style.aspectRatio = `${m} / ${n}`;
    const pen = canvas.getContext("2d");
    const colours = getComputedStyle(place);
    rows.forEach((row, i) => row.forEach((x, j) => {
      pen.fillStyle = colours.getPropertyValue(Number.isNaN(x) ? "--map-other" : colour);
      pen.globalAlpha = Number.isFinite(x) ? Math.sqrt(Math.min(1, Math.abs(x) / one)) : 1;
      pen.fillRect(j, i, 1, 1);
    }));
    return element("figure", { className: "layer-map" }, element("figcaption", {}, title), canvas);
  }

  const written = (x) => (x === undefined ? "not there" : String(Number(x.toPrecision(3))).replace("-", "−"));

  const largest = (rows) => rows.flat().filter(Number.isFinite).reduce((most, x) => Math.max(most, Math.abs(x)), 0);

  // Draws them into `place`, which is in the page. `one` is the darkest entry, or the largest
  // that there should be.
  return function draw(place, is, should, one = largest(should) || 1) {
    place.classList.add("layer-maps");
    const apart = should.map((row, i) => row.map((x, j) => (Object.is(is[i]?.[j], x) ? 0 : (is[i]?.[j] ?? NaN) - x)));
    const legend = element("small", { className: "layer-legend" }, `Darkest: ${written(one)} in size. Point at an entry to read it.`);
    place.replaceChildren(drawn(is, one, "--map-entry", "As it is", place), drawn(should, one, "--map-entry", "As it should be", place), drawn(apart, one, "--map-other", "Where they differ", place), legend);
    const read = ({ target, offsetX, offsetY }) => {
      if (target.tagName !== "CANVAS") return;
      const [i, j] = [Math.floor((offsetY / target.clientHeight) * target.height), Math.floor((offsetX / target.clientWidth) * target.width)];
      const [found, meant] = [is[i]?.[j], should[i]?.[j]];
      if (found === undefined && meant === undefined) return;
      legend.textContent = `Row ${i}, column ${j}: it is ${written(found)}, and should be ${written(meant)}.`;
    };
    // A layer's maps are drawn again in the same place.
    place.onpointermove = place.onpointerdown = read;
  };
})();
