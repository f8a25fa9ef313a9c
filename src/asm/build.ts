// From source to file: a relocatable object or a loadable code object, errors as one exception with all diagnostics.
import { WavesmithError } from '../base/index.ts';
import type { ObjectModel } from '../codeobject/elf/object-model.ts';
import { writeObject } from '../codeobject/elf/write.ts';
import { link } from '../codeobject/link/link.ts';
import { assemble } from './assemble/assemble.ts';
import type { AssembleOptions } from './assemble/options.ts';
import { type Diagnostic, formatDiagnostic } from './assemble/source.ts';

/** The source has errors. The message is the first one; `diagnostics` has all, warnings included. */
export class AssemblyError extends WavesmithError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((d) => d.severity === 'error');
    const first = errors[0];
    super('asm/errors', first === undefined ? 'The source could not be assembled.' : first.message, {
      file: first?.file,
      line: first?.line,
      column: first?.column,
      hint: errors.length > 1 ? `${errors.length - 1} more errors follow.` : undefined,
    });
    this.name = 'AssemblyError';
    this.diagnostics = diagnostics;
  }

  /** All diagnostics as LLVM prints them. */
  formatAll(): string {
    return this.diagnostics.map(formatDiagnostic).join('');
  }
}

function objectOf(source: string | Uint8Array, options: AssembleOptions): ObjectModel {
  const { object, diagnostics } = assemble(source, options);
  if (object === undefined) throw new AssemblyError(diagnostics);
  return object;
}

/** Assembles to the bytes of a relocatable object; throws `AssemblyError`. */
export function assembleToObject(source: string | Uint8Array, options: AssembleOptions = {}): Uint8Array {
  return writeObject(objectOf(source, options));
}

/** Assembles and links to the bytes of a loadable code object; throws `AssemblyError`. */
export function assembleAndLink(source: string | Uint8Array, options: AssembleOptions = {}): Uint8Array {
  return link([objectOf(source, options)]);
}
