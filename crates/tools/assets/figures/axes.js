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

  // ---- Names that touch none.

  const APART = 3; // pixels between two names
  const SMALLEST = 7; // pixels, of letters from the bottom up
  const LEGIBLE = 12; // pixels, of letters that have room
  const SMALL = 8; // pixels, of single letters side by side

  // Of names along a panel only every other one, every third, …: the first way in which none
  // touches another. `span` gives from where to where a name goes.
  function everyFree(names, span) {
    const isFree = (some) => {
      const spans = some.map(span).sort(([a], [b]) => a - b);
      return spans.every(([from], nth) => nth === 0 || from >= spans[nth - 1][1]);
    };
    for (let step = 1; step < names.length; step += 1) {
      const some = names.filter((_, nth) => nth % step === 0);
      if (isFree(some)) return some;
    }
    return names.slice(0, 1);
  }

  // The least between two neighbours, in pixels.
  function spacing(places) {
    const sorted = [...places].sort((a, b) => a - b);
    return Math.min(Infinity, ...sorted.slice(1).map((place, nth) => place - sorted[nth]));
  }

  // Whether names are numbers that count, so that some stand for all.
  const isCount = (found) => found.every(({ name }, nth) => Number(name) === Number(found[0].name) + nth);

  // Names under a panel, each with its place: side by side where they have room or count, else
  // from the bottom up if the axis has names of its own. All lie within `width`.
  function below({ size: asked = LEGIBLE, angle, places, log }, found, width, widthOf) {
    const room = spacing(found.map(({ place }) => place));
    const fits = (size) => found.every(({ name }) => widthOf(name, size) + (name.length > 1 ? APART : 0.5) <= room);
    let most = fits(LEGIBLE) ? Math.max(asked, LEGIBLE) : asked;
    if (found.every(({ name }) => name.length === 1)) while (most > SMALL && !fits(most)) most -= 0.5;
    const isUpright = !fits(most) && (angle === -90 || (angle === undefined && places && !log)) && !isCount(found);
    if (isUpright) {
      const size = Math.min(most, Math.max(SMALLEST, room));
      return { size, isUpright, names: everyFree(found, ({ place }) => [place - size / 2, place + size / 2 - 0.5]) };
    }
    const inside = found.map((it) => {
      const half = widthOf(it.name, most) / 2;
      return { ...it, half, place: Math.min(Math.max(it.place, half + 1), width - half - 1) };
    });
    const names = everyFree(inside, ({ name, place, half }) => [place - half, place + half + (name.length > 1 ? APART : 0.5)]);
    return { size: most, isUpright, names };
  }

  // Names beside a panel, of letters that fit `room` and one another.
  function beside({ size = LEGIBLE }, found, room, fitting) {
    const most = Math.max(size, LEGIBLE);
    const apart = spacing(found.map(({ place }) => place));
    const widest = Math.min(most, ...found.map(({ name }) => fitting(name, most, room)));
    const all = Math.min(widest, Math.max(SMALLEST, apart));
    return { size: all, names: everyFree(found, ({ place }) => [place - all / 2, place + all / 2 - 0.5]) };
  }

  return { scale, lines, name, below, beside };
})();
