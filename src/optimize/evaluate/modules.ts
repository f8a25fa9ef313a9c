// Compiled code of the kernels that were run last, in memory: a candidate runs thirty times, and nobody needs its modules on disk.
import { sha256 } from '../hash.ts';

/** Bytes of modules that are kept. */
const MOST_BYTES = 2 ** 26;

/** The module cache of an evaluator's devices; what was used last stays longest. */
export class RecentModules {
  private readonly modules = new Map<string, Uint8Array>();
  private bytes = 0;

  get(key: Uint8Array): Uint8Array | undefined {
    const name = sha256(key);
    const found = this.modules.get(name);
    if (found === undefined) return undefined;
    this.modules.delete(name);
    this.modules.set(name, found);
    return found;
  }

  put(key: Uint8Array, bytes: Uint8Array): void {
    const name = sha256(key);
    if (this.modules.has(name)) return;
    this.modules.set(name, bytes);
    this.bytes += bytes.length;
    for (const [old, { length }] of this.modules) {
      if (this.bytes <= MOST_BYTES) break;
      this.modules.delete(old);
      this.bytes -= length;
    }
  }
}
