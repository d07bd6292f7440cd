// The first page: all heads of the trained layer, computed in the page by the crates' module.
// Until it has answered, and where it cannot run, the still figure stands there.
"use strict";
(() => {
  const { isPossible, open, ask } = window.liveModule;
  const place = document.querySelector("[data-heads]");
  if (!place || !isPossible) return;
  const { texts, modes, first } = JSON.parse(place.querySelector("script").textContent);

  async function begin() {
    const worker = await open(place);
    if (!worker) return;
    const load = (name, keys) => new Promise((done, fail) => {
      ask(worker, { call: "heads", name, settings: { keys }, weights: "queries-keys" }, ({ shown, error, broken }) => {
        if (!shown) return fail(new Error(error ?? `the module has stopped: ${broken}`));
        const { pieces, special, causal, isWithoutFirst, maps } = shown;
        const names = Array.from({ length: maps.length / pieces.length ** 2 }, (_, head) => String(head));
        return done({ text: { pieces, special, causal, maps: Float64Array.from(maps), one: 1, names }, isWithoutFirst });
      });
    });
    // A module that gives no answer leaves the still figure as it is.
    await load(first.text, modes[0][0]);
    place.dataset.answered = performance.now();
    // What stands below stays where it is while one replaces the other.
    place.style.minHeight = `${place.offsetHeight}px`;
    requestAnimationFrame(() => requestAnimationFrame(() => (place.style.minHeight = "")));
    window.trainedLayer = window.headExplorer.mount(place, { id: "heads", texts, modes, first, load });
  }
  begin().catch(() => {});
})();
