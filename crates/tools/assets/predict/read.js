// Reads a line as the terminal does, and judges it: `Form::read` and `Form::judge` of the crate
// `questions`, with which a test compares this over all questions.
"use strict";
window.predictRead = (() => {
  const MOST = 2n ** 64n - 1n;
  const isDigits = (text) => /^[0-9]+$/.test(text);
  const size = (text) => (isDigits(text) && BigInt(text) <= MOST ? Number(text) : null);

  // What a line says, or null: `{ exactly }`, or of a rounded number `{ about, step }`.
  function read(kind, line) {
    if (kind === "option") return { exactly: line };
    if (kind === "whole") return whole(line.trim());
    const found = kind === "shape" ? shape(line.trim()) : decimal(line.trim());
    return found === null ? null : { exactly: found };
  }

  // `right` is what the crate gives for an answer or a slip: a whole number, the ends of a
  // range or the name of what is no number, two sizes, an option.
  function judge(kind, given, right) {
    if ("about" in given) {
      const off = Math.abs(given.about - right);
      if (off === 0) return "right";
      return given.step > 1 && off <= given.step / 2 ? "near" : "missed";
    }
    const { exactly } = given;
    return isRight(kind, exactly, right) ? "right" : "missed";
  }

  function isRight(kind, given, right) {
    if (kind === "shape") return given[0] === right[0] && given[1] === right[1];
    if (kind !== "number") return given === right;
    if (Array.isArray(right)) return right[0] <= given && given <= right[1];
    return { NaN: Number.isNaN(given), inf: given === Infinity, "-inf": given === -Infinity }[right];
  }

  // ---- `12345`, `12,345`, `12 345`, `12_345`; `~12K`, `12.3K` and `~12000` are roughly that.

  function whole(line) {
    const [isAbout, text] = withoutAbout(withoutTimes(line));
    const unit = { k: 1e3, K: 1e3, m: 1e6, M: 1e6 }[text.at(-1)] ?? 1;
    if (unit === 1 && !isAbout) {
      const found = size(digits(text));
      return found === null ? null : { exactly: found };
    }
    const number = unit === 1 ? text : text.slice(0, -1).trimEnd();
    const at = unit > 1 ? number.indexOf(".") : -1;
    const [above, below] = at < 0 ? [digits(number), ""] : [number.slice(0, at), number.slice(at + 1)];
    if (!isDigits(above) || (at >= 0 && !isDigits(below))) return null;
    const zeros = at < 0 ? above.length - above.replace(/0+$/, "").length : 0;
    const value = Number(at < 0 ? above : number);
    if (!(value > 0 || unit === 1) || !Number.isFinite(value * unit)) return null;
    const about = Math.round(value * unit);
    const step = at < 0 ? unit * 10 ** zeros : unit / 10 ** below.length;
    return { about, step: about === 0 ? 1 : step };
  }

  // The digits of a whole number whose thousands may be apart; "" of anything else.
  function digits(text) {
    const marks = text.match(/[,_'’\s]/g) ?? [];
    const groups = text.split(/[,_'’\s]/);
    const isGrouped = !marks.length || (/^.{1,3}$/.test(groups[0]) &&
      groups.slice(1).every((group) => group.length === 3) && marks.every((it) => it === marks[0]));
    return isGrouped && groups.every(isDigits) ? groups.join("") : "";
  }

  // ---- `0.25`, `.25`, `0,25`, `1/4`, `25 %`, `√2`, `sqrt(2)`, `NaN`, `∞`.

  function decimal(line) {
    const text = withoutAbout(withoutTimes(line))[1].replaceAll("−", "-");
    const at = text.indexOf("/");
    if (at >= 0) {
      const [above, below] = [text.slice(0, at), text.slice(at + 1)].map((part) => plain(part.trim()));
      return above === null || below === null ? null : above / below;
    }
    if (text.endsWith("%")) {
      const percent = plain(text.slice(0, -1).trim());
      return percent === null ? null : percent / 100;
    }
    const lower = text.toLowerCase();
    const root = lower.match(/^(?:√|sqrt)(.*)$/s);
    if (root) {
      const square = plain(root[1].trim().replace(/^\(+/, "").replace(/\)+$/, "").trim());
      return square === null ? null : Math.sqrt(square);
    }
    if (lower === "nan") return NaN;
    if (/^-?(∞|inf|infinity)$/.test(lower)) return lower.startsWith("-") ? -Infinity : Infinity;
    return plain(text);
  }

  // Digits with at most one point or comma among them.
  const plain = (text) => (/^-?(?=.*[0-9])[0-9]*[.,]?[0-9]*$/.test(text) ? Number(text.replace(",", ".")) : null);

  // ---- `5x9`, `5 × 9`, `(5, 9)`, `[5, 9]`, `5, 9`, `5 9`.

  function shape(line) {
    const inside = line.match(/^\((.*)\)$/s) ?? line.match(/^\[(.*)\]$/s);
    const parts = (inside ? inside[1] : line).replaceAll("by", " ").split(/[xX×*,\s]/).filter(Boolean);
    const sizes = parts.map(size);
    return sizes.length === 2 && !sizes.includes(null) ? sizes : null;
  }

  // ---- `~12`, `≈ 12`, `about 12`; a factor as `4x`, `× 4` or `4 times`.

  function withoutAbout(text) {
    const mark = ["~", "≈", "about "].find((it) => text.startsWith(it)) ?? "";
    return [mark !== "", text.slice(mark.length).trimStart()];
  }

  function withoutTimes(text) {
    const bare = text.replace(/times$/, "").trimEnd().replace(/[x×*]$/, "").trimEnd();
    return bare.replace(/^[x×*]/, "").trimStart();
  }

  return { read, judge };
})();
