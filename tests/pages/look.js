// Run in the page: what is wrong with it, as a JSON list of sentences.
(async () => {
  const problems = [];
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) {
    problems.push(`the page is ${page.scrollWidth} px wide in a window of ${innerWidth}`);
  }

  for (const math of document.querySelectorAll("merror")) {
    problems.push(`a formula was not understood: ${math.textContent}`);
  }

  // Every figure is drawn, has words beside it, and answers to its choices.
  for (const figure of document.querySelectorAll("figure.figure")) {
    const name = figure.id;
    const diagram = figure.querySelector(".figure-diagram");
    if (diagram) {
      const shown = [...diagram.children].filter((svg) => svg.getBoundingClientRect().width);
      if (shown.length !== 1) problems.push(`diagram ${name} is drawn ${shown.length} times`);
      if (!diagram.getAttribute("aria-label")) problems.push(`diagram ${name} has no words`);
      for (const svg of shown) {
        const edge = svg.getBoundingClientRect();
        if (edge.right > innerWidth) problems.push(`diagram ${name} is wider than the window`);
        for (const text of svg.querySelectorAll("text")) {
          const { left, right, top, bottom } = text.getBoundingClientRect();
          const isIn = left >= edge.left - 1 && right <= edge.right + 1 &&
            top >= edge.top - 2 && bottom <= edge.bottom + 2;
          if (!isIn) problems.push(`diagram ${name}: ${text.textContent} is cut off`);
        }
      }
    }
    const plot = figure.querySelector(".figure-plot");
    if (!plot) continue;
    if (!plot.querySelector("svg")) problems.push(`figure ${name} is not drawn`);
    if (!plot.getAttribute("aria-label")) problems.push(`figure ${name} has no words`);
    if (plot.getBoundingClientRect().width > innerWidth) {
      problems.push(`figure ${name} is wider than the window`);
    }
    const edge = plot.getBoundingClientRect();
    for (const text of plot.querySelectorAll("text")) {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      const isIn = left >= edge.left - 3 && right <= edge.right + 3 &&
        top >= edge.top - 3 && bottom <= edge.bottom + 3;
      if (!isIn && text.textContent) problems.push(`figure ${name}: ${text.textContent} is cut off`);
    }
    const changes = async (input, act) => {
      const before = plot.innerHTML;
      act();
      await new Promise((done) => setTimeout(done, 30));
      if (plot.innerHTML === before) problems.push(`figure ${name}: ${input} changes nothing`);
    };
    for (const button of figure.querySelectorAll('.figure-choices button[aria-pressed="false"]')) {
      await changes(button.textContent, () => button.click());
    }
    const slider = figure.querySelector(".figure-slider input");
    if (slider) {
      await changes("its slider", () => {
        slider.value = slider.value === slider.max ? slider.min : slider.max;
        slider.dispatchEvent(new Event("input"));
      });
    }
  }

  // Where a chapter is on the way through a layer is a picture in its first screen.
  const isChapter = /\/\d\d-[^/]*\.html$/.test(location.pathname);
  const strips = [...document.querySelectorAll(".line-strip svg")].map((it) => it.getBoundingClientRect());
  if (isChapter && !strips.some(({ width, top }) => width > 100 && top + scrollY < 700)) {
    problems.push("no picture in the first screen");
  }

  // Live figures open when they come near the window: their controls are looked at too.
  const found = await (await fetch(`${path_to_root}assets/live.json`)).json();
  const isLive = !!found.module;
  // What the worker fetches is not counted with its page: so that it is, once more.
  if (isLive && document.querySelector("[data-live]")) {
    await (await fetch(`${path_to_root}assets/${found.module}`)).arrayBuffer();
  }
  const isPrint = location.pathname.endsWith("print.html");
  for (const place of document.querySelectorAll("[data-live]")) {
    if (!isLive || isPrint) break;
    place.scrollIntoView();
    const deadline = performance.now() + 20000;
    while (!place.dataset.state && performance.now() < deadline) {
      await new Promise((done) => setTimeout(done, 20));
    }
    if (!place.dataset.state) problems.push(`live figure ${place.dataset.live} has no controls`);
    if (place.scrollWidth > place.clientWidth + 1) {
      problems.push(`live figure ${place.dataset.live} is wider than its place`);
    }
  }
  // Nothing moves by itself where a reader wants it still.
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    const moving = document.getAnimations().filter(({ playState }) => playState === "running");
    for (const { effect } of moving) problems.push(`${effect.target.outerHTML.slice(0, 80)} moves`);
  }
  if (page.scrollWidth > innerWidth) {
    problems.push(`with controls, the page is ${page.scrollWidth} px wide in a window of ${innerWidth}`);
  }

  const rules = await axe.run(document, { resultTypes: ["violations"] });
  for (const rule of rules.violations) {
    if (!["serious", "critical"].includes(rule.impact)) continue;
    const where = rule.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ");
    problems.push(`axe, ${rule.impact}: ${rule.help} (${rule.id}) at ${where}`);
  }
  return JSON.stringify(problems);
})();
