// Close matches of a misspelt mnemonic, as LLVM's assembler and `wavesmith isa` offer them.
// Source: the spell checker AsmMatcherEmitter.cpp generates (insertions and deletions, at most two).

const MAX_DISTANCE = 2;

let before = new Uint8Array(80);
let now = new Uint8Array(80);

/** Insertions and deletions that turn `a` into `b`, at most `limit + 1`. Only cells that can stay within the limit are computed. */
export function editDistance(a: string, b: string, limit = MAX_DISTANCE): number {
  const far = limit + 1;
  if (Math.abs(a.length - b.length) > limit) return far;
  if (b.length + far >= before.length) {
    before = new Uint8Array(2 * (b.length + far));
    now = new Uint8Array(2 * (b.length + far));
  }
  for (let j = 0; j <= limit + 1; j++) before[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const first = Math.max(0, i - limit);
    const last = Math.min(b.length, i + limit);
    const c = a.charCodeAt(i - 1);
    let best = far;
    if (first > 0) now[first - 1] = far;
    for (let j = first; j <= last; j++) {
      let value = i;
      if (j > 0) {
        value = c === b.charCodeAt(j - 1) ? before[j - 1] : Math.min(before[j], now[j - 1]) + 1;
      }
      now[j] = value;
      if (value < best) best = value;
    }
    now[last + 1] = far;
    if (best >= far) return far;
    [before, now] = [now, before];
  }
  return Math.min(far, before[b.length]);
}

/** The names within two edits of `name`, sorted. */
export function closeMatches(name: string, names: readonly string[], limit = MAX_DISTANCE): string[] {
  return names.filter((n) => editDistance(name, n, limit) <= limit).sort();
}

/** `, did you mean: a, b?` or nothing. */
export function suggestions(name: string, table: { names(): string[] }): string {
  if (name.length > 64) return '';
  const close = closeMatches(name, table.names());
  return close.length === 0 ? '' : `, did you mean: ${close.join(', ')}?`;
}
