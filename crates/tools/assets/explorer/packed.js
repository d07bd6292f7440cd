// Texts of a page that stands alone: their shares are packed, and unpacked as they are shown.
"use strict";
window.headPacked = (() => {
  const ONE = 1000; // shares are kept in thousandths

  // All low bytes, then all high ones, in gzip, in base64: see `page.rs`.
  async function unpack(packed) {
    if (!window.DecompressionStream) throw new Error("this browser is too old to unpack the maps: it needs DecompressionStream, of 2023");
    const { body } = await fetch(`data:application/gzip;base64,${packed}`);
    const bytes = new Uint8Array(await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
    const maps = new Uint16Array(bytes.length / 2);
    for (let i = 0; i < maps.length; i++) maps[i] = bytes[i] | (bytes[maps.length + i] << 8);
    return maps;
  }

  const unpacked = new WeakMap();
  async function whole(text) {
    if (text.maps) return text;
    if (!unpacked.has(text)) unpacked.set(text, unpack(text.packed));
    return { ...text, maps: await unpacked.get(text), one: ONE };
  }

  return { whole };
})();
