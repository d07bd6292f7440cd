// A bar from 0, and under it its control: a line from the least to the most of random draws,
// with a mark at their median.
"use strict";
window.headBars = (() => {
  const { element } = window.headWords;

  // The ends of one scale for all bars, which are { number, median, range }.
  function scaleOf(bars) {
    const ends = bars.flatMap(({ number, range }) => [number, ...range]).filter((end) => end !== null);
    return [Math.min(0, ...ends), Math.max(0, ...ends)];
  }

  function track({ number, median, range }, [least, most]) {
    const percent = (at) => (100 * (at - least)) / (most - least || 1);
    const mark = (className, from, to) => {
      const made = element("span", { className });
      Object.assign(made.style, { left: `${percent(Math.min(from, to))}%`, right: `${100 - percent(Math.max(from, to))}%` });
      return made;
    };
    const control = median === null ? [] : [mark("explorer-random", ...range), mark("explorer-median", median, median)];
    return element("span", { className: "explorer-track" }, mark("explorer-zero", 0, 0),
      mark(number < 0 ? "explorer-takes" : "explorer-gives", 0, number), ...control);
  }

  return { scaleOf, track };
})();
