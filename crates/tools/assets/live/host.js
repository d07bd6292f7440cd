// What a WebAssembly module of the book sees of its worker.
//
// A module speaks wasm-minimal-protocol: a call is told the lengths of its arguments,
// fetches them, and hands its answer over; 0 is an answer and 1 an error's words.
"use strict";

// Gives a function that calls the module's functions by name: bytes or texts in, bytes out.
async function connect(url) {
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
    // Seeds of hash maps, where a module has some.
    __getrandom_v03_custom(at, length) {
      crypto.getRandomValues(new Uint8Array(memory.buffer, at, length));
      return 0;
    },
  };
  const bytes = await (await fetch(url)).arrayBuffer();
  const compiled = await WebAssembly.compile(bytes);
  // What a module asks for and is not there fails when it is called, and not before.
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(compiled)) {
    imports[from] ??= {};
    imports[from][name] = host[name] ?? (() => {
      throw new Error(`${name} is not there`);
    });
  }
  const instance = await WebAssembly.instantiate(compiled, imports);
  memory = instance.exports.memory;
  const call = (name, ...given) => {
    args = given.map((it) => (it instanceof Uint8Array ? it : new TextEncoder().encode(it)));
    const isError = instance.exports[name](...args.map((it) => it.length));
    args = [];
    if (isError) throw new Error(new TextDecoder().decode(answer));
    return answer;
  };
  // How much memory the module has.
  call.nBytes = () => memory.buffer.byteLength;
  return call;
}

// The same for a module whose answers are JSON.
async function connectJson(url) {
  const call = await connect(url);
  return (...asked) => {
    const text = new TextDecoder().decode(call(...asked));
    return text && JSON.parse(text);
  };
}
