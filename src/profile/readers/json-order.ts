// The members of rocprofv3's JSON in the order in which a reader needs them: what describes the machine, kernels and counters of a process before its
// records. rocprofv3 writes them so; scripts sort them by name (`jq -S`), and then the file is read twice.
import type { ByteSource } from '../source.ts';
import { type Json, streamJson } from './json-stream.ts';

/** What describes a process, in that order. */
const DESCRIBING = ['metadata', 'agents', 'counters', 'kernel_symbols', 'strings'] as const;
const RECORDS = ['callback_records.counter_collection.*', 'buffer_records.*.*'];
/** Lists of many parts, which are handed over one by one. */
const LISTS: ReadonlySet<string> = new Set(['agents', 'counters', 'kernel_symbols']);

type OnMember = (section: string, kind: string, value: Json) => void;

/** Hands over the members of each process below `root`; objects and lists may be used again behind the call. */
export function readInOrder(source: ByteSource, root: string, onMember: OnMember): void {
  const describing = DESCRIBING.map((name) => `${root}.*.${name}${LISTS.has(name) ? '.*' : ''}`);
  const records = RECORDS.map((name) => `${root}.*.${name}`);
  // Path: root, rocprofiler-sdk-tool, process index, section[, list].
  if (isInOrder(source)) {
    streamJson(source, [...describing, ...records], (path, value) => onMember(String(path[3]), String(path[4]), value));
    return;
  }
  const parts = new Map<unknown, { readonly section: string; readonly kind: string; readonly value: Json }[]>();
  streamJson(source, describing, (path, value) => {
    const part = parts.get(path[2]) ?? [];
    parts.set(path[2], part);
    part.push({ section: String(path[3]), kind: String(path[4]), value: structuredClone(value) });
  });
  let now: unknown;
  const begin = (index: unknown): void => {
    now = index;
    const part = parts.get(index) ?? [];
    for (const name of DESCRIBING)
      for (const { section, kind, value } of part) if (section === name) onMember(section, kind, value);
    parts.delete(index);
  };
  streamJson(source, records, (path, value) => {
    if (path[2] !== now) begin(path[2]);
    onMember(String(path[3]), String(path[4]), value);
  });
  for (const index of [...parts.keys()]) begin(index);
}

/** Bytes at the beginning that have the name of the first member. */
const HEAD = 256;

/** Whether a process begins with its metadata, as rocprofv3 writes it. */
function isInOrder(source: ByteSource): boolean {
  const head = new TextDecoder().decode(source.read(0, HEAD));
  return !/^\W*"[^"]*"\s*:\s*\[\s*\{\s*"(?!metadata")/.test(head);
}
