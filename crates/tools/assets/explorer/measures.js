// What the explorer of heads says of maps: shares, what a head prefers, and the control
// beside each number. A text is
//
//   { pieces, special, causal, maps, one, names, queries, places, keys, n_tokens }
//
// its tokens, which of them are no part of the text, whether a token sees only those before
// it, the shares head by head and row by row (a typed array in which `one` is share 1),
// what the heads are called, and, where others than its tokens ask, those:
// { pieces, special }. Of a long text some tokens ask and some keys are there: `places` and
// `keys` are their places in the text, of `n_tokens`. The definitions are those of
// `maps::Glance`.
"use strict";
window.headMeasures = (() => {
  const KINDS = ["first", "last", "same", "previous", "next", "other"];
  const PREFERENCE = 0.1; // how far a share must be above chance

  function kindOf(view, query, key) {
    const place = view.keyAt(key);
    if (view.text.special[key]) return place === 0 ? 0 : 1;
    if (view.isCross) return 5;
    const own = view.placeOf(query);
    if (place === own) return 2;
    if (place + 1 === own) return 3;
    return place === own + 1 ? 4 : 5;
  }

  // A view of a text: as it is, or without its first token, whose share then goes to the
  // others as far as they have some.
  function viewOf(text, isWithoutFirst = false) {
    const isCross = Boolean(text.queries && !text.places);
    const queries = text.queries ?? text;
    const [n, nQueries] = [text.pieces.length, queries.pieces.length];
    const nHeads = n && nQueries ? text.maps.length / (n * nQueries) : 0;
    const placeOf = (query) => (text.places ? text.places[query] : query);
    const keyAt = (key) => (text.keys ? text.keys[key] : key);
    return { text, queries, isCross, isWithoutFirst, n, nQueries, nHeads, placeOf, keyAt, nTokens: text.n_tokens ?? n };
  }

  // Fills `out` with what a query gives each key.
  function row({ text, n, nQueries, isWithoutFirst }, head, query, out) {
    const at = (head * nQueries + query) * n;
    const left = isWithoutFirst ? text.one - text.maps[at] : text.one;
    for (let key = 0; key < n; key++) out[key] = text.maps[at + key] / left;
    if (isWithoutFirst) {
      out[0] = 0;
      // A query that sees nothing else has an empty row.
      if (left <= text.one * 1e-6) out.fill(0);
    }
    return out;
  }

  // One map, as rows.
  function mapOf(view, head) {
    return Array.from({ length: view.nQueries }, (_, query) => row(view, head, query, new Float64Array(view.n)));
  }

  // How many of all keys a query sees.
  function nSeen({ text, nTokens, placeOf, isWithoutFirst }, query) {
    return (text.causal ? placeOf(query) + 1 : nTokens) - (isWithoutFirst ? 1 : 0);
  }

  // Whether a query sees a key.
  function sees({ text, placeOf, keyAt, isWithoutFirst }, query, key) {
    return (key > 0 || !isWithoutFirst) && (!text.causal || keyAt(key) <= placeOf(query));
  }

  // The control of a kind of key: a head that gives every key it sees the same.
  function chance(view) {
    const { n } = view;
    return meanOfWords(view, (query, out) => {
      const share = 1 / Math.max(nSeen(view, query), 1);
      for (let key = 0; key < n; key++) out[key] = sees(view, query, key) ? share : 0;
    });
  }

  // The share of each kind of key, on average over the tokens of the text as queries.
  function kinds(view, head) {
    return meanOfWords(view, (query, out) => row(view, head, query, out));
  }

  function meanOfWords(view, fill) {
    const { queries, n, nQueries } = view;
    const shares = new Float64Array(KINDS.length);
    const out = new Float64Array(n);
    let nWords = 0;
    for (let query = 0; query < nQueries; query++) {
      if (queries.special[query]) continue;
      nWords += 1;
      fill(query, out);
      let sum = 0;
      for (let key = 0; key < n; key++) {
        shares[kindOf(view, query, key)] += out[key];
        sum += out[key];
      }
      // What is not there is none of the kinds that are near.
      if (view.text.keys) shares[5] += Math.max(1 - sum, 0);
    }
    return shares.map((share) => share / Math.max(nWords, 1));
  }

  // What a head prefers: the kind farthest above chance, if that is by more than a tenth.
  function preference(view, head, byChance) {
    const shares = kinds(view, head);
    let kind = 0;
    for (let other = 1; other < KINDS.length; other++) {
      if (shares[other] - byChance[other] > shares[kind] - byChance[kind]) kind = other;
    }
    const above = shares[kind] - byChance[kind];
    const isPreferred = above > PREFERENCE;
    return { name: isPreferred ? KINDS[kind] : "spread", share: shares[kind], chance: byChance[kind], above };
  }

  // The control of one share: what the other queries that see the key give it on average,
  // without the key itself; 0 where none does.
  function controls(view, map) {
    const { text, n, isCross, placeOf, keyAt } = view;
    const isOther = (query, key) => (isCross || keyAt(key) !== placeOf(query)) && (!text.causal || keyAt(key) <= placeOf(query));
    const [sums, seeing] = [new Float64Array(n), new Float64Array(n)];
    map.forEach((shares, query) => {
      for (let key = 0; key < n; key++) {
        if (!isOther(query, key)) continue;
        sums[key] += shares[key];
        seeing[key] += 1;
      }
    });
    return (query, key) => {
      const own = isOther(query, key) ? 1 : 0;
      return (sums[key] - own * map[query][key]) / Math.max(seeing[key] - own, 1);
    };
  }

  function largestOf(shares) {
    let best = 0;
    for (let key = 1; key < shares.length; key++) if (shares[key] > shares[best]) best = key;
    return best;
  }

  // Each key's share on average over the tokens of the text as queries, the largest first,
  // beside what an even head gives it.
  function means(view, map) {
    const { queries, n, nQueries } = view;
    const words = [...Array(nQueries).keys()].filter((query) => !queries.special[query]);
    const mean = (of) => words.reduce((sum, query) => sum + of(query), 0) / Math.max(words.length, 1);
    const even = (key) => mean((query) => (sees(view, query, key) ? 1 / Math.max(nSeen(view, query), 1) : 0));
    const all = Array.from({ length: n }, (_, key) => ({ key, share: mean((query) => map[query][key]), even: even(key) }));
    return words.length ? all.sort((a, b) => b.share - a.share) : [];
  }

  // The strongest shares between two different tokens of the text, the strongest first.
  function links(view, map, most) {
    const { text, queries, isCross } = view;
    const found = [];
    const wordsOf = ({ special }) => [...special.keys()].filter((i) => !special[i]);
    const keys = wordsOf(text);
    for (const query of wordsOf(queries)) {
      for (const key of keys) {
        const number = map[query][key];
        if ((view.keyAt(key) === view.placeOf(query) && !isCross) || (found.length === most && number <= found[most - 1][2])) continue;
        found.push([query, key, number]);
        found.sort((a, b) => b[2] - a[2]);
        found.length = Math.min(found.length, most);
      }
    }
    return found;
  }

  // The head and the query with the share that is farthest above its control, of two words that are neither
  // the same nor neighbours.
  function strongest(view) {
    const { text: { pieces, special }, n, nHeads } = view;
    const words = [...Array(n).keys()].filter((at) => !special[at] && /[\p{L}\p{N}]/u.test(pieces[at]));
    let [best, most] = [{ head: 0, query: 0 }, -Infinity];
    for (let head = 0; head < nHeads; head++) {
      const map = mapOf(view, head);
      const control = controls(view, map);
      for (const query of words) for (const key of words) {
        const above = Math.abs(query - key) > 1 ? map[query][key] - control(query, key) : -Infinity;
        if (above > most) [best, most] = [{ head, query }, above];
      }
    }
    return best;
  }

  // Fills `out` with a head's map, less that of another view if there is one; gives the
  // largest entry, without its sign.
  function fill(out, view, other, head) {
    const { n, nQueries } = view;
    const [shares, less] = [new Float64Array(n), new Float64Array(n)];
    let most = 0;
    for (let query = 0; query < nQueries; query++) {
      row(view, head, query, shares);
      if (other) row(other, head, query, less);
      for (let key = 0; key < n; key++) {
        const number = shares[key] - less[key];
        out[query * n + key] = number;
        if (Math.abs(number) > most) most = Math.abs(number);
      }
    }
    return most;
  }

  return { viewOf, mapOf, nSeen, chance, preference, controls, largestOf, links, strongest, means, fill };
})();
