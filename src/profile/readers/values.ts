// Turning text cells into numbers without losing what was wrong with them.

/** A decimal number, or undefined when the text is not exactly one. */
export function number(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  // Number() also takes spaces around and 0x in front; a profiler writes neither.
  const ok = text.charCodeAt(0) > 0x20 && text.charCodeAt(text.length - 1) > 0x20 && text.charCodeAt(1) < 0x58;
  return ok || text.length === 1 || (text.charCodeAt(1) | 0x20) === 0x65 ? value : undefined;
}

/** A counter's value: a number, which spreadsheets may have given thousands separators ("131,086"). */
export function amount(text: string | undefined): number | undefined {
  const value = number(text);
  if (value !== undefined || text === undefined) return value;
  return /^-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$/.test(text) ? number(text.replaceAll(',', '')) : undefined;
}

/** Whether a cell says that there is no value: empty, or what pandas writes. */
export function isEmptyCell(text: string | undefined): boolean {
  return text === undefined || /^(nan|)$/i.test(text);
}

/** A count or id: a number, else -1. */
export function count(text: string | undefined): number {
  const value = number(text);
  return value === undefined || value < 0 || value > Number.MAX_SAFE_INTEGER ? -1 : value;
}

/** The kernel's name without the descriptor suffixes that some tools keep. */
export function kernelName(text: string): string {
  return text.replace(/(?: \[clone \.kd\]| \(\.kd\)|\.kd)$/, '');
}
