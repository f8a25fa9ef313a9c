// The bytes of a kernel's code, whether or not its symbol has a size.
import type { CodeObject, Kernel } from '../codeobject/index.ts';

/**
 * From the entry to the end of the function by its symbol; without a size to the next kernel's entry or the section's end.
 * Undefined when the entry is in no section.
 */
export function kernelCode(codeObject: CodeObject, kernel: Kernel): Uint8Array | undefined {
  const { entry, codeSize } = kernel;
  if (entry === undefined) return undefined;
  const section = codeObject.elf.sections.find(
    (s) => (s.flags & 4n) !== 0n && entry >= s.address && entry < s.address + s.bytes.length,
  );
  if (section === undefined) return undefined;
  const start = entry - section.address;
  if (codeSize !== 0) return section.bytes.subarray(start, start + codeSize);
  let end = section.bytes.length;
  for (const other of codeObject.kernels) {
    const at = other.entry === undefined ? 0 : other.entry - section.address;
    if (at > start && at < end) end = at;
  }
  return section.bytes.subarray(start, end);
}
