// Rules that notice what an edit has lost of the baseline's code, without a proof of what that changes: barriers, stores, results that
// nobody computes any more, branches that go elsewhere, registers that a wider result overwrites, and instructions that are others now.
// Sources: CDNA3 ISA manual, "S_BARRIER", "Program Flow Control", operand tables.
import { type Finding, finding, type RuleId, type Severity } from '../../finding/index.ts';
import { branchTarget } from '../../isa/index.ts';
import {
  type CodeInstruction,
  hasSlot,
  type Liveness,
  livenessOf,
  overlaps,
  type Program,
  SLOT_WORDS,
  slotNames,
  waitRole,
} from '../../program/index.ts';
import { type Edit, editOf, instructionsOf } from '../edit.ts';
import { placeAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';
import { clobberingPcs } from './edit-values.ts';

/** Everything an edit's code has lost. */
export const checkLost: Rule = (context) => {
  const edit = editOf(context);
  return edit === undefined ? [] : new LostCheck(context, edit).run();
};

const isBarrier = ({ instruction }: CodeInstruction): boolean => waitRole(instruction.row).isBarrier;
const isMemory = ({ instruction: { row } }: CodeInstruction): boolean =>
  row.flags.has('mayStore') || row.flags.has('mayLoad');

function isStore({ instruction: { row } }: CodeInstruction): boolean {
  return row.flags.has('mayStore') && !/^(?:buffer_(?:wbl2|inv|wbinvl1)|s_dcache|s_barrier)/.test(row.operation);
}

/** Padding, waits and what other rules compare. */
function isIncidental({ instruction: { row } }: CodeInstruction): boolean {
  return waitRole(row).isWait || /^(?:s_nop|s_sleep|s_setprio|s_code_end|s_endpgm|s_ttracedata)/.test(row.operation);
}

class LostCheck {
  private readonly found: Finding[] = [];
  private readonly context: CheckContext;
  private readonly edit: Edit;
  /** The instructions of both sides, in address order. */
  private readonly before: readonly CodeInstruction[];
  private readonly after: readonly CodeInstruction[];
  /** Those of one side that the other does not have. */
  private readonly lost: readonly CodeInstruction[];
  private readonly inserted: readonly CodeInstruction[];
  /** Registers that inserted instructions write. */
  private readonly rewritten = new Uint32Array(SLOT_WORDS);

  constructor(context: CheckContext, edit: Edit) {
    this.context = context;
    this.edit = edit;
    this.before = instructionsOf(edit.baseline, edit.subject);
    this.after = instructionsOf(context.program, context.subject);
    this.lost = this.before.filter((code) => edit.now(code.index) === undefined);
    this.inserted = this.after.filter((code) => edit.old(code.index) === undefined);
    for (const { effects } of this.inserted) {
      for (const { first, count } of effects.defs) {
        for (let slot = first; slot < first + count; slot++) {
          this.rewritten[slot >>> 5] = (this.rewritten[slot >>> 5] as number) | (1 << (slot & 31));
        }
      }
    }
  }

  run(): Finding[] {
    this.barriers();
    this.stores();
    this.branches();
    this.definitions();
    this.overwritten();
    this.changed();
    return this.found;
  }

  private report(
    rule: RuleId,
    severity: Severity,
    now: CodeInstruction | undefined,
    old: CodeInstruction | undefined,
    message: string,
    advice: string,
    registers: readonly string[] = [],
  ): void {
    const { program, subject } = this.context;
    const { baseline } = this.edit;
    const related =
      old === undefined ? [] : [{ role: 'in the baseline', place: { instruction: baseline.text(old.pc) } }];
    const place = now === undefined ? {} : placeAt(program, now.pc);
    this.found.push(finding({ rule, severity, kernel: subject.name, place, related, registers, message, advice }));
  }

  /** Where something lost would stand: at the next instruction of the baseline that is still there. */
  private near(lost: CodeInstruction): CodeInstruction | undefined {
    const { instructions } = this.edit.baseline;
    for (let i = lost.index + 1; i < instructions.length; i++) {
      const now = this.edit.now(i);
      if (now !== undefined) return now;
    }
    return undefined;
  }

  private barriers(): void {
    for (const code of this.lost.filter(isBarrier)) {
      const message =
        'A barrier of the baseline is gone: wavefronts may use LDS and memory before the others are done with it.';
      this.report('control-flow/barrier-changed', 'error', this.near(code), code, message, 'Keep the s_barrier.');
    }
    for (const code of this.inserted.filter(isBarrier)) {
      const message =
        'The baseline has no barrier here: every wavefront of the workgroup has to reach it as often as the others.';
      this.report(
        'control-flow/barrier-changed',
        'warning',
        code,
        undefined,
        message,
        'See that all wavefronts reach it.',
      );
    }
    this.movedBarriers();
  }

  /** Memory operations that have changed sides of a barrier. */
  private movedBarriers(): void {
    const passed = (list: readonly CodeInstruction[], isPaired: (code: CodeInstruction) => boolean) => {
      const counts = new Map<number, number>();
      let barriers = 0;
      for (const code of list) {
        if (isBarrier(code) && isPaired(code)) barriers++;
        else if (isMemory(code)) counts.set(code.index, barriers);
      }
      return counts;
    };
    const old = passed(this.before, (code) => this.edit.now(code.index) !== undefined);
    const now = passed(this.after, (code) => this.edit.old(code.index) !== undefined);
    for (const code of this.after) {
      const was = this.edit.old(code.index);
      const isLocal = code.instruction.row.flags.has('DS') || code.instruction.row.flags.has('LDSDMA') || isStore(code);
      if (was === undefined || !isLocal || now.get(code.index) === old.get(was.index)) continue;
      const side = (now.get(code.index) ?? 0) > (old.get(was.index) ?? 0) ? 'before' : 'behind';
      const message = `'${this.context.program.text(code.pc)}' is on another side of a barrier than in the baseline, where it stands ${side} it.`;
      this.report('control-flow/barrier-changed', 'warning', code, was, message, 'Keep both in their order.');
    }
  }

  /** Without a new store in their place, what was stored is not stored any more. */
  private stores(): void {
    const replacements = this.inserted.filter(isStore).length;
    for (const code of this.lost.filter(isStore)) {
      const where = code.instruction.row.flags.has('DS') ? 'LDS' : 'memory';
      const message = `The baseline's '${this.edit.baseline.text(code.pc)}' is gone: what it writes to ${where} is ${replacements === 0 ? 'not written any more' : 'written by another instruction now, if at all'}.`;
      const severity = replacements === 0 ? 'error' : 'warning';
      this.report(
        'memory/store-lost',
        severity,
        this.near(code),
        code,
        message,
        'Keep it, or store the same elsewhere.',
      );
    }
  }

  private branches(): void {
    const { program } = this.context;
    const { baseline } = this.edit;
    for (const code of this.after) {
      const was = this.edit.old(code.index);
      const target = branchTarget(code.instruction, code.pc);
      const oldTarget = was && branchTarget(was.instruction, was.pc);
      if (was === undefined || target === undefined || oldTarget === undefined) continue;
      if (this.isSamePlace(oldTarget, target)) continue;
      const message = `'${program.text(code.pc)}' goes to other code than in the baseline.`;
      this.report('control-flow/branch-changed', 'error', code, was, message, 'Keep the label where it was.');
    }
    for (const code of this.lost) {
      if (branchTarget(code.instruction, code.pc) === undefined) continue;
      const message = `The baseline's '${baseline.text(code.pc)}' is gone or has another condition.`;
      this.report(
        'control-flow/branch-changed',
        'error',
        this.near(code),
        code,
        message,
        'Keep the branch and its condition.',
      );
    }
    for (const code of this.inserted) {
      if (branchTarget(code.instruction, code.pc) === undefined) continue;
      const message = `The baseline does not branch here: '${program.text(code.pc)}'.`;
      this.report(
        'control-flow/branch-changed',
        'warning',
        code,
        undefined,
        message,
        'See that it skips nothing that is needed.',
      );
    }
  }

  /**
   * Whether an address of the baseline and one of the edited code are the same place: the same instruction is the first behind both that
   * both sides have, or both begin blocks that hold the other's first, as where the head of a loop was put in another order.
   */
  private isSamePlace(oldPc: number, pc: number): boolean {
    const { program } = this.context;
    const { baseline } = this.edit;
    const wanted = firstFrom(baseline, oldPc, (code) => this.edit.now(code.index) !== undefined);
    const got = firstFrom(program, pc, (code) => this.edit.old(code.index) !== undefined);
    const wantedNow = wanted && this.edit.now(wanted.index);
    const gotOld = got && this.edit.old(got.index);
    if (wantedNow === got) return true;
    if (wantedNow === undefined || gotOld === undefined) return false;
    const block = program.blockAt(pc);
    const oldBlock = baseline.blockAt(oldPc);
    return block !== undefined && program.blockAt(wantedNow.pc) === block && baseline.blockAt(gotOld.pc) === oldBlock;
  }

  /** Results of lost instructions that are read behind them, and that no inserted instruction computes. */
  private definitions(): void {
    const { baseline, subject } = this.edit;
    let liveness: Liveness | undefined;
    let now: Liveness | undefined;
    for (const code of this.lost) {
      if (code.effects.defs.length === 0 || isIncidental(code)) continue;
      liveness ??= livenessOf(baseline, subject);
      now ??= livenessOf(this.context.program, this.context.subject);
      const live = liveness.after(code);
      // Where its readers have other registers now, nobody reads it.
      const near = this.near(code);
      const liveNow = near === undefined ? undefined : now.before(near);
      const missing: number[] = [];
      for (const { first, count } of code.effects.defs) {
        for (let slot = first; slot < first + count; slot++) {
          const isRead = hasSlot(live, slot) && (liveNow === undefined || hasSlot(liveNow, slot));
          if (isRead && !hasSlot(this.rewritten, slot)) missing.push(slot);
        }
      }
      if (missing.length === 0) continue;
      const names = slotNames(missing);
      const message = `The baseline's '${baseline.text(code.pc)}' is gone, but its ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} still read: the code behind gets an older value.`;
      this.report(
        'control-flow/definition-lost',
        'error',
        near,
        code,
        message,
        'Keep it, or compute the value elsewhere.',
        names,
      );
    }
  }

  /** Registers that an inserted instruction writes while the baseline still needs what is in them. */
  private overwritten(): void {
    const { program, subject } = this.context;
    const { baseline } = this.edit;
    let now: Liveness | undefined;
    let old: Liveness | undefined;
    const replaced = new Uint32Array(SLOT_WORDS);
    for (const { effects } of this.lost) {
      for (const { first, count } of effects.defs) {
        for (let slot = first; slot < first + count; slot++) {
          replaced[slot >>> 5] = (replaced[slot >>> 5] as number) | (1 << (slot & 31));
        }
      }
    }
    const known = clobberingPcs(this.context, this.edit);
    for (const code of this.inserted) {
      if (isIncidental(code) || known.has(code.pc)) continue;
      const next = this.nextKept(code);
      if (next === undefined) continue;
      now ??= livenessOf(program, subject);
      old ??= livenessOf(baseline, this.edit.subject);
      const [liveNow, liveOld] = [now.after(code), old.before(next)];
      // What adds to a register means to change it; what was wider than before does not.
      const isWider = this.replacedBy(code) !== undefined;
      const lost: number[] = [];
      for (const { first, count } of code.effects.defs) {
        for (let slot = first; slot < first + count; slot++) {
          const isOwn = !isWider && code.effects.uses.some((r) => slot >= r.first && slot < r.first + r.count);
          if (hasSlot(liveNow, slot) && hasSlot(liveOld, slot) && !hasSlot(replaced, slot) && !isOwn) lost.push(slot);
        }
      }
      if (lost.length === 0) continue;
      const names = slotNames(lost);
      const message = `'${program.text(code.pc)}' overwrites ${names.join(', ')}, which the baseline still reads behind this place.`;
      this.report(
        'control-flow/clobbered',
        'warning',
        code,
        undefined,
        message,
        'Use registers that are dead here.',
        names,
      );
    }
  }

  /** The baseline's instruction that follows the place of an inserted one. */
  private nextKept({ index }: CodeInstruction): CodeInstruction | undefined {
    for (let i = index + 1; i < this.context.program.instructions.length; i++) {
      const old = this.edit.old(i);
      if (old !== undefined) return old;
    }
    return undefined;
  }

  /** Instructions that stand in the place of others and write the same registers: constants, offsets, operations that changed. */
  private changed(): void {
    const { program } = this.context;
    const { baseline } = this.edit;
    for (const code of this.inserted) {
      if (isIncidental(code) || isBarrier(code) || branchTarget(code.instruction, code.pc) !== undefined) continue;
      const was = this.replacedBy(code);
      if (was === undefined) continue;
      const message = `The baseline's '${baseline.text(was.pc)}' is '${program.text(code.pc)}' now.`;
      this.report('control-flow/instruction-changed', 'note', code, was, message, 'Nothing, if it is meant.');
    }
  }

  /** The lost instruction between the same neighbours whose results this one's are, or hold. */
  private replacedBy(code: CodeInstruction): CodeInstruction | undefined {
    const next = this.nextKept(code);
    if (next === undefined) return undefined;
    for (let i = next.index - 1; i >= 0 && this.edit.now(i) === undefined; i--) {
      const old = this.edit.baseline.instructions[i] as CodeInstruction;
      const isSame =
        code.effects.defs.length === old.effects.defs.length &&
        code.effects.defs.every((d, n) => overlaps([d], old.effects.defs.slice(n, n + 1)));
      if (isSame && !isIncidental(old)) return old;
    }
    return undefined;
  }
}

/** The first instruction from an address on that is one of those. */
function firstFrom(
  program: Program,
  pc: number,
  isWanted: (code: CodeInstruction) => boolean,
): CodeInstruction | undefined {
  const { instructions } = program;
  const start = program.at(pc);
  for (let i = start?.index ?? instructions.length; i < instructions.length; i++) {
    const code = instructions[i] as CodeInstruction;
    if (isWanted(code)) return code;
  }
  return undefined;
}
