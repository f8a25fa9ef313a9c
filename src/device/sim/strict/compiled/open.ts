// What compiled code asks TypeScript for when it comes to a page of global memory, and goes on with then: the records of pages are made where they are
// needed (race-pages.ts), and what the log has of a page's reads is put into them before the first store. To have all lanes of the access looked at
// there takes some tens of microseconds. A module that does not declare these imports leaves such accesses to TypeScript.
import type { WasmModule } from '../../wasm/emit.ts';

const OPEN = 'strictOpen';
const UNLOG = 'strictUnlog';

/** Declares the imports: to be done before the module's first function. */
export function declareOpen(module: WasmModule): void {
  for (const name of [OPEN, UNLOG]) module.importFunction('env', name, ['i32', 'i32'], ['i32']);
}

/** (offset in wasm memory, place in the image) → the record of the page there, made when there was none; 0 where there is to be none. */
export const openPageIndex = (module: WasmModule): number | undefined => module.imported('env', OPEN);

/** (offset in wasm memory, place in the image) → 1 when the page there, which is to be stored to, is LOGGED no longer; 0 where it still is. */
export const unlogPageIndex = (module: WasmModule): number | undefined => module.imported('env', UNLOG);
