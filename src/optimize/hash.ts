// The name of content.
import { createHash } from 'node:crypto';

/** SHA-256 in hexadecimal digits. */
export const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');
