// What the generated messages share.
import type { ByteWriter } from '../base/index.ts';

/** u32 length and UTF-8 bytes. */
export function putText(w: ByteWriter, text: string): void {
  const bytes = new TextEncoder().encode(text);
  w.u32(bytes.byteLength).raw(bytes);
}
