// Close matches of a misspelt mnemonic, as LLVM's assembler and `wavesmith isa` offer them.
// Source: the spell checker AsmMatcherEmitter.cpp generates (insertions and deletions, at most two).

const MAX_DISTANCE = 2;

/** Insertions and deletions that turn `a` into `b`, at most `limit + 1`. */
export function editDistance(a: string, b: string, limit = MAX_DISTANCE): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const value = same ? previous[j - 1] : Math.min(previous[j], current[j - 1]) + 1;
      current.push(value);
      best = Math.min(best, value);
    }
    if (best > limit) return limit + 1;
    previous = current;
  }
  return previous[b.length];
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
