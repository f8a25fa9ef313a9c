// Memory instructions on terms: where each lane reads and writes, and what that does to the states of the memories.
// Accesses are cut into dwords, so that one wide access and several narrow ones are the same terms.
// Sources: CDNA3 ISA manual, "Vector Memory Buffer Instructions", "Flat Memory", "Data Share", "Scalar Memory".
import { immediateOf, operandNamed } from '../isa/operand.ts';
import type {
  AtomicOperation,
  FormatOperation,
  LoadOperation,
  MemorySpace,
  StoreOperation,
} from '../isa/semantics/index.ts';
import type { Register } from '../isa/types.ts';
import { Slot, slotsOf } from '../program/index.ts';
import { NotFollowed } from './errors.ts';
import { laneNumber } from './expressions.ts';
import type { Place } from './memory.ts';
import {
  isVectorRegister,
  readPair,
  readRegisterWord,
  readWord,
  registerAt,
  writeLanes,
  writeScalar,
} from './operands.ts';
import { isScoped, orderedEffect, orderedState, scopedAccess } from './scopes.ts';
import { Memory } from './state.ts';
import type { Step } from './step.ts';
import { Code, type Term } from './terms.ts';

type MemoryOperation = LoadOperation | StoreOperation | AtomicOperation | FormatOperation;

/** Fields that change how an access is cached and ordered. */
const POLICY = ['cpol', 'glc', 'slc', 'dlc', 'scc', 'sc0', 'sc1', 'nt', 'gds', 'swz', 'tfe', 'lwe', 'format'];

function policyOf(step: Step): string {
  return POLICY.flatMap((name) => {
    const value = immediateOf(step.instruction, name);
    return value === 0 ? [] : [`${name}=${value}`];
  }).join(' ');
}

/** The memories that an access of a space can touch. */
function memoriesOf({ algebra }: Step, space: MemorySpace): readonly number[] {
  switch (space) {
    case 'lds':
      return [Memory.LDS];
    case 'scratch':
    case 'scalarScratch':
      // The resource of scratch in s[0:3] reaches the same bytes through buffer instructions.
      return [algebra.scratchResource === undefined ? Memory.SCRATCH : Memory.GLOBAL];
    case 'flat':
      return [Memory.GLOBAL, Memory.LDS, Memory.SCRATCH];
    default:
      return [Memory.GLOBAL];
  }
}

/** Lanes of a wavefront; bytes of the widest access; where the scalar offset is among the parts of a buffer's base. */
const LANES = 64n;
const MOST_BYTES = 16;
const BUFFER_SOFFSET = 4;

/** What changes the result of a buffer access beside its offset. */
function bufferBase(step: Step): Term {
  const { instruction, algebra } = step;
  const { terms } = algebra;
  const resource = registerAt(instruction, 'srsrc', 'sbase') as Register;
  const words = [0, 1, 2, 3].map((n) => readRegisterWord(step, resource, n));
  const soffset = operandNamed(instruction, 'soffset');
  const vaddr = registerAt(instruction, 'vaddr');
  const isIndexed = / idxen/.test(instruction.row.template) && vaddr !== undefined;
  const index = isIndexed ? readWord(step, vaddr, 0, 'i32') : terms.i32(0);
  const extra = soffset === undefined ? terms.i32(0) : readWord(step, soffset, 0, 'i32');
  return terms.make('buffer', 'i64', [...words, extra, index], { attr: isIndexed ? 'indexed' : '' });
}

/**
 * Whether lanes can reach each other's bytes at different offsets: each has its record of a structured buffer (idxen), or the resource
 * adds the lane number (bit 23 of word 3), as that of scratch does, whose lanes have memory of their own.
 */
function isPerRecord({ instruction, algebra, state }: Step): boolean {
  if (/ idxen/.test(instruction.row.template)) return true;
  const word3 = state[(registerAt(instruction, 'srsrc') as Register).encoding + 3] as Term;
  return word3 !== algebra.scratchResource && (word3.zeros & 0x80_0000n) === 0n;
}

/** What scratch counts from where a register holds it: the kernel sets FLAT_SCRATCH itself. */
function scratchBase({ algebra, state }: Step): Term | undefined {
  if (algebra.isArchitectedScratch) return undefined;
  return algebra.terms.make('flatScratch', 'i64', [
    state[Slot.FLAT_SCRATCH] as Term,
    state[Slot.FLAT_SCRATCH + 1] as Term,
  ]);
}

