// What another command (probe, dap) has to say in a run of a kernel.
import type { CodeObject } from '../codeobject/index.ts';
import type { DebugLeader } from '../device/sim/debug/index.ts';
import type { Place } from '../finding/index.ts';

/** Another command's part in a run. */
export interface RunExtension {
  /** The code object to run instead of the linked one that was asked for. */
  replace?(codeObject: CodeObject, kernel: string): CodeObject;
  /** Where a place of the code that ran is told to be. */
  place?(place: Place): Place;
  /** Called when the kernel has ended, with a reader of its image by the addresses of the file. */
  ended?(image: (address: number, size: number) => Uint8Array, contents: readonly Uint8Array[]): void;
  /** Prints instead of the run: what `--json` and the text would say. */
  print?(record: Readonly<Record<string, unknown>>, text: () => string): void;
  /** Leads the debugger in the place of a terminal. */
  readonly leader?: DebugLeader;
  /** Where text goes instead of standard output. */
  write?(text: string): void;
}
