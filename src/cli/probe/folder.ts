// `wavesmith probe FOLDER -o OUT`: a probe in every code object of a hijack folder, the edited one where the folder was built with edits.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { modifiedPath, readCode } from '../../hijack/build.ts';
import { isProgramFolder, readProgramManifest } from '../../hijack/manifest.ts';
import { makeFolder, readInput } from '../support.ts';

/** A code object of a folder, and where the instrumented one goes. */
export interface FolderCode {
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly output: string;
}

/** Whether a target is a folder that is no capture. What is wrong with a hijack folder is said when it is read. */
export function isHijackFolder(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true || path.includes('.wscap')) return false;
  const manifest = join(path, 'manifest.json');
  return !existsSync(manifest) || !/"format"\s*:\s*"wscap"/.test(readFileSync(manifest, 'utf8'));
}

/** The code objects of a hijack folder. Errors: `cli/usage` for one of an IREE module, those of reading the folder. */
export function folderCodes(folder: string, output: string): readonly FolderCode[] {
  if (!isProgramFolder(folder)) {
    throw new WavesmithError(
      'cli/usage',
      `'${folder}' was made from an IREE module, whose kernels are probed where they run.`,
      {
        hint: 'wavesmith probe --tool NAME -- iree-run-module --module=FILE.vmfb …',
      },
    );
  }
  const codes = readProgramManifest(folder).executables.map((entry): FolderCode => {
    const edited = modifiedPath(folder, entry);
    const isEdited = existsSync(edited);
    return {
      file: isEdited ? edited : join(folder, entry.code),
      bytes: isEdited ? readInput(edited) : readCode(folder, entry),
      output: join(output, `${entry.name}.co`),
    };
  });
  makeFolder(output);
  return codes;
}
