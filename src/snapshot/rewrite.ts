// A capture written again with some of it changed: pages and code are taken over, the manifest is new.
import type { Capture } from './capture.ts';
import { pageIds } from './capture.ts';
import { codeName, FolderWriter } from './files.ts';
import type { Manifest } from './manifest.ts';
import { type BasePage, PageWriter } from './pages.ts';
import { finishCapture, type WriteOptions } from './writer.ts';

/**
 * Writes `capture` to `path` with the members of the manifest that `change` gives; it may store further pages, which that manifest names. Pages
 * that nothing names any more are left out. Gives the manifest's hash.
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
    const take = (id: string | undefined, base?: BasePage): BasePage | undefined => {
      if (id === undefined || !named.has(id)) return undefined;
      const bytes = pages.pages.has(id) ? undefined : capture.pages.page(id, capture.stored.get(id)?.bytes ?? 0);
      if (bytes === undefined) return undefined;
      pages.store(bytes, base);
      return { id, bytes };
    };
    for (const { pre, post } of manifest.memory.chunks) take(post, take(pre));
    for (const id of named) take(id);
    return finishCapture(writer, manifest, pages.pages, options.zip === true);
  } catch (error) {
    writer.abandon();
    throw error;
  }
}
