// Texts of a page that stands alone: their shares are packed, and unpacked as they are shown.
"use strict";
window.headPacked = (() => {
  const ONE = 1000; // shares are kept in thousandths

  // Base64 part by part, each a few milliseconds, as a stream of bytes.
  function bytesOf(parts) {
    let next = 0;
    return new ReadableStream({
      async pull(stream) {
        if (next === parts.length) return stream.close();
        await new Promise((done) => setTimeout(done)); // the page is heard
        const text = atob(parts[next++]);
        const bytes = new Uint8Array(text.length);
        for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
        return stream.enqueue(bytes);
      },
    });
  }

  // All low bytes, then all high ones, in gzip, in base64: see `page.rs`.
  async function unpack({ packed, n_shares: n }) {
    if (!window.DecompressionStream) throw new Error("this browser is too old to unpack the maps: it needs DecompressionStream, of 2023");
    const maps = new Uint16Array(n);
    const reader = bytesOf(packed).pipeThrough(new DecompressionStream("gzip")).getReader();
    let at = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const nLow = Math.min(Math.max(n - at, 0), value.length);
      for (let i = 0; i < nLow; i++) maps[at + i] = value[i];
      for (let i = nLow; i < value.length; i++) maps[at + i - n] |= value[i] << 8;
      at += value.length;
    }
    if (at !== 2 * n) throw new Error(`the maps of this page are not whole: ${at} bytes of ${2 * n}`);
    return maps;
  }

  const unpacked = new WeakMap();
  async function whole(text) {
    if (text.maps) return text;
    if (!unpacked.has(text)) unpacked.set(text, unpack(text));
    const maps = await unpacked.get(text);
    if (!text.picture) return { ...text, maps, one: ONE };
    const image = Object.assign(new Image(), { src: text.picture });
    try {
      await image.decode();
    } catch {
      return { ...text, maps, one: ONE, notes: [...text.notes, "its picture cannot be drawn"] };
    }
    return { ...text, maps, one: ONE, image };
  }

  return { whole };
})();