/** Where byte `more` of the access is. */
type Placer = (more: number, bytes: number) => Place;

function placer(step: Step, space: MemorySpace): Placer {
  const { instruction, algebra } = step;
  const { integers, terms } = algebra;
  const offset = immediateOf(instruction, 'offset');
  const at = (base: Term | undefined, start: Term, isPrivate = false): Placer => {
    return (more, bytes) => ({ base, offset: integers.addConstant(start, more), bytes, isPrivate });
  };
  switch (space) {
    case 'lds': {
      const register = registerAt(instruction, 'addr') as Register;
      return at(undefined, integers.addConstant(readWord(step, register, 0, 'i32'), offset));
    }
    case 'flat':
    case 'global': {
      const vaddr = registerAt(instruction, 'vaddr') as Register;
      const saddr = registerAt(instruction, 'saddr');
      const start =
        saddr === undefined
          ? readPair(step, vaddr)
          : integers.add(readPair(step, saddr), integers.extendU(readWord(step, vaddr, 0, 'i32')));
      return at(undefined, integers.addConstant(start, offset));
    }
    case 'scratch': {
      const vaddr = registerAt(instruction, 'vaddr');
      const saddr = registerAt(instruction, 'saddr');
      let start: Term = terms.i32(offset);
      for (const register of [vaddr, saddr]) {
        if (register !== undefined) start = integers.add(start, readWord(step, register, 0, 'i32'));
      }
      return at(scratchBase(step), start, true);
    }
    case 'buffer':
    case 'tbuffer': {
      const { template } = instruction.row;
      const vaddr = registerAt(instruction, 'vaddr');
      const hasOffset = / offen/.test(template) && vaddr !== undefined;
      const word = / idxen/.test(template) ? 1 : 0;
      const start = hasOffset ? readWord(step, vaddr, word, 'i32') : terms.i32(0);
      const base = bufferBase(step);
      const sum = integers.addConstant(start, offset);
      const perRecord = isPerRecord(step);
      const isPrivate = algebra.isScratchBuffer(base) && !perRecord;
      return (more, bytes) => {
        step.watcher.risk(step.code, { kind: 'bufferOffset', register: start, constant: offset + more });
        return { base, offset: integers.addConstant(sum, more), bytes, isPrivate, isPerRecord: perRecord };
      };
    }
    case 'scalar':
    case 'scalarBuffer':
    case 'scalarScratch':
      return scalarPlacer(step, space, offset);
  }
}

function scalarPlacer(step: Step, space: MemorySpace, offset: number): Placer {
  const { instruction, algebra } = step;
  const { integers, terms } = algebra;
  const soffset = operandNamed(instruction, 'soffset');
  const extra = soffset === undefined ? terms.i32(0) : readWord(step, soffset, 0, 'i32');
  if (space === 'scalarBuffer') {
    const resource = registerAt(instruction, 'sbase') as Register;
    const words = [0, 1, 2, 3].map((n) => readRegisterWord(step, resource, n));
    const base = terms.make('buffer', 'i64', words, { attr: 'scalar' });
    return (more, bytes) => ({
      base,
      offset: integers.addConstant(extra, offset + more),
      bytes,
      isPrivate: false,
    });
  }
  const scaled = integers.scale(integers.extendU(extra), space === 'scalarScratch' ? 64n : 1n);
  const start = integers.add(readPair(step, registerAt(instruction, 'sbase') as Register), scaled);
  return (more, bytes) => ({
    base: undefined,
    offset: integers.addConstant(start, offset + more),
    bytes,
    isPrivate: false,
    slack: 3,
  });
}

/** The pieces that an access is cut into: offset, bytes, and which data word. */
function* pieces(
  step: Step,
  bytes: number,
  pairStride: number | undefined,
): Generator<{ offset: number; bytes: number }> {
  const starts =
    pairStride === undefined
      ? [0]
      : [immediateOf(step.instruction, 'offset0') * pairStride, immediateOf(step.instruction, 'offset1') * pairStride];
  for (const start of starts) {
    if (bytes < 4) yield { offset: start, bytes };
    else for (let n = 0; n < bytes; n += 4) yield { offset: start + n, bytes: 4 };
  }
}

/**
 * Tells of an access, which may fault where there is no memory: a resource may say that it has more than there is, and what lies past
 * the end of LDS reads as zero or faults.
 */
