// A capture written again with some of it changed: pages and code are taken over, the manifest is new.
import type { Capture } from './capture.ts';
import { pageIds } from './capture.ts';
import { codeName, FolderWriter } from './files.ts';
import type { Manifest } from './manifest.ts';
import { PageWriter } from './pages.ts';
import { finishCapture, type WriteOptions } from './writer.ts';

/**
 * Writes `capture` to `path` with the members of the manifest that `change` gives; it may store further pages. Pages that nothing names any more
 * are left out. Gives the manifest's hash.
 */
export function rewriteCapture(
  capture: Capture,
  path: string,
  options: WriteOptions,
  change: (pages: PageWriter) => Partial<Manifest> = () => ({}),
): string {
  const code = capture.codeObject();
  const writer = new FolderWriter(path, options.replace === true);
  try {
    writer.write(codeName(capture.manifest.code.sha256), code);
    const pages = new PageWriter(writer);
    const manifest: Manifest = { ...capture.manifest, ...change(pages) };
    const named = pageIds(manifest);
    for (const id of named)
      if (!pages.pages.has(id)) pages.store(capture.pages.page(id, capture.stored.get(id)?.bytes ?? 0));
    for (const id of pages.pages.keys()) if (!named.has(id)) pages.drop(id);
    return finishCapture(writer, manifest, pages.pages, options.zip === true);
  } catch (error) {
    writer.abandon();
    throw error;
  }
}
