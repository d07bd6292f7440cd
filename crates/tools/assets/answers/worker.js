// Runs the module: what an exercise hands out, and the verdict on what came back. `host.js` of
// the live figures stands before it.

let root = "";
let url = "";
let module = null; // a promise
const kept = new Map(); // by file, a promise: what is said of an exercise, and its numbers

// The first line is JSON, and the rest is numbers.
async function fetched(file) {
  const answer = await fetch(root + file);
  if (!answer.ok) throw new Error(`the numbers of this exercise did not come (${answer.status}): reload the page`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const end = bytes.indexOf(10);
  return { words: bytes.subarray(0, end), numbers: bytes.subarray(end + 1) };
}

function keptOf(file) {
  if (!kept.has(file)) {
    const coming = fetched(file);
    coming.catch(() => kept.delete(file)); // the next who asks tries again
    kept.set(file, coming);
  }
  return kept.get(file);
}

const textOf = (bytes) => new TextDecoder().decode(bytes);

// What is asked, each with the exercise's name: its function's head, for which all is fetched
// that a check needs; its inputs in a form, by the seed of its numbers; the verdict on bytes.
const answers = {
  async signature(call, { name, library, function: of, file }) {
    await keptOf(file);
    return { signature: textOf(call("signature", name, library, of)) };
  },
  async inputs(call, { name, form, function: of, file }) {
    const { numbers } = await keptOf(file);
    return { bytes: call("inputs", name, numbers, form, of) };
  },
  async verdict(call, { name, file, given, from }) {
    const { words, numbers } = await keptOf(file);
    const verdict = JSON.parse(textOf(call("verdict", name, numbers, words, given, from)));
    return { ...verdict, words: JSON.parse(textOf(words)) };
  },
};

onmessage = async ({ data }) => {
  if (data.module) {
    ({ root, module: url } = data);
    return;
  }
  const { id, ask, ...asked } = data;
  try {
    const call = await (module ??= connect(url));
    postMessage({ id, ...(await answers[ask](call, asked)) });
  } catch (error) {
    // A panic leaves the module in no state: the next request begins anew.
    const isBroken = error instanceof WebAssembly.RuntimeError;
    if (isBroken) module = null;
    postMessage({ id, error: isBroken ? "the check has stopped: try once more" : error.message });
  }
};
