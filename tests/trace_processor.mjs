/* trace_processor.mjs DIRECTORY TRACE: asks Google's trace processor, as WebAssembly in DIRECTORY, about a trace. A line of standard input is a
 * statement; a line of standard output is its rows, a JSON array of arrays. */
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const [directory, trace] = process.argv.slice(2);

/* Its bridge is made for a worker of a browser: given the bytes of the WebAssembly, and a port, it needs neither. */
function loadBridge() {
    const edits = [
        ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
        ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,'],
        ['const wasmBridge = new wasm_bridge_1.WasmBridge();', '$& globalThis.bridge = wasmBridge;'],
    ];
    let glue = fs.readFileSync(path.join(directory, 'engine_bundle.node.js'), 'utf8');
    for (const [from, to] of edits) {
        if (!glue.includes(from)) throw new Error(`the trace processor's glue has no ${from}`);
        glue = glue.replace(from, to);
    }
    for (const [name, value] of Object.entries({ self: globalThis, location: { href: pathToFileURL(directory).href + '/' } }))
        Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    globalThis.WorkerGlobalScope = function () {};
    globalThis.wasmBytes = new Uint8Array(fs.readFileSync(path.join(directory, 'trace_processor.wasm')));
    vm.runInThisContext(glue, { filename: 'engine_bundle.node.js' });
    return globalThis.bridge;
}

async function loadEngine() {
    const { EngineBase } = await import(pathToFileURL(path.join(directory, 'engine.mjs')).href);
    const { port1, port2 } = new MessageChannel();
    class Engine extends EngineBase {
        mode = 'WASM';
        id = 'test';
        constructor() {
            super();
            port2.onmessage = (message) => this.onRpcResponseBytes(message.data);
        }
        rpcSendRequestBytes(bytes) {
            port2.postMessage(bytes);
        }
    }
    console.warn = () => {}; /* of fields of its answers that its own decoder does not know */
    loadBridge().initialize(port1);
    return new Engine();
}

function rows(result) {
    const names = result.columns(), all = [];
    for (const row = result.iter({}); row.valid(); row.next())
        all.push(names.map((name) => (typeof row.get(name) === 'bigint' ? Number(row.get(name)) : row.get(name))));
    return all;
}

const engine = await loadEngine();
await engine.parse(new Uint8Array(fs.readFileSync(trace)));
await engine.notifyEof();
for await (const sql of createInterface({ input: process.stdin })) {
    const result = await engine.query(sql);
    if (result.error()) throw new Error(`${result.error()}: ${sql}`);
    console.log(JSON.stringify(rows(result)));
}
process.exit(0); /* its port would keep the process */
