// Fuzz target: debug information of variables: entries, abbreviations, location and range lists, addresses.
import { WavesmithError } from '../../src/base/index.ts';
import { debugInfo, declaration } from '../../src/codeobject/index.ts';

/** Sizes of the sections as u16, then their bytes. */
const SECTIONS = ['info', 'abbrev', 'str_offsets', 'addr', 'loclists', 'rnglists', 'str'];
/** A kernel with a function, a loop and six variables, by clang 22 at -O0 and -O1. */
const SEEDS = [
  [
    '4QCMAEQAIAAAAAAAdgDdAAAABQABCAAAAAABAB0AAQgAAAAAAAAAAgAICAAACAAAAAIDBAQDAOgAAAACkEEEAAIjAAAABAWRBDEWGAYAAiMAAA',
    'AEBZEIMRYYBwACIwAAAAUFkQwxFhgIAAMjAAAAAAYBCAcAAAKQQQUABscEBZEAMRYYBgAGywAAAAQFkQgxFhgJAAbUAAAABAWRDDEWGAwABtQA',
    'AAAFBZEQMRYYDQAH1AAAAAUFkRQxFhgOAAgjAAAABwJ0AwAABQWRGDEWGAgACdQAAAAAAAgjAAAAAQAAAAncAAAACwABAgoHBAABEQElJRMFAy',
    'VyFxAXGyURGxIGcxcAAAIkAAMlPgsLCwAAAy4BERsSBkAYAyU6CzsLJxlJEwAABAUAAhgDJToLOwtJEwAABTQAAhgDJToLOwtJEwAABi4BERsS',
    'BkAYAyU6CzsLJxk2Cz8ZAAAHCwERGxIGAAAIDwBJEzMGAAAJFgBJEwMlOgs7CwAAAEAAAAAFAAAAOQAAAAQAAAAIAAAAcAAAACQAAAAiAAAAKg',
    'AAACwAAABhAAAAAgAAAGMAAAAeAAAAMgAAAAAAAAAuAAAAHAAAAAUACAAAGQAAAAAAAAAaAAAAAAAANBwAAAAAAABpAG4Aay5jAC93b3JrL3d0',
    'L3NjcmF0Y2gvbGVhZAB1MzIAawBzY2FsZQB4AGYAc3VtAHJvdW5kcwBEZWJpYW4gY2xhbmcgdmVyc2lvbiAyMi4xLjggKDF+ZGViMTJ1MSkAcg',
    'B1bnNpZ25lZCBpbnQAZmxvYXQA',
  ].join(''),
  [
    'wgC5AEQAIABrABsAdgC+AAAABQABCAAAAAABAB0AAQgAAAAAAAAAAgCQAQAACAAAAAwAAAAMAAAAAgMEBAMAEAAAAAKQQAQAAgMrAAAABAAGAA',
    'IrAAAABYCAgPgDBwACKwAAAAYBCAADKwAAAAAHAZAAAAAFAAbHCAYABrgAAAAIDQAGrAAAAAgOAAasAAAABgIJAAesAAAABgMMAAgrAAAACQAG',
    'BAgACawAAAAACgiQJJMEkCWTBAIAC7QAAAALAAECCgcEDCsAAAABAAAAAAERASUlEwUDJXIXEBcbJREbEgZzF3QXjAEXAAACJAADJT4LCwsAAA',
    'MuAREbEgZAGHoZAyU6CzsLJxk2C0kTAAAEBQACIgMlOgs7C0kTAAAFBQAcDwMlOgs7C0kTAAAGNAACIgMlOgs7C0kTAAAHLgERGxIGehkDJToL',
    'OwsnGTYLPxkAAAgFAAMlOgs7C0kTAAAJCwFVIwAACkgAhAEYfRsAAAsWAEkTAyU6CzsLAAAMDwBJEzMGAAAAQAAAAAUAAAA5AAAABAAAAAgAAA',
    'BwAAAAJAAAACIAAAAqAAAALAAAAGEAAAAAAAAAYwAAAB4AAAAuAAAAAgAAADIAAAAcAAAABQAIAAAVAAAAAAAAABYAAAAAAABAFgAAAAAAAGcA',
    'AAAFAAgABQAAABQAAAAgAAAALAAAADoAAABTAAAABAAIB5KAFAAxFhgABAgMB5KAFAAxFhgABJAChAMHkoIUADEWGAAEkALEAgUwMRYYnwTEAt',
    'QCB5KBFAAxFhgABJACpAIFMDEWGJ8AFwAAAAUACAABAAAABAAAAASYAqQCBMQC1AIAaQBuAGsuYwAvd29yay93dC9zY3JhdGNoL2xlYWQAdTMy',
    'AGsAc2NhbGUAeABmAHN1bQByb3VuZHMARGViaWFuIGNsYW5nIHZlcnNpb24gMjIuMS44ICgxfmRlYjEydTEpAHIAdW5zaWduZWQgaW50AGZsb2',
    'F0AA==',
  ].join(''),
  // Variables in LDS: three of the kernel, one of a function that is inlined, one of the whole program; 112 bytes.
  [
    '8wDaAFgAGAAAAAAAfQDvAAAABQABCAAAAAABAB0AAQgAAAAAAAAAAgCIAQAACAAAAAIDKwAAAAADAzcAAAAEOwAAAAMABQQFBAYFCAcHAIgBAAAC',
    'kEETAAXHCAaMAAAAAAUICJwAAAAABQgOwAAAAAAFCQWRCDEWGBIABe0AAAAKyAAAAAEoAAAAAAXGCwWRADEWGNQAAAAAAAOYAAAABDsAAAAJAAUH',
    'BAQDqAAAAAQ7AAAAAgAMDRAAAg0JwAAAAAACAA0LxAAAAAACCAAFCgYBBQwECA4PAAQIEN0AAAAABA8SAATtAAAAAAPpAAAABDsAAAAFAAURBQIQ',
    'NwAAAAABEQElJRMFAyVyFxAXGyURGxIGcxcAAAI0AAMlSRM/GToLOwsAAAMBAUkTAAAEIQBJEzcLAAAFJAADJT4LCwsAAAYkAAMlCws+CwAABy4B',
    'ERsSBkAYAyU6CzsLJxk2Cz8ZAAAINAADJUkTOgs7CwAACQUAAhgDJToLOwtJEwAACh0BMRMRGxIGWAtZC1cLAAALBQACGDETAAAMEwEDJQsLOgs7',
    'CwAADQ0AAyVJEzoLOws4CwAADi4BAyU6CzsLJxkgIQEAAA8FAAMlOgs7C0kTAAAQDwBJEwAAAFQAAAAFAAAAMwAAAAIAAAAGAAAAdwAAACMAAABb',
    'AAAAewAAAHEAAAAAAAAACwAAACcAAABvAAAAGgAAACwAAAAxAAAAEQAAAA0AAAAUAAAAIQAAAA8AAAAUAAAABQAIAAAZAAAAAAAA4BkAAAAAAABw',
    'AGsuYwAvdG1wAGMAcwBrAGluAHNob3J0AGRvdWJsZQBvAGludABjaGFyAHBhaXIAZgBEZWJpYW4gY2xhbmcgdmVyc2lvbiAyMi4xLjggKDF+ZGVi',
    'MTJ1MSkAX19BUlJBWV9TSVpFX1RZUEVfXwBkAGZsb2F0AGFsbAB0AA==',
  ].join(''),
];

