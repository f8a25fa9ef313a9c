// Looks at accesses of which only their addresses say in which memory they are: flat ones, and of buffers those that are a wavefront's scratch; and at accesses of
// scratch.
import { operandNamed } from '../../../../isa/operand.ts';
import type { LoadOperation, StoreOperation } from '../../../../isa/semantics/index.ts';
import { slotsOf } from '../../../../program/index.ts';
import { EXEC } from '../../state/wave.ts';
import type { FunctionContext } from '../../wasm/context.ts';
import {
  apertureFunction,
  emitMemory,
  IN_GLOBAL,
  IN_LDS,
  IN_SCRATCH,
  namedVector,
  pushBufferPlace,
  pushScratchPlace,
  splitFunction,
} from '../../wasm/memory/index.ts';
import type { StrictPlan } from '../plan.ts';
import { SHADOW_APERTURE, SHADOW_MISSING, SHADOW_SPLIT } from '../registers/shadow-layout.ts';
import { type AccessCode, type Circumstances, type EmitLooks, mayLearn } from './circumstances.ts';
import { bufferScratchFunction, flatScratchFunction, missingFunction, scratchFunction } from './scratch.ts';
import { forgetNumber } from './sync.ts';

/** As EmitLooks, of an access of scratch, or of a flat one whose lanes are there. */
export function emitScratch(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  moved: number,
): AccessCode {
  const { fn, module, wave } = context;
  const { instruction } = plan;
  const mark = fn.size;
  fn.get(shadow).get(wave);
  if (!pushScratchPlace(context, instruction)) {
    fn.truncate(mark);
    return 'none';
  }
  fn.get(shadow).get(wave).call(flatScratchFunction(module)).i32(dataRegister(plan));
  fn.call(scratchFunction(module, operation.kind, operation.bytes))
    .op('i32.eqz')
    .brIf(0);
  if (!emitMemory(context, module, instruction, { ...operation, space: 'scratch' })) return 'looks';
  fn.i32(1).set(moved);
  return 'moves';
}

/** The number of the first register of a load or store of scratch. */
function dataRegister({ dataReads, writes }: StrictPlan): number {
  return Math.min(...[...dataReads, ...writes].map(({ register }) => register));
}

/** Whether an access may be a store to scratch, where what is undefined stays so, or a load of it, which finds it undefined. */
export function mayKeepUndefined(plan: StrictPlan): boolean {
  const { access } = plan;
  if (access?.kind !== 'store' && access?.kind !== 'load') return false;
  return access.space === 'scratch' || access.space === 'flat' || mayBeScratch(plan);
}

/** Behind an access that may have been a load of scratch: what it has found undefined is so in its registers. */
export function emitMissing({ fn, module, pc }: FunctionContext, shadow: number, plan: StrictPlan): void {
  if (plan.access?.kind !== 'load') return;
  fn.get(shadow).memory('i32.load', SHADOW_MISSING).if();
  fn.get(shadow).i32(pc).i32(dataRegister(plan)).call(missingFunction(module)).end();
}

/** Whether a buffer of an access may be the wavefront's scratch. */
export function mayBeScratch({ instruction, operation, access }: StrictPlan): boolean {
  if (operation?.kind !== 'load' && operation?.kind !== 'store') return false;
  return operation.space === 'buffer' && access?.toLds !== true && !/ idxen/.test(instruction.row.template);
}

/** As EmitLooks, of an access of a buffer that may be the wavefront's scratch: gfx90a has no other instructions for that. */
export function emitBuffer(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  circumstances: Circumstances,
  moved: number,
  emitLooks: EmitLooks,
): AccessCode {
  const { fn, module, wave } = context;
  const mark = fn.size;
  const base = fn.local('i32');
  fn.block().block();
  const place = pushBufferPlace(context, plan.instruction);
  if (place !== undefined) {
    fn.call(bufferScratchFunction(module)).tee(base).if().block();
    fn.get(shadow).get(wave);
    if (place.register === undefined) fn.i32(0);
    else fn.get(wave).i32(place.register).op('i32.add');
    fn.i32(place.constant)
      .get(base)
      .i32(dataRegister(plan))
      .call(scratchFunction(module, operation.kind, operation.bytes))
      .op('i32.eqz')
      .brIf(0);
    if (mayLearn(plan, operation, circumstances)) forgetNumber(fn, shadow);
    fn.br(3).end().br(1).end();
  }
  circumstances.askData();
  circumstances.askAnnouncement();
  const code = emitLooks(context, shadow, plan, operation, { ...circumstances, isNoScratch: true }, moved);
  fn.br(1).end().br(1).end();
  fn.release('i32', base);
  if (code === 'none') fn.truncate(mark);
  return code;
}

/**
 * As EmitLooks, of a flat access: as one of the memory in which its lanes are, or of several in turn. Where wavefronts are ordered through LDS, for atomics of
 * it, and for loads of it that may be outstanding at a barrier and learn from others where their lanes are in memory, more is to be kept than the log of outstanding
 * flat operations has room for: TypeScript looks there.
 */