function reach(step: Step, space: MemorySpace, place: Place): void {
  const { base, offset, bytes } = place;
  for (const part of [offset, base]) if (part !== undefined) step.algebra.mustBeNumber(part);
  step.algebra.noteRead(offset, base);
  if (space === 'lds' || space === 'flat') staysInLds(step, place, space === 'flat');
  if (place.isPrivate) reachScratch(step, place);
  else if (step.algebra.isOfScratch(offset) || (base !== undefined && step.algebra.isOfScratch(base)))
    throw new NotFollowed('scratch is reached by its address');
  if (place.isPrivate || (space === 'lds' && isInLds(step, place))) return;
  const lanes = isScalarSpace(space) ? undefined : step.exec;
  const address = base === undefined ? offset : step.algebra.terms.make('bufferAddress', 'i64', [base, offset]);
  step.watcher.risk(step.code, { kind: 'reach', address, bytes, lanes });
}

/** Whether every lane stays in the LDS that any launch gives both kernels. */
function isInLds({ algebra: { integers, staticLds } }: Step, { offset, bytes }: Place): boolean {
  return integers.most(offset) + BigInt(bytes) <= BigInt(staticLds);
}

/** More LDS must not be found where the baseline finds none: what is read past its end is zero. */
export function staysInLds({ algebra }: Step, { offset, bytes }: Place, mayBeElsewhere = false): void {
  const { ldsBytes, integers } = algebra;
  if (ldsBytes === undefined) return;
  if (mayBeElsewhere || integers.most(offset) + BigInt(bytes) > BigInt(ldsBytes))
    throw new NotFollowed('LDS has another size, and an access may lie past the end of the smaller one');
}

/** Scratch that every kernel has may be touched anywhere in it; past it are the bytes of other wavefronts. */
function reachScratch(step: Step, { base, offset, bytes }: Place): void {
  const { algebra } = step;
  const { terms, scratchBytes } = algebra;
  // The scalar offset of scratch that is a buffer counts the bytes of all lanes.
  const start = algebra.isScratchBuffer(base) ? base?.args[BUFFER_SOFFSET] : undefined;
  const from = start?.op === 'const' ? start.value / LANES : 0n;
  const isInside = offset.op === 'const' && from + offset.value + BigInt(bytes) <= BigInt(scratchBytes);
  if (isInside && (base === undefined || start?.op === 'const')) return;
  const parts = [base ?? terms.i64(0n), isInside ? terms.i32(0) : offset];
  const address = terms.make('scratchAddress', 'i64', parts);
  step.watcher.risk(step.code, { kind: 'reach', address, bytes, lanes: step.exec });
}

/** Executes a memory operation. */
export function stepMemory(step: Step, op: MemoryOperation): void {
  if (immediateOf(step.instruction, 'tfe') !== 0) throw new NotFollowed('the status word of tfe is not followed');
  switch (op.kind) {
    case 'load':
      if (op.toLds || / lds$/.test(step.instruction.row.template)) stepLdsDirect(step, op);
      else stepLoad(step, op);
      return;
    case 'store':
      stepStore(step, op);
      return;
    case 'atomic':
    case 'format':
      stepWhole(step, op);
      return;
  }
}

const isScalarSpace = (space: MemorySpace): boolean =>
  space === 'scalar' || space === 'scalarBuffer' || space === 'scalarScratch';

/** The state a load reads; of several memories all of them. */
function stateOf(step: Step, space: MemorySpace): Term {
  const [first, ...more] = memoriesOf(step, space).map((m) => step.state[m] as Term) as [Term, ...Term[]];
  if (more.length === 0) return first;
  const base = scratchBase(step);
  return step.algebra.terms.make('memories', 'effect', [first, ...more, ...(base === undefined ? [] : [base])]);
}

function loadPiece(step: Step, op: LoadOperation, place: Place, memory: Term): Term {
  const { algebra, exec, code } = step;
  const { integers, terms } = algebra;
  const isUniform = isScalarSpace(op.space);
  reach(step, op.space, place);
  // Aligned down by hardware; whole dwords only.
  const attr = `${op.space} ${place.bytes} ${policyOf(step)}`;
  // Nobody writes arguments while the kernel runs.
  const isArgument = op.space === 'scalar' && algebra.isArgument(place.offset);
  const raw =
    isScoped(step, op.space) && !isArgument
      ? scopedLoad(step, op.space, place)
      : algebra.memories.load(isArgument ? terms.symbol('arguments', 'effect') : memory, place, attr, isUniform, exec);
  step.watcher.access(code, raw);
  if (place.isPrivate && raw.op === 'load') algebra.openLoads.push(place);
  if (place.bytes >= 4) return raw;
  const bits = 8 * place.bytes;
  const field = integers.and(raw, terms.i32(2 ** bits - 1));
  if (!op.signed) return field;
  const unused = terms.i32(32 - bits);
  return integers.shrS(integers.shl(field, unused), unused);
}

