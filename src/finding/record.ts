// A finding as `--json` prints it: itself, and beside it what most readers look for, flat.
import type { Finding } from './finding.ts';
import type { Place, RelatedPlace } from './place.ts';

/** The place of a finding, flat. */
export interface FlatPlace {
  readonly pc: number | undefined;
  readonly instruction: string | undefined;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly other: (Pick<RelatedPlace, 'workgroup' | 'wavefront'> & Pick<Place, 'pc' | 'instruction'>) | undefined;
}

/** The finding with `pc`, `instruction`, `file` and `line` of its place, and the first other instruction as `other`. */
export function findingRecord<F extends Finding>(finding: F): F & FlatPlace {
  const { place, related } = finding;
  const other = related.find((r) => r.place.instruction !== undefined);
  return {
    ...finding,
    pc: place.pc,
    instruction: place.instruction,
    file: place.source?.file ?? place.file,
    line: place.source?.line,
    other: other && {
      pc: other.place.pc,
      instruction: other.place.instruction,
      workgroup: other.workgroup,
      wavefront: other.wavefront,
    },
  };
}
