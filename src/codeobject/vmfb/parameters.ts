// The parameters that an IREE module loads from outside: scope, key and the bytes it wants, from the constant tables of its
// `io_parameters` calls. Source: IREE's runtime/src/iree/modules/io/parameters/module.c (key table, key data, spans).
import { ByteReader, WavesmithError } from '../../base/index.ts';
import { type Value, visitHostProgram } from './propagate.ts';
import type { Vmfb } from './vmfb.ts';

/** One parameter. */
export interface VmfbParameter {
  /** Empty for the unnamed scope. */
  readonly scope: string;
  readonly key: string;
  /** Bytes the archive must hold under this key at least. */
  readonly bytes: number;
}

const KEY_ENTRY = 8;
const SPAN = 24;
const MOST_KEYS = 1 << 20;

/** True when the module needs parameter archives. */
export function needsParameters(vmfb: Vmfb): boolean {
  return vmfb.importedFunctions.some((name) => name.startsWith('io_parameters.'));
}

/** The parameters whose tables are constants, in the order of the program; nothing for bytecode that is not known. */
export function readParameters(vmfb: Vmfb): VmfbParameter[] {
  const found = new Map<string, VmfbParameter>();
  const bytesOf = (value: Value | undefined): Uint8Array | undefined =>
    value?.kind === 'rodata' ? vmfb.rodata[value.index]?.bytes : undefined;
  try {
    visitHostProgram(vmfb, {}, () => (i, state, program) => {
      if (!i.mnemonic.startsWith('call') || !(program.importName(i) ?? '').startsWith('io_parameters.')) return;
      const values = program.operands(i, state);
      if (values === undefined || values.length < 5) return;
      const [table, keys, spans] = values.slice(-3).map(bytesOf);
      if (table === undefined || keys === undefined || spans === undefined) return;
      const scope = textOf(bytesOf(values[4]) ?? new Uint8Array());
      for (const { key, bytes } of readTables(table, keys, spans)) {
        const id = JSON.stringify([scope, key]);
        found.set(id, { scope, key, bytes: Math.max(bytes, found.get(id)?.bytes ?? 0) });
      }
    });
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
  }
  return [...found.values()];
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0+$/, '');

function* readTables(
  table: Uint8Array,
  keys: Uint8Array,
  spans: Uint8Array,
): Generator<{ key: string; bytes: number }> {
  const count = Math.min(Math.floor(table.length / KEY_ENTRY), Math.floor(spans.length / SPAN), MOST_KEYS);
  const [entries, texts, ranges] = [table, keys, spans].map(
    (bytes) => new ByteReader(bytes, 'parameter table', 'vmfb/truncated'),
  );
  for (let n = 0; n < count; n++) {
    const key = texts.slice(entries.u32(n * KEY_ENTRY), entries.u32(n * KEY_ENTRY + 4));
    const offset = ranges.u64AsNumber(n * SPAN);
    yield { key: textOf(key), bytes: offset + ranges.u64AsNumber(n * SPAN + 16) };
  }
}
