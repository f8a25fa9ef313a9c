// What looks at the bytes of an access have in common.
import type { Frame, Transfer } from '../../wasm/memory/index.ts';

/** A transfer that moves nothing: `note` looks at bytes. */
export function looking(
  bytes: number,
  isWrite: boolean,
  key: string,
  parameters: number,
  note: (f: Frame, a: number, offset: number, count: number) => void,
  prologue: (f: Frame) => void,
): Transfer {
  return {
    key: `strict.${key}`,
    bytes,
    write: isWrite,
    parameters,
    piece: Math.min(4, bytes),
    pieces: Math.max(1, bytes / 4),
    prologue,
    wave: (f, a, count) => note(f, a, 0, count),
    contiguous: (f, a) => note(f, a, 0, 4 * bytes),
    scattered: (f, addresses) => {
      for (const a of addresses) note(f, a, 0, bytes);
    },
    ...(isWrite || bytes < 4 ? {} : { broadcast: (f: Frame, a: number) => note(f, a, 0, bytes) }),
    move: (f, _, a, offset) => note(f, a, offset, Math.min(4, bytes)),
    skip: (f) => f.resume(),
    commit: () => {},
  };
}