export function emitFlat(
  context: FunctionContext,
  shadow: number,
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation,
  circumstances: Circumstances,
  moved: number,
  emitLooks: EmitLooks,
): AccessCode {
  const { fn, module, wave } = context;
  const register = namedVector(plan.instruction, 'vaddr');
  if (register === undefined) return 'none';
  const mark = fn.size;
  const [aperture, areMoved, areApart, whole] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i64')];
  fn.get(wave).i32(register).call(apertureFunction(module)).set(aperture);
  const isAtomic = plan.operation?.kind === 'atomic';
  const isSplit = !isAtomic && !overwritesAddresses(plan);
  /** EXEC becomes what `push` leaves, where the lanes are in several memories. */
  const setExec = (push: () => void): void => {
    if (!isSplit) return;
    fn.get(areApart).if().get(wave);
    push();
    fn.memory('i64.store', 4 * EXEC).end();
  };
  if (isSplit) {
    fn.get(aperture).op('i32.eqz').tee(areApart).if();
    fn.get(wave)
      .memory('i64.load', 4 * EXEC)
      .set(whole);
    fn.get(wave).i32(register).get(shadow).i32(SHADOW_SPLIT).op('i32.add');
    fn.call(splitFunction(module)).set(aperture).end();
  }
  fn.get(shadow).get(aperture).memory('i32.store', SHADOW_APERTURE);
  // What others can see comes last: it says what has been learnt from them.
  const spaces: readonly (readonly [bit: number, nth: number, space: FlatSpace])[] = [
    [IN_SCRATCH, 2, 'scratch'],
    [IN_LDS, 1, 'lds'],
    [IN_GLOBAL, 0, 'global'],
  ];
  const isFetch = isFlatFetch(plan, operation, circumstances);
  const hasNoCode = (space: FlatSpace): boolean =>
    (space !== 'global' && isAtomic) ||
    (space === 'lds' && (circumstances.handsOver || (isFetch && circumstances.isLate)));
  const without = spaces.reduce((bits, [bit, , space]) => (hasNoCode(space) ? bits | bit : bits), 0);
  fn.block().block();
  fn.get(aperture).op('i32.eqz').get(aperture).i32(without).op('i32.and').op('i32.or').brIf(0);
  fn.i32(1).set(areMoved);
  let hasCode = true;
  for (const [bit, nth, space] of spaces) {
    if (hasNoCode(space)) continue;
    fn.get(aperture).i32(bit).op('i32.and').if().block();
    setExec(() => fn.get(shadow).memory('i64.load', SHADOW_SPLIT + 8 * nth));
    const seen = { ...circumstances, isQuiet: false };
    if (space !== 'scratch') circumstances.askData();
    if (space === 'global') circumstances.askAnnouncement();
    fn.i32(0).set(moved);
    hasCode &&= emitLooks(context, shadow, inSpace(plan, space), { ...operation, space }, seen, moved) !== 'none';
    if (isFetch && space !== 'global') forgetNumber(fn, shadow);
    fn.get(areMoved).get(moved).op('i32.and').set(areMoved);
    fn.br(1).end().br(1).end();
  }
  setExec(() => fn.get(whole));
  fn.get(areMoved).set(moved);
  fn.br(1).end();
  setExec(() => fn.get(whole));
  // TypeScript looks at all lanes, and all are moved behind that.
  fn.i32(0).set(moved).get(shadow).i32(0).memory('i32.store', SHADOW_MISSING);
  fn.br(1).end();
  for (const local of [aperture, areMoved, areApart]) fn.release('i32', local);
  fn.release('i64', whole);
  if (hasCode) return 'moves';
  fn.truncate(mark);
  return 'none';
}

/** Whether a load writes one of the registers with its addresses. */
function overwritesAddresses({ instruction, effects }: StrictPlan): boolean {
  const addresses = operandNamed(instruction, 'vaddr');
  const range = addresses?.kind === 'reg' ? slotsOf(addresses) : undefined;
  return (
    range === undefined ||
    effects.defs.some(({ first, count }) => first < range.first + range.count && range.first < first + count)
  );
}

type FlatSpace = 'global' | 'lds' | 'scratch';

/** The plan of a flat access as if it were one of another memory. */
function inSpace(plan: StrictPlan, space: FlatSpace): StrictPlan {
  const { access, operation, role } = plan;
  const kind = operation?.kind;
  if (access === undefined || (kind !== 'load' && kind !== 'store' && kind !== 'atomic')) return plan;
  return {
    ...plan,
    access: { ...access, space },
    operation: { ...operation, space },
    role: { ...role, kind: space === 'lds' ? 'lds' : 'vm' },
  };
}

/** Whether a flat access may learn from others, where its lanes are in memory. */
export function isFlatFetch(
  plan: StrictPlan,
  operation: LoadOperation | StoreOperation | undefined,
  circumstances: Circumstances,
): boolean {
  if (plan.operation?.kind === 'atomic') return plan.writes.length > 0;
  return mayLearn(inSpace(plan, 'global'), operation, circumstances);
}
