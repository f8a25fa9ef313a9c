// A watched variable belongs to the call of the function in which it was watched: another function's variable of that name is not it, and
// neither is it where that function has its frame not yet or no more.
import type { DebugRegister, DebugVariable } from '../../../codeobject/index.ts';
import type { Wave } from '../state/wave.ts';
import type { ScopeSource, SelectedFrame } from './scope-source.ts';

/** A call of a function. */
export interface WatchedFrame {
  readonly key: number;
  /** Calls that have not returned, its own included. */
  readonly depth: number;
  /** The register that its variables in scratch are relative to, and what it holds. */
  readonly base: { readonly register: DebugRegister; readonly value: number } | undefined;
}

/** A source that notes whether variables of a function were read. */
export function noting(source: ScopeSource): { readonly source: ScopeSource; readonly isAsked: () => boolean } {
  let asked = false;
  const noted = (variable: DebugVariable): DebugVariable => ({
    ...variable,
    place: (address) => {
      asked ||= !variable.isGlobal;
      return variable.place(address);
    },
  });
  const { info } = source;
  const value = info && {
    ...info,
    variables: (at: number, inlined?: number) => info.variables(at, inlined).map(noted),
  };
  return { source: Object.create(source, { info: { value } }) as ScopeSource, isAsked: () => asked };
}

function withFrame(source: ScopeSource, selectedFrame: (w: Wave) => SelectedFrame | undefined): ScopeSource {
  return Object.create(source, { selectedFrame: { value: selectedFrame } }) as ScopeSource;
}

/** The call whose variables are meant now; undefined without debug information. */
export function frameToWatch(w: Wave, source: ScopeSource): WatchedFrame | undefined {
  const frame = source.selectedFrame?.(w);
  const key = frame === undefined ? undefined : source.info?.frames(frame.pc)[frame.inlined]?.key;
  if (frame === undefined || key === undefined) return undefined;
  const places = source.info?.variables(frame.pc, frame.inlined).map((v) => v.place(frame.pc)) ?? [];
  const register = places.flatMap((place) => (place.kind === 'scratch' ? [place.base] : []))[0];
  const base = register?.file === 's' ? { register, value: scalar(w, frame, register) } : undefined;
  return { key, depth: frame.depth, base };
}

const scalar = (w: Wave, frame: SelectedFrame, { index }: DebugRegister): number =>
  (frame.scalars ?? w.sgprs)[index] as number;

/** A source that means that call; undefined where the wave is not in it. */
export function sourceOfFrame(
  w: Wave,
  source: ScopeSource,
  { key, depth, base }: WatchedFrame,
): ScopeSource | undefined {
  const frame = source.frameOfKey?.(w, key, depth);
  if (frame === undefined) return undefined;
  if (base !== undefined && scalar(w, frame, base.register) !== base.value) return undefined;
  return withFrame(source, () => frame);
}
