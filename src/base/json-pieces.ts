// JSON of large values piece by piece: the text is never in memory as a whole.

/** From this many members on, a list is written member by member. */
const MANY = 8;
/** So many members of a long list are one piece where its members are not written one by one: names of 200 bytes make 70 kB, and pieces of a
 * megabyte left 80 MB of large objects behind. */
const SLICE = 1 << 8;

/**
 * The text that JSON.stringify gives for a value made of plain objects, lists, text, numbers, booleans and null, in pieces: the members of the
 * two outer levels. `indent` is the number of spaces of each level, 0 for a text without line ends.
 */
export function jsonPieces(value: unknown, indent = 0): Generator<string> {
  return pieces(value, '\n', indent, 2);
}

function* pieces(value: unknown, margin: string, indent: number, levels: number): Generator<string> {
  const isList = Array.isArray(value);
  if (levels === 0 && isList && value.length > SLICE) {
    yield* slices(value, margin, indent);
    return;
  }
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const members = isList ? entries : entries.filter(([, member]) => member !== undefined);
  if (levels === 0 || members.length === 0 || (isList && members.length < MANY)) {
    const text = JSON.stringify(value, null, indent) ?? 'null';
    yield indent === 0 || margin === '\n' ? text : text.replaceAll('\n', margin);
    return;
  }
  const inner = indent === 0 ? '' : margin + ' '.repeat(indent);
  let before = isList ? '[' : '{';
  for (const [name, member] of members) {
    yield before + inner + (isList ? '' : `${JSON.stringify(name)}:${indent === 0 ? '' : ' '}`);
    yield* pieces(member, inner, indent, levels - 1);
    before = ',';
  }
  yield (indent === 0 ? '' : margin) + (isList ? ']' : '}');
}

function* slices(list: readonly unknown[], margin: string, indent: number): Generator<string> {
  for (let at = 0; at < list.length; at += SLICE) {
    const text = JSON.stringify(list.slice(at, at + SLICE), null, indent);
    // Without the brackets, and the line end before the second one.
    const members = text.slice(1, indent === 0 ? -1 : -2).replaceAll('\n', margin);
    yield (at === 0 ? '[' : ',') + members;
  }
  yield (indent === 0 ? '' : margin) + ']';
}
