// A button below each figure, which shows it alone on the whole screen, with its controls and as
// large as all of it fits there: for a projector. Where a browser cannot, there is no button.
"use strict";
(() => {
  if (!document.fullscreenEnabled) return;
  const [LARGEST, STEP] = [3, 0.05]; // of the magnification
  const NARROW = 560; // as in figures.css: a wide drawing stays wide
  const names = { false: "Full screen", true: "Leave full screen" };

  // The largest magnification at which nothing has to be scrolled.
  function fit(whole, figure) {
    for (let zoom = LARGEST; zoom > 1; zoom -= STEP) {
      whole.style.zoom = zoom;
      const isWhole = whole.scrollHeight <= whole.clientHeight && whole.scrollWidth <= whole.clientWidth;
      if (isWhole && figure.clientWidth >= NARROW) return;
    }
    whole.style.zoom = "";
  }

  function add(figure, details) {
    const whole = figure.closest(".live[data-live], .draw") ?? figure;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "figure-full" });
    const isFull = () => document.fullscreenElement === whole;
    const show = () => {
      button.textContent = names[isFull()];
      if (isFull()) fit(whole, figure);
      else whole.style.zoom = "";
    };
    button.addEventListener("click", () => (isFull() ? document.exitFullscreen() : whole.requestFullscreen().catch(() => {})));
    whole.addEventListener("fullscreenchange", show);
    addEventListener("resize", () => isFull() && show());
    show();
    details.before(button);
  }

  for (const details of document.querySelectorAll("figure.figure > details")) add(details.parentElement, details);
  // mdBook turns the page at an arrow key, which a presenter sends too.
  document.body.addEventListener("keydown", (event) => document.fullscreenElement && event.stopPropagation());
})();
