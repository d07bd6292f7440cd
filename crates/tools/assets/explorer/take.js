// What the explorer of heads shows of one head, to take away: as SVG, or as PNG.
"use strict";
window.headTake = (() => {
  const { svgPen, views } = window.headDrawing;
  const [EDGE, TITLE] = [8, 32];

  // The panels stacked, each with its title: SVG, and its size.
  function svg(panels, { head, view }, ink) {
    const pen = svgPen();
    const width = Math.max(...panels.map(({ planned }) => planned.width)) + 2 * EDGE;
    const height = panels.reduce((sum, { planned }) => sum + planned.height + TITLE + EDGE, EDGE);
    pen.rect(0, 0, width, height, ink.paper);
    let down = TITLE;
    for (const panel of panels) {
      const top = down;
      const moved = ([x, y]) => [x + EDGE, y + top];
      const shifted = {
        rect: (x, y, ...rest) => pen.rect(...moved([x, y]), ...rest),
        image: (image, x, y, ...rest) => pen.image(image, ...moved([x, y]), ...rest),
        line: (from, to, ...rest) => pen.line(moved(from), moved(to), ...rest),
        text: (plain, at, ...rest) => pen.text(plain, moved(at), ...rest),
      };
      const title = [`Head ${head}`, panel.caption].filter(Boolean).join(" · ");
      pen.text(title, [EDGE, top - TITLE / 2], ink.text, { size: 13 });
      views[view].draw(shifted, panel, panel.planned, ink);
      down += panel.planned.height + TITLE + EDGE;
    }
    return { text: pen.svg(width, height, `Head ${head}`), width, height };
  }

  async function png({ text, width, height }) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done));
  }

  // Hands a file to the reader; gives its ending and its size.
  async function save(drawn, name, ending) {
    const blob = ending === "png" ? await png(drawn) : new Blob([drawn.text], { type: "image/svg+xml" });
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${name}.${ending}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return { ending, size: blob.size };
  }

  return { svg, save };
})();
