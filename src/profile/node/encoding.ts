// Text that is not UTF-8: what an editor or a shell of Windows makes of a table when it saves or redirects it.

/**
 * The encoding of a text that begins with `start`, at least four of its bytes: told by its byte order mark, or by the zero bytes beside
 * its first character, which is of ASCII in every table and document of a profiler. Undefined for UTF-8.
 */
export function wideEncoding(start: Uint8Array): 'UTF-16LE' | 'UTF-16BE' | 'UTF-32LE' | 'UTF-32BE' | undefined {
  const [a, b, c, d] = start;
  if (d === undefined) return undefined;
  if (a === 0 && b === 0 && ((c === 0xfe && d === 0xff) || (c === 0 && d !== 0))) return 'UTF-32BE';
  if (c === 0 && d === 0 && ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0))) return 'UTF-32LE';
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && c === 0)) return 'UTF-16BE';
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0 && c !== 0 && d === 0)) return 'UTF-16LE';
  return undefined;
}
