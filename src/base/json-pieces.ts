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
    yield textAt(value, margin, indent);
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

/** The text of a value whose lines begin with a margin. */
function textAt(value: unknown, margin: string, indent: number): string {
  const depth = indent === 0 ? 0 : (margin.length - 1) / indent;
  if (depth === 0) return JSON.stringify(value, null, indent) ?? 'null';
  // In as many lists JSON.stringify makes the margin itself, in a third of the time that it takes to put it in behind.
  let nested = value;
  for (let level = 0; level < depth; level++) nested = [nested];
  const text = JSON.stringify(nested, null, indent);
  // Each list begins and ends with a bracket, a line end and the spaces of the line behind it.
  const brackets = 2 * depth + (indent * depth * (depth - 1)) / 2;
  return text.slice(brackets + indent * depth, text.length - brackets);
}

function* slices(list: readonly unknown[], margin: string, indent: number): Generator<string> {
  for (let at = 0; at < list.length; at += SLICE) {
    const text = textAt(list.slice(at, at + SLICE), margin, indent);
    // Without the brackets, and the line end before the second one.
    yield (at === 0 ? '[' : ',') + text.slice(1, indent === 0 ? -1 : -1 - margin.length);
  }
  yield (indent === 0 ? '' : margin) + ']';
}
