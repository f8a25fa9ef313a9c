// Changes of JSON documents for fuzz targets: what a document of outside may have in the place of what it should have.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export const decodedJson = (bytes: Uint8Array | undefined): Json => JSON.parse(new TextDecoder().decode(bytes)) as Json;
export const encodedJson = (json: Json): Uint8Array => new TextEncoder().encode(JSON.stringify(json));

const INTERESTING: readonly Json[] = [
  ...[0, 1, -1, 2, 63, 64, 255, 4096, 65535, 65536, 2 ** 31, 2 ** 32, 2 ** 48, 2 ** 53, 1.5, 1e300],
  ...['', '0x0', '0xffff', '0xffffffffffffffff', '0x480000000000', '../../../etc/passwd', '/etc/passwd', 'zero', 'ff'],
  ...[null, true, false, [], {}, [0, 1, 2], 'f'.repeat(64)],
];

/** Every place of a document: what holds it, and its name there. */
function places(json: Json, out: { readonly of: { [name: string]: Json }; readonly name: string }[] = []): typeof out {
  if (json === null || typeof json !== 'object') return out;
  const of = json as { [name: string]: Json };
  for (const name of Object.keys(of)) {
    out.push({ of, name });
    places(of[name] as Json, out);
  }
  return out;
}

/** One change of a document. */
export function changeJson(json: Json, random: () => number): void {
  const all = places(json);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  if (all.length === 0) return;
  const { of, name } = pick(all);
  const now = of[name] as Json;
  const kind = random();
  if (kind < 0.15) {
    if (Array.isArray(of)) of.splice(Number(name), 1);
    else delete of[name];
  } else if (kind < 0.3) {
    const from = pick(all);
    of[name] = structuredClone(from.of[from.name] as Json);
  } else if (kind < 0.4 && Array.isArray(now)) now.push(structuredClone(pick(now.length > 0 ? now : [0])));
  else if (kind < 0.7 && typeof now === 'number') of[name] = now + pick([1, -1, 4, 64, 4096, 65536, 2 ** 32]);
  else if (kind < 0.7 && typeof now === 'string' && /^0x/.test(now))
    of[name] = `0x${(BigInt(now) + BigInt(pick([1, 4, 64, 4096, 65536, 2 ** 32]))).toString(16)}`;
  else of[name] = structuredClone(pick(INTERESTING));
}

/** Changes one bit. */
export function changeBytes(bytes: Uint8Array, random: () => number): void {
  const at = Math.floor(random() * bytes.length);
  if (bytes.length > 0) bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random() * 8));
}

/** A number that follows from bytes. */
export const seedOf = (bytes: Uint8Array): number =>
  bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5) >>> 0;
