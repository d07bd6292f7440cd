// The axes of a drawing: from numbers to pixels, and the lines across a panel.
"use strict";
window.figureAxes = (() => {
  const MOST_LINES = 6;
  const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

  // A range of numbers on one of pixels. On a logarithmic axis the range is in powers of ten.
  function scale(axis, [from, to]) {
    const [first, last] = axis.range;
    const value = axis.log ? Math.log10 : Number;
    return (number) => from + ((value(number) - first) / (last - first)) * (to - from);
  }

  // Where lines lie and how they are named: as the axis says, or at round numbers.
  function lines(axis) {
    if (axis.places) return axis.places.map((at) => ({ at, name: name(axis, at) }));
    const [low, high] = [...axis.range].sort((a, b) => a - b);
    const step = roundStep((high - low) / Math.min(axis.n_lines ?? MOST_LINES, MOST_LINES));
    const found = [];
    for (let nth = Math.ceil(low / step - 1e-9); nth * step <= high + step * 1e-9; nth += 1) {
      found.push({ at: nth * step, name: named(nth * step, step) });
    }
    return found;
  }

  // The smallest of 1, 2, 5 times a power of ten that is no less.
  function roundStep(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least * (1 - 1e-9));
  }

  // As short as it can be: 0.5 beside 1; from ten thousand on by prefixes: 20k.
  function named(number, step) {
    const size = Math.abs(number);
    const [unit, prefix] = size >= 1e4 ? PREFIXES.find(([unit]) => size >= unit) : [1, ""];
    const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
    const text = Number((size / unit).toFixed(Math.min(decimals, 9)));
    return (number < 0 && text ? "−" : "") + text + prefix;
  }

  // What an axis calls a number: its own name where there is one.
  function name(axis, number) {
    const nth = axis.places?.indexOf(number) ?? -1;
    return axis.names?.[nth] ?? String(number);
  }

  return { scale, lines, name };
})();
