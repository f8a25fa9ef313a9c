// Places of findings in a program.
import type { Place, RelatedPlace } from '../finding/index.ts';
import type { Program } from '../program/index.ts';

/** The instruction at an address. */
export function placeAt(program: Program, pc: number): Place {
  return { pc, instruction: program.text(pc) };
}

/** Another instruction of a finding, and what it has to do with it. */
export function relatedAt(program: Program, pc: number, role: string): RelatedPlace {
  return { role, place: placeAt(program, pc) };
}
