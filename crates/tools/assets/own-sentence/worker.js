// Runs the module: reads a model's files part by part, looks at sentences, and at layers. `host.js`
// of the live figures stands before it.

const PART = 4 << 20;

let url = "";
let module = null; // a promise

const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());
const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

// Nothing but the module is fetched: the files come from the page.
async function read(call, id, files) {
  call("check", [...files.keys()].join("\n"));
  const weights = files.get("model.safetensors");
  const config = await bytesOf(files.get("config.json"));
  call("begin", config, await bytesOf(files.get("tokenizer.json")), String(weights.size));
  for (let at = 0; at < weights.size; at += PART) {
    call("part", await bytesOf(weights.slice(at, at + PART)));
    postMessage({ id, progress: Math.min(at + PART, weights.size) / weights.size });
  }
  return { about: jsonOf(call("finish")) };
}

function look(call, sentence) {
  const began = performance.now();
  const looked = jsonOf(call("look", sentence));
  const bytes = call("shares");
  return { looked, shares: new Float32Array(bytes.buffer), took: performance.now() - began };
}

// Without some heads: what changes, draw by draw, until something else is asked.
async function switchOff(call, id, heads) {
  if (!heads.length) return {};
  let removed = jsonOf(call("switch_off", heads.join(",")));
  const shares = new Float32Array(call("shares").buffer);
  postMessage({ id, removed, shares }, [shares.buffer]);
  while (removed.n_done < removed.n_sets) {
    await new Promise((done) => setTimeout(done));
    if (newest !== id) return {};
    removed = jsonOf(call("draw"));
    if (removed.n_done < removed.n_sets) postMessage({ id, removed });
  }
  return { removed };
}

const diagnose = (call, layer, choices) => jsonOf(call("diagnose", JSON.stringify(choices), layer));

async function answer({ id, files, sentence, layer, choices, off }) {
  try {
    const call = await (module ??= connect(url));
    const answer = layer ? diagnose(call, layer, choices) : files ? await read(call, id, files)
      : off ? await switchOff(call, id, off) : look(call, sentence);
    postMessage({ id, ...answer, done: true }, answer.shares ? [answer.shares.buffer] : []);
  } catch (error) {
    // A panic leaves the module in no state: the next files begin anew.
    const isBroken = error instanceof WebAssembly.RuntimeError;
    if (isBroken) module = null;
    postMessage({ id, error: isBroken ? "the module has stopped: choose the files again" : error.message, done: true });
  }
}

let newest = 0; // what was asked last
let last = Promise.resolve(); // one after the other: reading waits in between

onmessage = ({ data }) => {
  if (data.module) {
    url = data.module;
    return;
  }
  newest = data.id;
  last = last.then(() => answer(data));
};
