// What the explorer of heads says, in words and in a table: each share with its control.
"use strict";
window.headWords = (() => {
  const { largestOf, links, means, nSeen } = window.headMeasures;
  const PREFERS = { first: "the first token", last: "the last", same: "the token itself", previous: "the token before", next: "the token after", other: "another token" };
  const SHORT = { first: "first", last: "last", same: "self", previous: "prev.", next: "next", other: "other", spread: "" };

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // .62, as the crates print a share.
  function share(number, nDigits = 2) {
    const digits = Math.abs(number).toFixed(nDigits).replace(/^0/, "");
    return number < 0 && Number(digits) ? `−${digits}` : digits;
  }
  const signed = (number) => (share(number).startsWith("−") ? share(number) : `+${share(number)}`);

  // A token between quotes. One that reads from right to left is kept apart, or the numbers
  // beside it would change their places.
  const isRightToLeft = (piece) => /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(piece);
  const apart = (piece) => (isRightToLeft(piece) ? `\u2068${piece}\u2069` : piece);
  const named = (piece) => `“${apart(piece)}”`;

  const QUIET = {
    map: "Point at a cell or a token (a click keeps it lit)",
    lines: "Point at a token (a click keeps it lit)",
    grid: "Point at a patch",
  };
  const CHOOSE = " A click or the enter key makes it the query. A line runs around all that get more than an even share; a picture is clearer where more of it goes.";
  const hint = (view) => `${QUIET[view]}, tap it, or use the arrow keys: its share stands here, and beside it a control, what the other tokens give the same key.${view === "grid" ? CHOOSE : ""}`;

  // A token, and which of those that look alike.
  function nameOf({ pieces }, at) {
    const isAlone = pieces.indexOf(pieces[at]) === pieces.lastIndexOf(pieces[at]);
    return isAlone ? named(pieces[at]) : `${named(pieces[at])} (token ${at})`;
  }

  // Of many keys each gets little.
  const shareOf = ({ n }) => (number) => share(number, n > 50 ? 3 : 2);

  // A cell, the strongest of a row, or the strongest of a column.
  function toldOf(view, map, control, { query, key }) {
    if (query >= view.nQueries || key >= view.n) return "no such token.";
    const told = shareOf(view);
    const [asks, name] = [view.queries, view.text].map((tokens) => (at) => nameOf(tokens, at));
    if (query === null) {
      const column = map.map((shares) => shares[key]);
      const best = largestOf(column);
      return `${name(key)} gets most from ${asks(best)}: ${told(column[best])}; from the others ${told(control(best, key))} on average.`;
    }
    const best = key ?? largestOf(map[query]);
    const gives = key === null ? "gives most to" : "gives";
    const even = 1 / Math.max(nSeen(view, query), 1);
    return `${asks(query)} ${gives} ${name(best)}: ${told(map[query][best])}. ` +
      `The other tokens give ${name(best)} ${told(control(query, best))} on average; an even row, ${told(even)}.`;
  }

  // The same of one text, or of two with their difference.
  function told({ loaded, maps, controls, isCompared }, cursor) {
    const each = loaded.map((view, nth) => toldOf(view, maps[nth], controls[nth], cursor));
    if (loaded.length < 2) return each[0];
    const { query, key } = cursor;
    const isCell = query !== null && key !== null;
    const difference = !isCompared
      ? " The two have different numbers of tokens, so there is no difference."
      : isCell ? ` Difference: ${signed(maps[0][query][key] - maps[1][query][key])}.` : "";
    return `First: ${each[0]} Second: ${each[1]}${difference}`;
  }

  // A head: what it prefers, if that is known yet, and its strongest links.
  function described(view, map, control, prefers) {
    const told = shareOf(view);
    const [asks, keys] = [view.queries.pieces, view.text.pieces];
    const strongest = links(view, map, 3).map(([query, key, number]) =>
      `${apart(asks[query])} → ${apart(keys[key])} ${told(number)} (others ${told(control(query, key))})`);
    const [first, second] = means(view, map);
    const most = first ? `Most goes to ${named(keys[first.key])}, ${told(first.share)} of a token's shares on average` +
      `${second ? `, then to ${named(keys[second.key])}, ${told(second.share)}` : ""}; even, ${told(first.even)}. ` : "";
    const preference = !prefers ? "" : prefers.name === "spread"
      ? "It prefers no place by more than a tenth above chance. "
      : `Of the places, it prefers ${PREFERS[prefers.name]}: ${told(prefers.share)}, by chance ${told(prefers.chance)}. `;
    return most + preference + (strongest.length ? `Strongest between two words: ${strongest.join("; ")}.` : "");
  }

  // Each query's strongest key, with its control, as a table.
  function strongest({ text: { pieces }, queries }, map, control) {
    const table = element("table");
    const head = ["query", "strongest key", "share", "from the others"];
    table.createTHead().insertRow().append(...head.map((text) => element("th", { scope: "col" }, text)));
    const body = table.createTBody();
    map.forEach((shares, query) => {
      const best = largestOf(shares);
      const cells = [apart(pieces[best]), share(shares[best]), share(control(query, best))];
      body.insertRow().append(element("th", { scope: "row" }, apart(queries.pieces[query])), ...cells.map((text) => element("td", {}, text)));
    });
    return table;
  }

  return { PREFERS, SHORT, element, share, named, hint, told, described, strongest };
})();
