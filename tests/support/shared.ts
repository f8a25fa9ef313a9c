// The optional reference data beside the checkout. Tests that need it skip with a message when it is absent.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Beside the checkout: of this file, or of the working directory when a tool runs bundled elsewhere.
const here = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), '..', 'shared');
const shared = existsSync(here) ? here : join(process.cwd(), '..', 'shared');

/** The path of a file or folder of the reference data, or undefined (with a message, once per path) when absent. */
export function sharedPath(...parts: string[]): string | undefined {
  const path = join(shared, ...parts);
  if (existsSync(path)) return path;
  console.warn(`skipped: reference data '../shared/${parts.join('/')}' is not beside this checkout.`);
  return undefined;
}
