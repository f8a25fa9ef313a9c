// Places in instrumented code as places of the original: what happens there is told where its author knows it.
import { DeviceFault } from '../device/index.ts';
import type { Place } from '../finding/index.ts';
import type { PcMap } from '../rewrite/index.ts';
import type { ProbeProgram } from './view.ts';

/** A fault of instrumented code at the place of the original that it stands with; any other error as it is. */
export function atOriginal(error: unknown, pcs: PcMap): unknown {
  if (!(error instanceof DeviceFault) || error.position.pc === undefined) return error;
  const place = pcs.original(error.position.pc);
  if (place === undefined) return error;
  const hint = place.isInserted
    ? `This is code of the probe, at this instruction. ${error.hint ?? ''}`.trim()
    : error.hint;
  return new DeviceFault(error.code, error.message, error.fault, {
    ...error.position,
    pc: place.pc,
    hint,
    cause: error,
  });
}

/** A place in instrumented code as the place of the original that it stands with. */
export function placeAtOriginal(
  place: Place,
  { pcs, program }: { readonly pcs: PcMap; readonly program: ProbeProgram },
): Place {
  const found = place.pc === undefined ? undefined : pcs.original(place.pc);
  if (found === undefined) return place;
  const one = program.at(found.pc);
  return {
    ...place,
    pc: found.pc,
    instruction: found.isInserted ? place.instruction : (one?.text ?? place.instruction),
    source: one?.source ?? place.source,
  };
}
