// Runs the module: one request after the other, and a training in between. `host.js`
// stands before it.

const MOST_MS = 40; // of training, before the next message is heard
const LEAST_TURNS = 50; // of that length: who trains something wants to see it learn

const REHEARSAL = { draws: 4, ms: 100 };

let module = null; // a promise
let given = {}; // by name, a promise for each file of weights that a figure has asked for
let files = {};
let run = null; // the training under way: one that begins ends another

async function give(call, name) {
  const bytes = await (await fetch(files.root + files.weights[name])).arrayBuffer();
  call("weights", name, new Uint8Array(bytes));
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function train(call, id, name, settings) {
  const look = () => call("look", name, settings);
  call("begin", name, settings);
  run = id;
  let [taken, all] = call("advance", "0");
  let [lookedAt, n] = [performance.now(), 1];
  while (taken < all && run === id) {
    const began = performance.now();
    [taken, all] = call("advance", String(n));
    const took = performance.now() - began;
    n = Math.floor((n * MOST_MS) / Math.max(took, 1));
    n = Math.max(1, Math.min(n, Math.ceil(all / LEAST_TURNS)));
    if (began - lookedAt > 250) {
      lookedAt = began;
      postMessage({ id, shown: look(), progress: [taken, all] });
    }
    await pause(Math.max(0, MOST_MS - took));
  }
  return { shown: look(), progress: [taken, all] };
}

// Draws, and shows nobody: the browser compiles a module as it runs it, and better what it
// runs again, so that a reader's first move takes no longer than the next.
function rehearse(call, name, settings) {
  const until = performance.now() + REHEARSAL.ms;
  for (let i = 0; i < REHEARSAL.draws && performance.now() < until; i += 1) {
    call("draw", name, settings);
  }
}

onmessage = async ({ data }) => {
  if (data.module) {
    files = data;
    return;
  }
  if (data.call === "stop") {
    run = null;
    return;
  }
  const { id, call: what, name, settings } = data;
  try {
    const call = await (module ??= connectJson(files.root + files.module));
    if (data.weights) await (given[data.weights] ??= give(call, data.weights));
    const texts = JSON.stringify(settings);
    const began = performance.now();
    let answer = {};
    if (what === "rehearse") rehearse(call, name, texts);
    else if (what === "train") answer = await train(call, id, name, texts);
    else answer = { shown: call(what, name, texts) };
    postMessage({ id, ...answer, took: performance.now() - began, done: true });
  } catch (error) {
    // A panic leaves the module in no state: the next request begins anew.
    if (error instanceof WebAssembly.RuntimeError) [module, given] = [null, {}];
    postMessage({ id, error: error.message });
  }
};
