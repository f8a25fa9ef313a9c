// Objects whose keys come from outside.

/** An object whose keys come from outside: `__proto__` is a key like any other. */
export function plainRecord<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.fromEntries(entries);
}
