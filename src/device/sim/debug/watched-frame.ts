// A watched variable belongs to the call of the function in which it was watched: another function's variable of that name is not it, and
// neither is it where that function has its frame not yet or no more.
import { WavesmithError } from '../../../base/index.ts';
import type { DebugRegister, DebugVariable } from '../../../codeobject/index.ts';
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import type { Expression, Scope } from './expression.ts';
import { scopeOf } from './scope.ts';
import type { ScopeSource, SelectedFrame } from './scope-source.ts';
import type { Operand } from './typed.ts';

/** A call of a function. */
export interface WatchedFrame {
  readonly key: number;
  /** Calls that have not returned, its own included. */
  readonly depth: number;
  /** Where it is, of variables that are in the same place in every call: those in LDS, and of the whole program. */
  readonly fixed: SelectedFrame | undefined;
  /** The register that its variables in scratch are relative to, and what it holds. */
  readonly base: { readonly register: DebugRegister; readonly value: number } | undefined;
  /** The variables that it reads, by their names: others of these, of blocks inside of theirs, are not meant. */
  readonly variables: ReadonlyMap<string, DebugVariable>;
}

interface Noting {
  readonly source: ScopeSource;
  /** Whether variables of a function were read, whether some of them are in places of the call, and which they are. */
  readonly asked: { ofFunction: boolean; ofCall: boolean; readonly variables: Map<string, DebugVariable> };
}

/** A source that notes which variables of a function are read. */
function noting(source: ScopeSource): Noting {
  const asked: Noting['asked'] = { ofFunction: false, ofCall: false, variables: new Map() };
  const noted = (variable: DebugVariable): DebugVariable => ({
    ...variable,
    place: (address, kernel) => {
      const place = variable.place(address, kernel);
      asked.ofFunction ||= !variable.isGlobal;
      asked.ofCall ||= !variable.isGlobal && place.kind !== 'lds' && place.kind !== 'global';
      asked.variables.set(variable.name, variable);
      return place;
    },
  });
  const { info } = source;
  const value = info && {
    ...info,
    variables: (at: number, inlined?: number) => info.variables(at, inlined).map(noted),
  };
  return { source: Object.create(source, { info: { value } }) as ScopeSource, asked };
}

function withFrame(source: ScopeSource, selectedFrame: (w: Wave) => SelectedFrame | undefined): ScopeSource {
  return Object.create(source, { selectedFrame: { value: selectedFrame } }) as ScopeSource;
}

const IN_MEMORY: readonly string[] = ['scratch', 'lds', 'global', 'constant'];

/**
 * Whether an expression can only change by instructions that write memory: it reads variables that are in memory wherever the wave is, and no registers.
 * What it is then need not be asked behind others.
 */
export function changesByStores(
  expression: Expression,
  w: Wave | undefined,
  lane: number,
  source: ScopeSource,
): boolean {
  const { info } = source;
  let isInMemory = true;
  const noted = (variable: DebugVariable): DebugVariable => ({
    ...variable,
    place: (address, kernel) => {
      const place = variable.place(address, kernel);
      isInMemory &&= variable.isFixed && IN_MEMORY.includes(place.kind);
      return place;
    },
  });
  const value = info && {
    ...info,
    variables: (at: number, inlined?: number) => info.variables(at, inlined).map(noted),
  };
  const scope = scopeOf(w, lane, Object.create(source, { info: { value } }) as ScopeSource);
  const watching: Scope = {
    lane,
    load: scope.load,
    codeBase: scope.codeBase,
    register: (text, of) => {
      isInMemory = false;
      return scope.register(text, of);
    },
    variable: (name, of) => scope.variable(name, of),
    named: (name, of) => {
      isInMemory &&= name !== 'pc';
      return scope.named(name, of);
    },
    typeNamed: (name) => scope.typeNamed(name),
    codeNamed: (name) => scope.codeNamed(name),
    remembered: (name) => scope.remembered(name),
  };
  try {
    expression.operand(watching);
  } catch (error) {
    if (error instanceof WavesmithError) return false;
    throw error;
  }
  return isInMemory;
}

/** Whether an instruction may write memory, LDS or scratch; loads into LDS do. */
export function writesMemory({ instruction: { row } }: BoundInstruction): boolean {
  return row.flags.has('mayStore') || / lds$/.test(row.template);
}

