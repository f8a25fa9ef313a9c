// Written WebAssembly modules by their content: what a cache holds, and the key that everything a module depends on goes into.
import type { Block } from './walk.ts';

/** What one module is written from: the options as text, and place and code of each block. */
export function moduleKey(options: string, image: Uint8Array, blocks: readonly Block[]): Uint8Array {
  const head = new TextEncoder().encode(`${options}\n`);
  const sizes = blocks.map((b) => b.items.reduce((sum, { instruction }) => sum + instruction.size, 0));
  const branches = blocks.map((b) => (b.ending.kind === 'branch' ? b.ending.item : undefined));
  const total = sizes.reduce((sum, size) => sum + size + 16, head.length) + branches.length * 24;
  const key = new Uint8Array(total);
  const view = new DataView(key.buffer);
  key.set(head);
  let at = head.length;
  blocks.forEach((b, i) => {
    const branch = branches[i];
    for (const word of [b.pc, b.mode, sizes[i] as number, branch?.pc ?? -1]) {
      view.setInt32(at, word, true);
      at += 4;
    }
    for (const { pc, instruction } of branch === undefined ? b.items : [...b.items, branch]) {
      key.set(image.subarray(pc, pc + instruction.size), at);
      at += instruction.size;
    }
  });
  return key.subarray(0, at);
}

/** Operations that a module leaves to the interpreter, by block. */
type Interpreted = readonly (readonly string[])[];

/** A module as a cache keeps it. */
export function packModule(bytes: Uint8Array, interpreted: Interpreted): Uint8Array {
  const facts = new TextEncoder().encode(JSON.stringify(interpreted));
  const packed = new Uint8Array(4 + facts.length + bytes.length);
  new DataView(packed.buffer).setUint32(0, facts.length, true);
  packed.set(facts, 4);
  packed.set(bytes, 4 + facts.length);
  return packed;
}

/** The reverse; undefined when it does not belong to that many blocks. */
export function unpackModule(
  packed: Uint8Array,
  blocks: number,
): { bytes: Uint8Array<ArrayBuffer>; interpreted: Interpreted } | undefined {
  if (packed.length < 4) return undefined;
  const end = 4 + new DataView(packed.buffer, packed.byteOffset, packed.byteLength).getUint32(0, true);
  if (end > packed.length) return undefined;
  const interpreted = JSON.parse(new TextDecoder().decode(packed.subarray(4, end))) as Interpreted;
  return interpreted.length === blocks ? { bytes: new Uint8Array(packed.subarray(end)), interpreted } : undefined;
}