/** What a flag holds: nobody knows but its own load. */
function scopedLoad(step: Step, space: MemorySpace, place: Place): Term {
  const isUniform = isScalarSpace(space);
  const effect = scopedAccess(step, space, place, isUniform ? step.algebra.terms.i64(1n) : step.exec, []);
  return step.algebra.terms.make('result', 'i32', [effect], { attr: '0', isUniform });
}

function stepLoad(step: Step, op: LoadOperation): void {
  const { algebra, instruction } = step;
  const { integers, terms } = algebra;
  const place = placer(step, op.space);
  const memory = stateOf(step, op.space);
  const values: Term[] = [];
  for (const { offset, bytes } of pieces(step, op.bytes, op.pairStride)) {
    values.push(loadPiece(step, op, place(offset, bytes), memory));
  }
  if (isScalarSpace(op.space)) {
    const target = registerAt(instruction, 'sdst');
    for (const [n, value] of values.entries()) if (target !== undefined) writeScalar(step, target, n, value);
    return;
  }
  const target = registerAt(instruction, 'vdst', 'vdata');
  if (target === undefined) throw new NotFollowed(`'${instruction.row.mnemonic}' has no data register`);
  for (const [n, value] of values.entries()) {
    let word = value;
    if (op.half === 'low') word = integers.and(value, terms.i32(0xffff));
    else if (op.half === 'high') word = integers.shl(value, terms.i32(16));
    writeLanes(step, target, n, word);
  }
}

function dataWord(step: Step, register: Register, n: number): Term {
  return readWord(step, register, n, 'i32');
}

function storePiece(step: Step, space: MemorySpace, place: Place, value: Term, part: string): void {
  const { algebra, state, exec, code } = step;
  reach(step, space, place);
  if (algebra.isOfScratch(value)) throw new NotFollowed('the address of scratch is stored');
  const attr = `${space} ${place.bytes} ${policyOf(step)}${part}`;
  if (place.isPrivate && (value.code & Code.PLACE) !== 0) algebra.savedPlaces.push(place);
  const lanes = isScalarSpace(space) ? algebra.terms.i64(1n) : exec;
  if (isScoped(step, space)) {
    scopedAccess(step, space, place, lanes, [value]);
    return;
  }
  const memories = memoriesOf(step, space);
  if (memories.length === 1) {
    const [memory] = memories as [number];
    const after = algebra.memories.store(state[memory] as Term, lanes, place, value, attr);
    step.watcher.access(code, algebra.memories.write(place, value, attr));
    state[memory] = after;
    return;
  }
  const all = algebra.terms.make('flatStore', 'effect', [stateOf(step, space), lanes, place.offset, value], { attr });
  step.watcher.access(code, all);
  for (const memory of memories) state[memory] = algebra.terms.make('part', 'effect', [all], { attr: String(memory) });
}

/** Whether a dword of one lane can be another dword of another lane: several stores then leave something else than a wide one. */
const mayLanesMeet = ({ algebra: { memories } }: Step, places: readonly Place[]): boolean =>
  places.some((a, i) => places.slice(i + 1).some((b) => !memories.areApart(a, b)));

function stepStore(step: Step, op: StoreOperation): void {
  const { algebra, instruction } = step;
  const { integers, terms } = algebra;
  const place = placer(step, op.space);
  const first = registerAt(instruction, 'vdata', 'data0', 'sdata');
  if (first === undefined) throw new NotFollowed(`'${instruction.row.mnemonic}' has no data register`);
  const words = op.bytes < 4 ? 1 : op.bytes / 4;
  const second = op.pairStride === undefined ? undefined : registerAt(instruction, 'data1');
  let n = 0;
  const places = [...pieces(step, op.bytes, op.pairStride)];
  const isWhole =
    !isScalarSpace(op.space) &&
    mayLanesMeet(
      step,
      places.map(({ offset, bytes }) => place(offset, bytes)),
    );
  for (const { offset, bytes } of places) {
    const register = n >= words && second !== undefined ? second : first;
    let value = dataWord(step, register, n % words);
    if (op.half === 'high') value = integers.shrU(value, terms.i32(16));
    if (bytes < 4) value = integers.and(value, terms.i32(2 ** (8 * bytes) - 1));
    storePiece(step, op.space, place(offset, bytes), value, isWhole ? ` ${n} of ${instruction.row.operation}` : '');
    n++;
  }
}

