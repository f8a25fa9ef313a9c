// Bytes of the device's memory set and copied at once. V8 fills shared memory element by element, at 3 GB/s; memory.fill does 50 GB/s.
import { MAX_WASM_PAGES } from '../state/layout.ts';
import { WasmModule } from './emit.ts';

/** What a memory does with many bytes. Offsets and sizes are bytes; beyond the end it throws a `WebAssembly.RuntimeError`. */
export interface Bulk {
  fill(to: number, value: number, size: number): void;
  copy(to: number, from: number, size: number): void;
}

/** `memory.fill` and `memory.copy` of the memory that it imports as `host.memory`: instances export a `Bulk`. */
export function bulkModule(shared: boolean): WebAssembly.Module {
  const module = new WasmModule({ module: 'host', name: 'memory', initial: 0, maximum: MAX_WASM_PAGES, shared });
  const define = (name: string): ReturnType<WasmModule['function']> => {
    const f = module.function(['i32', 'i32', 'i32'], []);
    module.export(name, f.get(0).get(1).get(2));
    return f;
  };
  define('fill').memoryFill();
  define('copy').memoryCopy();
  return new WebAssembly.Module(module.finish());
}