/** What the descriptor of each kernel says, and how long its code is, which calls nothing. */
const LDS_BYTES = 112;
const CODE_BYTES = 392;
const descriptor = new Uint8Array(64);
descriptor[0] = LDS_BYTES;

/** A kernel at each address of .debug_addr. */
function kernelsAt(addresses: Uint8Array): unknown {
  const words = new DataView(addresses.buffer, addresses.byteOffset, addresses.length & ~7);
  const begins = Array.from({ length: words.byteLength / 8 }, (_, i) => words.getBigUint64(8 * i, true));
  const symbols = begins.flatMap((value, i) => [
    { name: `k${i}.kd`, type: 1, value, size: BigInt(descriptor.length) },
    { name: `k${i}`, type: 2, value, size: BigInt(CODE_BYTES) },
  ]);
  return { symbols, bytesAt: (_: number, size: number) => (size === 64 ? descriptor : new Uint8Array(size)) };
}

export default {
  name: 'debug-info',
  seeds: () => SEEDS.map((text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))),
  run(bytes: Uint8Array): void {
    let at = 2 * SECTIONS.length;
    const sections = SECTIONS.map((name, i) => {
      const size = (bytes[2 * i] ?? 0) | ((bytes[2 * i + 1] ?? 0) << 8);
      const part = bytes.subarray(at, at + size);
      at += size;
      return { name: `.debug_${name}`, flags: 0n, bytes: part };
    });
    const addresses = sections.find(({ name }) => name === '.debug_addr')?.bytes ?? new Uint8Array();
    const info = debugInfo({ sections, ...(kernelsAt(addresses) as object) } as never);
    let found = 0;
    for (const pc of [0x1518, 0x1620, 0x1908, 0x19e8, 0x1c40]) {
      const frames = info?.frames(pc) ?? [];
      for (const frame of frames) {
        for (const name of [frame.name, `a::${frame.name}`]) info?.entries(name);
        frame.signature();
        for (const word of [frame.name, 'u32', 'pair']) {
          info?.typeNamed(word);
          info?.enumerator(word);
          info?.constant(word);
        }
      }
      info?.blockAt(pc);
      for (const { type } of info?.parameters(pc) ?? []) declaration(type, 'x');
      for (let inlined = 0; inlined < Math.max(1, frames.length); inlined++) {
        for (const variable of info?.variables(pc, inlined) ?? []) {
          variable.place(pc);
          found++;
        }
      }
    }
    // The reader gives what it read up to the damage: nothing is its refusal.
    if (found === 0) throw new WavesmithError('run/no-such-place', 'No variable was read.');
  },
};
