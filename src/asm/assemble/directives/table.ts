// Room `asm/assemble/directives`: what each directive does: a function per directive, in one table.
// Begin with this file, then any of the files it names; kernel.ts holds `.amdhsa_kernel`, the longest.
//
// The directive table. Names in DIRECTIVES are matched exactly, those in GENERIC_DIRECTIVES in any case, as in LLVM.
import { DATA_DIRECTIVES } from './data.ts';
import { DEBUG_DIRECTIVES } from './debug.ts';
import type { DirectiveHandler } from './handler.ts';
import { MISC_DIRECTIVES } from './misc.ts';
import { SECTION_DIRECTIVES } from './section.ts';
import { GENERIC_SYMBOL_DIRECTIVES, SYMBOL_DIRECTIVES } from './symbol.ts';
import { TARGET_DIRECTIVES } from './target.ts';

function table(...groups: Readonly<Record<string, DirectiveHandler>>[]): ReadonlyMap<string, DirectiveHandler> {
  const map = new Map<string, DirectiveHandler>();
  for (const group of groups) {
    for (const [name, handler] of Object.entries(group)) {
      if (map.has(name)) throw new Error(`directive '${name}' is in the table twice`);
      map.set(name, handler);
    }
  }
  return map;
}

/** Directives of the target and of ELF. */
export const DIRECTIVES = table(TARGET_DIRECTIVES, SECTION_DIRECTIVES, SYMBOL_DIRECTIVES);

/** Directives of the generic parser. */
export const GENERIC_DIRECTIVES = table(DATA_DIRECTIVES, DEBUG_DIRECTIVES, MISC_DIRECTIVES, GENERIC_SYMBOL_DIRECTIVES);