/** A load whose data goes to LDS at M0 + offset + lane × size. */
function stepLdsDirect(step: Step, op: LoadOperation): void {
  const { algebra, instruction, state, exec, code } = step;
  const { integers, terms, memories } = algebra;
  const place = placer(step, op.space);
  const memory = stateOf(step, op.space);
  const lane = laneNumber(integers);
  const size = Math.max(4, op.bytes);
  const start = integers.addConstant(
    integers.add(state[Slot.M0] as Term, integers.scale(lane, BigInt(size))),
    immediateOf(instruction, 'offset'),
  );
  for (const { offset, bytes } of pieces(step, op.bytes, undefined)) {
    const value = loadPiece(step, op, place(offset, bytes), memory);
    const word = bytes < 4 && !op.signed ? integers.and(value, terms.i32(2 ** (8 * bytes) - 1)) : value;
    const target: Place = { base: undefined, offset: integers.addConstant(start, offset), bytes: 4, isPrivate: false };
    staysInLds(step, target);
    state[Memory.LDS] = memories.store(state[Memory.LDS] as Term, exec, target, word, 'lds 4 ');
    step.watcher.access(code, state[Memory.LDS] as Term);
  }
}

/** Whether floating point modes change what an atomic leaves or a typed access converts. */
const usesMode = ({ instruction }: Step, op: AtomicOperation | FormatOperation): boolean =>
  op.kind === 'format' || /f16|bf16|f32|f64/.test(instruction.row.operation);

/** Atomics and typed buffer accesses stay whole; atomics, and those with a scope, in order. */
function stepWhole(step: Step, op: AtomicOperation | FormatOperation): void {
  const { algebra, instruction, state, exec, code } = step;
  const { terms, masks } = algebra;
  const { row } = instruction;
  const place = placer(step, op.space)(0, 4);
  reach(step, op.space, place);
  if (place.isPrivate) algebra.openLoads.push({ ...place, bytes: MOST_BYTES });
  const isScalar = isScalarSpace(op.space);
  const isOrdered = op.kind === 'atomic' || isScoped(step, op.space);
  const memory = isOrdered ? orderedState(step, op.space) : stateOf(step, op.space);
  const args: Term[] = [memory, isScalar ? terms.i64(1n) : exec, place.offset];
  if (place.base !== undefined) args.push(place.base);
  if (op.space === 'flat') args.push(...[scratchBase(step)].filter((base) => base !== undefined));
  if (usesMode(step, op)) args.push(state[Slot.MODE] as Term);
  for (const name of ['vdata_in', 'vdata', 'data0', 'data1', 'sdata', 'vdst_in']) {
    const index = row.operands.findIndex((o) => o.name === name && !o.isOut);
    const register = instruction.operands[index];
    if (register?.kind !== 'reg') continue;
    for (let n = 0; n < register.dwords; n++) {
      const word = readRegisterWord(step, register, n);
      args.push(isVectorRegister(register) ? masks.view(exec, word) : word);
    }
  }
  const offsets = `${immediateOf(instruction, 'offset0')},${immediateOf(instruction, 'offset1')}`;
  const attr = `${row.operation} ${offsets} ${policyOf(step)}`;
  const isLoad = op.kind === 'format' && op.direction === 'load';
  if (isLoad && / lds$/.test(row.template)) throw new NotFollowed('typed loads into LDS are not followed');
  const effect = terms.make(isLoad ? 'typedLoad' : 'access', 'effect', args, { attr });
  step.watcher.access(code, effect);
  if (isOrdered) orderedEffect(step, op.space, effect);
  else if (!isLoad) {
    for (const memory of memoriesOf(step, op.space)) state[memory] = effect;
  }
  row.operands.forEach((o, i) => {
    const target = instruction.operands[i];
    if (!o.isOut || target?.kind !== 'reg') return;
    for (let n = 0; n < target.dwords; n++) {
      const value = terms.make('result', 'i32', [effect], { attr: String(n), isUniform: isScalar });
      if (isVectorRegister(target)) writeLanes(step, target, n, value);
      else if (slotsOf(target) !== undefined) writeScalar(step, target, n, value);
    }
  });
}
