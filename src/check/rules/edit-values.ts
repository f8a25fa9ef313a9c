// Rules that compare values with a baseline: an inserted instruction overwrites a value between its definition and its use; what the cache
// operations of the memory model were for is gone; fewer wavefronts fit. Sources: CDNA3 ISA manual, "SALU"; LLVM's AMDGPUUsage.
import { kernelOccupancy } from '../../codeobject/kernel/occupancy.ts';
import { type Finding, finding } from '../../finding/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  type Program,
  SLOT_COUNT,
  Slot,
  slotNames,
} from '../../program/index.ts';
import { type Edit, editOf, instructionsOf } from '../edit.ts';
import { placeAt, relatedAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';

/** All rules that compare the code of one kernel with the baseline's. */
export const checkEditedValues: Rule = (context) => {
  const edit = editOf(context);
  return [
    ...(edit === undefined ? [] : [...clobbers(context, edit), ...lostCacheOperations(context, edit)]),
    ...occupancy(context),
  ];
};

function* slots(code: CodeInstruction, what: 'uses' | 'defs'): Generator<number> {
  for (const { first, count } of code.effects[what]) for (let slot = first; slot < first + count; slot++) yield slot;
}

/** Who last wrote a register in the same block before an instruction of it reads it; undefined: nobody in the block. */
type Chains = Map<CodeInstruction, Map<number, CodeInstruction | undefined>>;

function chainsOf(program: Program, block: BasicBlock, into: Chains): void {
  const last: (CodeInstruction | undefined)[] = new Array(SLOT_COUNT);
  for (let i = block.first; i < block.end; i++) {
    const code = program.instructions[i] as CodeInstruction;
    const chain = new Map<number, CodeInstruction | undefined>();
    for (const slot of slots(code, 'uses')) chain.set(slot, last[slot]);
    into.set(code, chain);
    for (const slot of slots(code, 'defs')) last[slot] = code;
  }
}

/** A use that gets another value than in the baseline, and who wrote that. */
interface Broken {
  readonly use: CodeInstruction;
  readonly expected: CodeInstruction | undefined;
  readonly slots: Set<number>;
}

/** Addresses of the inserted instructions of which `checkEditedValues` says that they overwrite a value within their block. */
export function clobberingPcs(context: CheckContext, edit: Edit): Set<number | undefined> {
  const found = clobbers(context, edit).filter((f) => f.rule === 'control-flow/clobbered');
  return new Set(found.map((f) => f.place.pc));
}

/** Definitions and uses of each block, compared with the baseline's. */
function clobbers({ program, subject }: CheckContext, edit: Edit): Finding[] {
  const old: Chains = new Map();
  const now: Chains = new Map();
  for (const index of edit.subject.blocks) chainsOf(edit.baseline, edit.baseline.blocks[index] as BasicBlock, old);
  for (const index of subject.blocks) chainsOf(program, program.blocks[index] as BasicBlock, now);
  const inserted = new Map<CodeInstruction, Broken>();
  const reordered = new Map<CodeInstruction, Broken>();
  const note = (
    map: Map<CodeInstruction, Broken>,
    at: CodeInstruction,
    broken: Omit<Broken, 'slots'>,
    slot: number,
  ) => {
    const known = map.get(at) ?? { ...broken, slots: new Set() };
    known.slots.add(slot);
    map.set(at, known);
  };
  for (const [use, chain] of now) {
    const was = edit.old(use.index);
    const before = was && old.get(was);
    if (was === undefined || before === undefined) continue;
    const block = program.blockAt(use.pc);
    for (const [slot, def] of chain) {
      const oldDef = before.get(slot);
      const expected = oldDef && edit.now(oldDef.index);
      const isHere = expected !== undefined && program.blockAt(expected.pc) === block;
      if (expected === def || (oldDef !== undefined && expected === undefined)) continue;
      if (def === undefined) {
        if (isHere && expected.index > use.index) note(reordered, use, { use: expected, expected }, slot);
        continue;
      }
      const origin = edit.old(def.index);
      if (origin === undefined) {
        const isDeliberate = def.effects.uses.some((r) => slot >= r.first && slot < r.first + r.count);
        if (isHere && (!isDeliberate || slot === Slot.SCC)) note(inserted, def, { use, expected }, slot);
      } else if (
        isHere ||
        (oldDef === undefined && edit.baseline.blockAt(origin.pc) === edit.baseline.blockAt(was.pc))
      ) {
        note(reordered, use, { use: def, expected }, slot);
      }
    }
  }
  return [...insertedFindings(program, subject.name, inserted), ...reorderedFindings(program, subject.name, reordered)];
}

function reorderedFindings(program: Program, kernel: string, broken: ReadonlyMap<CodeInstruction, Broken>): Finding[] {
  return [...broken].map(([code, { use: other, expected, slots: changed }]) => {
    const registers = slotNames(changed);
    const [instruction, text] = [program.text(code.pc), program.text(other.pc)];
    const isLate = expected === other && other.index > code.index;
    return finding({
      rule: 'control-flow/reordered',
      severity: 'error',
      kernel,
      place: placeAt(program, code.pc),
      related: [relatedAt(program, other.pc, 'whose value it reads now')],
      registers,
      message: isLate
        ? `In the baseline '${instruction}' reads the ${registers.join(', ')} of '${text}', which the edit has put behind it.`
        : `'${instruction}' now reads the ${registers.join(', ')} of '${text}'; in the baseline it reads an other value.`,
      advice: 'Keep instructions that depend on each other in their order.',
    });
  });
}

function insertedFindings(program: Program, kernel: string, broken: ReadonlyMap<CodeInstruction, Broken>): Finding[] {
  return [...broken].map(([inserted, { slots: changed, use, expected }]) => {
    const registers = slotNames(changed);
    const isImplicit = [...changed].some((slot) => slot === Slot.SCC || slot === Slot.M0 || slot === Slot.VCC);
    const names = registers.join(', ');
    return finding({
      rule: 'control-flow/clobbered',
      severity: isImplicit ? 'error' : 'warning',
      kernel,
      place: placeAt(program, inserted.pc),
      related: [relatedAt(program, use.pc, 'reads the old value')],
      registers,
      message: `The inserted instruction overwrites ${names} between '${program.text(expected?.pc ?? -1)}' and '${program.text(use.pc)}', which still reads the old value.`,
      advice: changed.has(Slot.SCC)
        ? 'Insert it before the instruction that sets SCC, or use one that leaves SCC alone (s_mov, s_cselect, vector code).'
        : 'Use a register that is dead here, or put the instruction before the definition.',
    });
  });
}

const CACHE_OPERATION = /^buffer_(?:wbl2|inv|wbinvl1|invl2)/;

function lostCacheOperations({ subject, program }: CheckContext, edit: Edit): Finding[] {
  const findings: Finding[] = [];
  for (const code of instructionsOf(edit.baseline, edit.subject)) {
    if (!CACHE_OPERATION.test(code.instruction.row.operation) || edit.now(code.index) !== undefined) continue;
    if (repeatedCacheOperations(edit.baseline, code).some((same) => edit.now(same.index) !== undefined)) continue;
    const text = edit.baseline.text(code.pc);
    const pc = nearest(edit, code, program);
    const isRelease = code.instruction.row.operation.includes('wb');
    findings.push(
      finding({
        rule: 'memory/cache-operation-lost',
        severity: 'error',
        kernel: subject.name,
        place: pc === undefined ? {} : placeAt(program, pc),
        related: [{ role: 'in the baseline', place: { instruction: text } }],
        message: `The baseline's '${text}' is gone: ${
          isRelease ? 'what this wavefront wrote may stay in its L2' : 'loads behind it may read stale cache lines'
        }, as seen from the scope it was for.`,
        edits: pc === undefined ? [] : [{ kind: 'insert-code', pc, side: 'before', code: text }],
        advice: pc === undefined ? `Keep '${text}' where it was.` : undefined,
      }),
    );
  }
  return findings;
}

/** Arithmetic: nothing that could make a second cache operation do what the first did not. */
const BETWEEN = /^(?:v_|s_(?:mov|add|sub|and|or|xor|lshl|lshr|ashr|mul|bfe|bfm|cselect|cmp|min|max|not)_)/;

/** The same cache operation before and behind one, with nothing but arithmetic between: one of them does the work of all. */
export function repeatedCacheOperations(program: Program, code: CodeInstruction): CodeInstruction[] {
  if (!CACHE_OPERATION.test(code.instruction.row.operation)) return [];
  const block = program.blockAt(code.pc);
  if (block === undefined) return [];
  const text = program.text(code.pc);
  const found: CodeInstruction[] = [];
  for (const step of [-1, 1]) {
    for (let i = code.index + step; i >= block.first && i < block.end; i += step) {
      const other = program.instructions[i] as CodeInstruction;
      if (program.text(other.pc) === text) found.push(other);
      else if (!BETWEEN.test(other.instruction.row.operation)) break;
    }
  }
  return found;
}

/** Where a lost instruction would be: at the next one that is still there. */
function nearest(edit: Edit, lost: CodeInstruction, program: Program): number | undefined {
  for (let i = lost.index + 1; i < lost.index + 64; i++) {
    const now = edit.now(i);
    if (now !== undefined) return program.at(now.pc)?.pc;
  }
  return undefined;
}

/** Wavefronts per SIMD before and after. */
function occupancy({ kernel, baseline, target }: CheckContext): Finding[] {
  const old = kernel && baseline?.kernels.find((k) => k.name === kernel.name);
  if (kernel === undefined || old === undefined) return [];
  const [before, after] = [kernelOccupancy(old, target), kernelOccupancy(kernel, target)];
  if (before === undefined || after === undefined || before.wavesPerSimd === after.wavesPerSimd) return [];
  const isLower = after.wavesPerSimd < before.wavesPerSimd;
  return [
    finding({
      rule: 'resources/occupancy',
      severity: isLower ? 'warning' : 'note',
      kernel: kernel.name,
      message: `Occupancy of kernel '${kernel.name}' ${isLower ? 'falls' : 'rises'} from ${before.wavesPerSimd} to ${after.wavesPerSimd} wavefronts per SIMD; limited by ${after.limiters.join(' and ')}.`,
      advice: isLower ? 'Free registers or LDS, or accept it if the kernel has enough work in flight.' : undefined,
    }),
  ];
}
