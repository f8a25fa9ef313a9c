// Numbers that JSON.parse does not read as they are meant: those that JSON does not have, and integers that a double does not hold.

const BARE = /-?\b(?:nan|inf(?:inity)?)\b/gi;

/** A text with null for each `NaN` and `Infinity` outside its strings. Strings are passed over by hand: they may be too long for a pattern. */
export function withoutBare(text: string): string {
  let mended = '';
  for (let at = 0; ; ) {
    const open = text.indexOf('"', at);
    mended += text.slice(at, open < 0 ? undefined : open).replace(BARE, 'null');
    if (open < 0) return mended;
    at = stringEnd(text, open);
    mended += text.slice(open, at);
  }
}

/** Where the string that begins at `open` has ended; the end of the text where its quote is missing. */
function stringEnd(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let escapes = quote;
    while (text[escapes - 1] === '\\') escapes--;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** A value with the integers that stand in strings: bigint where a double does not hold them. */
export function revived(value: unknown, mark: number): unknown {
  if (typeof value === 'string') {
    if (value.charCodeAt(0) !== mark) return value;
    const exact = BigInt(value.slice(1));
    return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
  }
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  // Nobody reads a member of this name, and writing it would do more than that.
  for (const key in record) if (key !== '__proto__') record[key] = revived(record[key], mark);
  return value;
}
