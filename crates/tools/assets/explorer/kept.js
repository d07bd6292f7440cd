// A sentence whose maps came with the book: bytes of which 255 is share 1, and its tokens, in a
// safetensors file; and one that the module has read.
"use strict";
window.headKept = (() => {
  const { byLayer } = window.headExplorer;

  function textOf(buffer) {
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const { __metadata__: { tokens }, maps } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    const pieces = tokens.split(" ");
    const [nLayers, nHeads] = maps.shape;
    return {
      pieces, special: pieces.map((_, i) => i === 0 || i === pieces.length - 1), causal: false,
      maps: new Uint8Array(buffer, 8 + length + maps.data_offsets[0]), one: 255, names: byLayer(nLayers, nHeads),
    };
  }

  async function fetched(address) {
    const answer = await fetch(address, { cache: "no-cache" });
    if (!answer.ok) throw new Error(`the maps of this sentence did not come (${answer.status})`);
    return textOf(await answer.arrayBuffer());
  }

  // Of what `encoderModel.look` gives.
  function computed({ looked, shares }) {
    const { pieces, special, causal, n_heads: nHeads } = looked;
    const nMaps = shares.length / pieces.length ** 2;
    return { pieces, special, causal, maps: shares, one: 1, names: byLayer(nMaps / nHeads, nHeads) };
  }

  return { textOf, fetched, computed };
})();
