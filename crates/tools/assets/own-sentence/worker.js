// Runs the module: reads a model's files part by part, looks at sentences, and at layers. `host.js`
// of the live figures stands before it.

const PART = 4 << 20;

let url = "";
let module = null; // a promise

const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

// A file that was chosen: its size, all of it, and it part by part.
const chosen = (file) => ({
  size: file.size,
  all: () => bytesOf(file),
  async *parts() {
    for (let at = 0; at < file.size; at += PART) yield bytesOf(file.slice(at, at + PART));
  },
});

// The same of one that begins to come now.
function coming({ name, bytes: size, url }) {
  const answer = fetch(url).then((it) => {
    if (!it.ok) throw new Error(`${name} did not come (${it.status})`);
    return it;
  });
  answer.catch(() => {}); // who reads it is told
  return {
    size,
    all: async () => bytesOf(await answer),
    async *parts() {
      const reader = (await answer).body.getReader();
      for (let it = await reader.read(); !it.done; it = await reader.read()) yield it.value;
    },
  };
}

const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

// Of a reader's files nothing is fetched: they come from the page.
async function read(call, id, files) {
  const [name, ...small] = new TextDecoder().decode(call("check", [...files.keys()].join("\n"))).split("\n");
  const weights = files.get(name);
  for (const file of small) call("small", file, await files.get(file).all());
  if (small.length) call("begin", String(weights.size));
  else call("begin_gguf", name, String(weights.size));
  let at = 0;
  for await (const part of weights.parts()) {
    call("part", part);
    at += part.length;
    postMessage({ id, progress: at / weights.size });
  }
  const about = jsonOf(call("finish"));
  return { about, memory: call.nBytes(), size: weights.size };
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
  let ablated = jsonOf(call("ablate", heads.join(",")));
  const shares = new Float32Array(call("shares").buffer);
  postMessage({ id, ablated, shares }, [shares.buffer]);
  while (ablated.n_done < ablated.n_sets) {
    await new Promise((done) => setTimeout(done));
    if (newest !== id) return {};
    ablated = jsonOf(call("draw"));
    if (ablated.n_done < ablated.n_sets) postMessage({ id, ablated });
  }
  return { ablated };
}

// A text, token by token, until something else is asked.
async function write(call, id, asked) {
  const { seed, temperature, top_p, n_tokens, prompt, off } = asked;
  postMessage({ id, begun: jsonOf(call("write", JSON.stringify({ seed, temperature, top_p, n_tokens, prompt, off }))) });
  const took = { prompt: 0, writing: 0 };
  for (;;) {
    await new Promise((done) => setTimeout(done));
    if (newest !== id) return { took };
    const began = performance.now();
    const step = jsonOf(call("step"));
    const looks = (step.next || step.is_source) && new Float32Array(call("looks").buffer);
    postMessage({ id, step, looks }, looks ? [looks.buffer] : []);
    took[took.wroteOne ? "writing" : "prompt"] += performance.now() - began;
    took.wroteOne ||= Boolean(step.next);
    if (step.is_last) return { took, memory: call.nBytes() };
  }
}

// A test of names, line by line, until something else is asked.
async function test(call, id, names) {
  call("names", names);
  for (;;) {
    await new Promise((done) => setTimeout(done));
    if (newest !== id) return {};
    const tested = jsonOf(call("read_names"));
    if (tested.is_done) return { tested };
    postMessage({ id, tested });
  }
}

function others(call, heads, seed) {
  const names = new TextDecoder().decode(call("others", heads.join(","), String(seed)));
  return { heads: names ? names.split(",") : [] };
}

const diagnose = (call, layer, choices) => jsonOf(call("diagnose", JSON.stringify(choices), layer));

function answerTo(call, { id, files, sentence, layer, choices, off, write: asked, others: heads, seed, names, stop }) {
  if (stop) return {};
  if (layer) return diagnose(call, layer, choices);
  if (files) return read(call, id, files);
  if (asked) return write(call, id, asked);
  if (names !== undefined) return test(call, id, names);
  if (heads) return others(call, heads, seed);
  return off ? switchOff(call, id, off) : look(call, sentence);
}

async function answer({ id, ...asked }) {
  try {
    const call = await (module ??= connect(url));
    const answer = await answerTo(call, { id, ...asked });
    postMessage({ id, ...answer, done: true }, answer.shares ? [answer.shares.buffer] : []);
  } catch (error) {
    // A panic leaves the module in no state: the next files begin anew.
    const isBroken = error instanceof WebAssembly.RuntimeError;
    if (isBroken) module = null;
    const said = isBroken ? "the module has stopped, perhaps for want of memory: load the model again" : error.message;
    postMessage({ id, error: said, isBroken, done: true });
  }
}

let newest = 0; // what was asked last
let last = Promise.resolve(); // one after the other: reading waits in between

onmessage = ({ data: { module: address, files, fetched, ...asked } }) => {
  if (address) {
    url = address;
    return;
  }
  newest = asked.id;
  // What is fetched comes while the module is compiled.
  if (files) asked.files = new Map([...files].map(([name, file]) => [name, chosen(file)]));
  if (fetched) asked.files = new Map(fetched.map((file) => [file.name, coming(file)]));
  last = last.then(() => answer(asked));
};
