// Runs the module: one request after the other, and a training in between.
//
// The module speaks wasm-minimal-protocol: a call is told the lengths of its arguments,
// fetches them, and hands its answer over; 0 is an answer and 1 an error's words.
"use strict";

const MOST_MS = 40; // of training, before the next message is heard

let module = null; // a promise
let layer = null; // another, once a figure needs it
let urls = {};
let isStopped = false;

async function load() {
  let args = [];
  let answer = null;
  let memory = null;
  const host = {
    wasm_minimal_protocol_write_args_to_buffer(at) {
      for (const bytes of args) {
        new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
        at += bytes.length;
      }
    },
    wasm_minimal_protocol_send_result_to_host(at, length) {
      answer = new Uint8Array(memory.buffer, at, length).slice();
    },
  };
  const bytes = await (await fetch(urls.module)).arrayBuffer();
  const compiled = await WebAssembly.compile(bytes);
  // The plotly crate brings bindings to a page's own plotly, which nothing here calls.
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(compiled)) {
    imports[from] ??= {};
    imports[from][name] = host[name] ?? (() => {
      throw new Error(`${name} is not there`);
    });
  }
  const instance = await WebAssembly.instantiate(compiled, imports);
  memory = instance.exports.memory;
  return (name, ...given) => {
    args = given.map((it) => (it instanceof Uint8Array ? it : new TextEncoder().encode(it)));
    const isError = instance.exports[name](...args.map((it) => it.length));
    const text = new TextDecoder().decode(answer);
    if (isError) throw new Error(text);
    return text && JSON.parse(text);
  };
}

async function giveLayer(call) {
  const bytes = await (await fetch(urls.layer)).arrayBuffer();
  call("layer", new Uint8Array(bytes));
}

const pause = () => new Promise((done) => setTimeout(done));

async function train(call, id, name, settings) {
  const look = () => call("look", name, settings);
  call("begin", name, settings);
  isStopped = false;
  let [taken, all] = call("advance", "0");
  let [lookedAt, n] = [performance.now(), 1];
  while (taken < all && !isStopped) {
    const began = performance.now();
    [taken, all] = call("advance", String(n));
    const took = performance.now() - began;
    n = Math.max(1, Math.floor((n * MOST_MS) / Math.max(took, 1)));
    if (began - lookedAt > 250) {
      lookedAt = began;
      postMessage({ id, shown: look(), progress: [taken, all] });
    }
    await pause();
  }
  return { shown: look(), progress: [taken, all] };
}

onmessage = async ({ data }) => {
  if (data.module) {
    urls = data;
    return;
  }
  if (data.call === "stop") {
    isStopped = true;
    return;
  }
  const { id, call: what, name, settings } = data;
  try {
    const call = await (module ??= load());
    if (data.layer) await (layer ??= giveLayer(call));
    const texts = JSON.stringify(settings);
    const began = performance.now();
    const answer = what === "train"
      ? await train(call, id, name, texts)
      : { shown: call(what, name, texts) };
    postMessage({ id, ...answer, took: performance.now() - began, done: true });
  } catch (error) {
    // A panic leaves the module in no state: the next request begins anew.
    if (error instanceof WebAssembly.RuntimeError) module = layer = null;
    postMessage({ id, error: error.message });
  }
};