/** A source that means a function at an address, which waits for none; so many others are inlined there further inside. */
export function sourceAt<T extends ScopeSource>(source: T, pc: number, inlined: number): T {
  return withFrame(source, () => ({ pc, inlined, scalars: undefined, depth: 0 })) as T;
}

/** A source in which names mean these variables where there are some of the name. */
function withVariables(source: ScopeSource, meant: WatchedFrame['variables']): ScopeSource {
  const { info } = source;
  const value = info && {
    ...info,
    variables: (at: number, inlined?: number) => info.variables(at, inlined).map((one) => meant.get(one.name) ?? one),
  };
  return Object.create(source, { info: { value } }) as ScopeSource;
}

/** The call whose variables are meant now; undefined without debug information. */
function frameToWatch(w: Wave, source: ScopeSource, { ofCall, variables }: Noting['asked']): WatchedFrame | undefined {
  const frame = source.selectedFrame?.(w);
  const key = frame === undefined ? undefined : source.info?.frames(frame.pc)[frame.inlined]?.key;
  if (frame === undefined || key === undefined) return undefined;
  const places = source.info?.variables(frame.pc, frame.inlined).map((v) => v.place(frame.pc)) ?? [];
  const register = places
    .flatMap((place) => (place.kind === 'scratch' ? [place.base] : []))
    .find((base) => base !== undefined);
  const base = register?.file === 's' ? { register, value: scalar(w, frame, register) } : undefined;
  return { key, depth: frame.depth, fixed: ofCall ? undefined : { ...frame, scalars: undefined }, base, variables };
}

const scalar = (w: Wave, frame: SelectedFrame, { index }: DebugRegister): number =>
  (frame.scalars ?? w.sgprs)[index] as number;

/** A source that means that call; undefined where the wave is not in it. */
function sourceOfFrame(w: Wave, source: ScopeSource, watched: WatchedFrame): ScopeSource | undefined {
  const { key, depth, fixed, base, variables } = watched;
  const meaning = withVariables(source, variables);
  if (fixed !== undefined) return withFrame(meaning, () => fixed);
  const frame = source.frameOfKey?.(w, key, depth);
  if (frame === undefined) return undefined;
  if (base !== undefined && scalar(w, frame, base.register) !== base.value) return undefined;
  return withFrame(meaning, () => frame);
}

/** The call that an expression belongs to, as a wave sees it now; undefined when it reads no variable of a function. */
export function frameOfExpression(
  expression: Expression,
  w: Wave | undefined,
  lane: number,
  source: ScopeSource,
): WatchedFrame | undefined {
  const { source: noted, asked } = noting(source);
  quietValue(expression, w, lane, noted);
  return w !== undefined && asked.ofFunction ? frameToWatch(w, source, asked) : undefined;
}

/** What an expression gives in the call that it belongs to; undefined where it cannot be read, or the wave is not in that call. */
export function valueInFrame(
  expression: Expression,
  w: Wave | undefined,
  lane: number,
  source: ScopeSource,
  frame: WatchedFrame | undefined,
): Operand | undefined {
  if (frame === undefined || w === undefined) return quietValue(expression, w, lane, source);
  const own = sourceOfFrame(w, source, frame);
  return own === undefined ? undefined : quietValue(expression, w, lane, own);
}

/** The same of a watchpoint's condition: what it says of variables of the call is read there, also where the watched value is in the same place in every call. */
export function conditionInFrame(
  condition: Expression,
  w: Wave | undefined,
  lane: number,
  source: ScopeSource,
  frame: WatchedFrame | undefined,
): Operand | undefined {
  const fixed = frame?.fixed;
  if (frame === undefined || fixed === undefined) return valueInFrame(condition, w, lane, source, frame);
  const { source: noted, asked } = noting(withFrame(source, () => fixed));
  quietValue(condition, w, lane, noted);
  return valueInFrame(condition, w, lane, source, asked.ofCall ? { ...frame, fixed: undefined } : frame);
}

/** What an expression gives, or undefined where it cannot be read. */
export function quietValue(
  expression: Expression,
  w: Wave | undefined,
  lane: number,
  source: ScopeSource,
): Operand | undefined {
  try {
    const operand = expression.operand(scopeOf(w, lane, source));
    return typeof operand === 'object' && operand.bytes === undefined ? undefined : operand;
  } catch (error) {
    if (error instanceof WavesmithError) return undefined;
    throw error;
  }
}
