// A copy of a project's folder that nothing leads out of: what is written in the copy is written to no file of the user.
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { WavesmithError } from '../../base/index.ts';

const MAX_BYTES = 2 ** 31;
/** Links that lead out of a folder that a link led to, and so on. */
const MAX_DEPTH = 8;
/** What cmake and meson leave in a folder that they configured. Its build files lead to that place by absolute paths. */
const CONFIGURED = ['CMakeCache.txt', 'meson-private'];
const WRITABLE = 0o200;

/**
 * Copies a folder to a place that is not there yet. Symbolic links within the folder stay links, to what they mean in the copy; behind others what they
 * name is copied; those that lead nowhere are left out. Everything may be written. Gives the folders that were configured by cmake or meson and so left out; `''` is the whole one.
 */
export function copyTree(folder: string, tree: string): string[] {
  const leftOut: string[] = [];
  let bytes = 0;
  const copy = (from: string, to: string): void =>
    cpSync(from, to, {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => {
        const found = statSync(path, { throwIfNoEntry: false });
        if (found?.isDirectory() === true && CONFIGURED.some((name) => existsSync(join(path, name)))) {
          leftOut.push(relative(folder, path));
          return false;
        }
        if (found?.isFile() === true) bytes += found.size;
        if (bytes > MAX_BYTES) {
          throw new WavesmithError('optimize/too-large', `'${folder}' has more than 2 GiB.`, {
            file: folder,
            hint: 'Start in the folder of the program, or name it with --project.',
          });
        }
        return found === undefined || found.isFile() || found.isDirectory();
      },
    });
  try {
    copy(folder, tree);
    if (existsSync(tree)) {
      const real = { folder: realpathSync(folder), tree: realpathSync(tree), copy, made: new Map<string, string>() };
      settle(real, real.tree, real.folder, 0);
    }
  } catch (cause) {
    if (cause instanceof WavesmithError) throw cause;
    throw new WavesmithError(
      'optimize/copy',
      `'${folder}' cannot be copied to '${tree}': ${(cause as Error).message}.`,
      {
        file: folder,
        hint: 'The copy needs as much room as the folder, in the folder for temporary files (TMPDIR), and must be able to read all of it.',
        cause,
      },
    );
  }
  return leftOut;
}

interface Copy {
  /** The folder and its copy, by their real paths. */
  readonly folder: string;
  readonly tree: string;
  readonly copy: (from: string, to: string) => void;
  /** Where in the copy that lies which links led to out of the folder. */
  readonly made: Map<string, string>;
}

/** Makes what was copied from `origin` to `path` writable, and lets no link in it lead out of the copy. `depth`: links behind which it lies. */
function settle(of: Copy, path: string, origin: string, depth: number): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) {
    settleLink(of, path, origin, depth);
    return;
  }
  if ((found.mode & WRITABLE) === 0) chmodSync(path, found.mode | WRITABLE);
  if (!found.isDirectory()) return;
  for (const name of readdirSync(path)) settle(of, join(path, name), join(origin, name), depth);
}

function settleLink(of: Copy, path: string, origin: string, depth: number): void {
  const { folder, tree, copy, made } = of;
  let target: string | undefined;
  try {
    target = realpathSync(origin);
  } catch {
    // It leads nowhere, or in a circle.
  }
  rmSync(path);
  if (target === undefined || depth === MAX_DEPTH) return;
  const inside = isWithin(folder, target) ? join(tree, relative(folder, target)) : made.get(target);
  if (inside !== undefined) {
    symlinkSync(relative(dirname(path), inside) || '.', path);
  } else if (!isWithin(target, folder)) {
    made.set(target, path);
    copy(target, path);
    if (existsSync(path)) settle(of, path, target, depth + 1);
  }
}

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);
