// Rule `waits/too-strong`: waits that wait for more than anything behind them needs, with the largest count that is safe.
// Forward data flow: for each operation that a wait proves, whether it is needed before a later wait proves it too.
// Source: CDNA3 ISA manual, "Data Dependency Resolution".
import { type Finding, finding, type WaitCounters } from '../../finding/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  EXP_FULL,
  LGKM_FULL,
  type MemoryKind,
  overlaps,
  solveForward,
  VM_FULL,
  waitCounts,
  waitRole,
} from '../../program/index.ts';
import { placeAt } from '../place.ts';
import type { CheckContext, Rule } from '../types.ts';
import { outstandingAtBlocks, stepThrough } from './waits.ts';
import type { WaitState } from './waits-state.ts';

/** An operation that a wait has proved, and nobody has needed yet. */
interface Proof {
  readonly operation: CodeInstruction;
  readonly wait: CodeInstruction;
  readonly kind: MemoryKind;
  /** Operations of its kind issued before the wait, and until now; on the path with the fewest. */
  readonly atWait: number;
  readonly now: number;
}

type Proofs = Map<string, Proof>;
type Counter = 'vm' | 'lgkm';

/** The largest counts that are safe, by wait; absent where nothing needs the counter. */
type Needs = Map<CodeInstruction, Partial<Record<Counter, number>>>;

const keyOf = (p: Proof): string => `${p.operation.index}/${p.wait.index}`;

function counterOf(kind: MemoryKind): Counter {
  return kind === 'vm' ? 'vm' : 'lgkm';
}

class Walk {
  readonly needs: Needs = new Map();
  private readonly context: CheckContext;

  constructor(context: CheckContext) {
    this.context = context;
  }

  private need({ wait, kind, atWait }: Proof): void {
    const known = this.needs.get(wait) ?? {};
    const set = (counter: Counter, count: number): void => {
      known[counter] = Math.min(known[counter] ?? Number.POSITIVE_INFINITY, count);
    };
    if (kind === 'flat') {
      set('vm', 0);
      set('lgkm', 0);
    } else set(counterOf(kind), kind === 'scalar' ? 0 : atWait);
    this.needs.set(wait, known);
  }

  /** Changes the proofs as a block does. */
  run(block: BasicBlock, input: WaitState, proofs: Proofs): void {
    stepThrough(this.context, block, input, (code, state) => this.step(code, state, proofs));
    // Who calls or is called may need everything.
    if (block.exit === 'call' || block.exit === 'return' || block.exit === 'unresolved' || block.exit === 'indirect') {
      for (const proof of proofs.values()) this.need(proof);
      proofs.clear();
    }
  }

  private step(code: CodeInstruction, state: WaitState, proofs: Proofs): void {
    const role = waitRole(code.instruction.row);
    if (role.isWait) {
      this.wait(code, state, proofs);
      return;
    }
    const { uses, keeps, defs } = code.effects;
    const orders = role.isBarrier || isCacheOperation(code) || isAtomicOrStore(code);
    const readsLds = code.instruction.row.flags.has('DS');
    for (const [key, proof] of proofs) {
      const written = proof.operation.effects.defs;
      const inOrder =
        role.kind !== undefined && role.kind === proof.kind && role.kind !== 'scalar' && role.kind !== 'flat';
      const isUsed = overlaps(written, uses) || (!inOrder && (overlaps(written, defs) || overlaps(written, keeps)));
      const isOrdered =
        (role.isBarrier && proof.kind !== 'scalar') ||
        (orders && proof.kind !== 'scalar') ||
        (readsLds && proof.operation.instruction.row.flags.has('LDSDMA'));
      if (isUsed || isOrdered) this.need(proof);
      if (isUsed || isOrdered || proof.operation === code) proofs.delete(key);
      else if (role.kind === proof.kind && (proof.kind === 'vm' || proof.kind === 'lds')) {
        const full = proof.kind === 'vm' ? VM_FULL : LGKM_FULL;
        if (proof.now + 1 >= full) proofs.delete(key);
        else proofs.set(key, { ...proof, now: proof.now + 1 });
      }
    }
  }

  private wait(code: CodeInstruction, state: WaitState, proofs: Proofs): void {
    const { vm, lgkm } = waitCounts(code.instruction);
    if (!this.needs.has(code)) this.needs.set(code, {});
    const proves = (kind: MemoryKind, age: number): boolean => {
      if (kind === 'vm') return vm < VM_FULL && age >= vm;
      if (kind === 'lds') return lgkm < LGKM_FULL && age >= lgkm;
      return kind === 'scalar' ? lgkm === 0 : vm === 0 && lgkm === 0;
    };
    for (const [key, proof] of proofs) if (proves(proof.kind, proof.now)) proofs.delete(key);
    for (const kind of ['vm', 'lds', 'scalar'] as const) {
      for (const { operation, least, most } of state.ages(kind)) {
        // What is proved on some paths only: another count may prove it on fewer.
        const age = kind === 'scalar' || proves(kind, least) ? least : most;
        if (!proves(kind, age)) continue;
        const atWait = kind === 'scalar' ? 0 : proves(kind, least) ? least : kind === 'vm' ? vm : lgkm;
        const proof = { operation, wait: code, kind, atWait, now: least };
        proofs.set(keyOf(proof), proof);
      }
    }
    for (const { operation, least } of state.ages('flat')) {
      if (vm !== 0 && lgkm !== 0) continue;
      const proof: Proof = { operation, wait: code, kind: 'flat', atWait: 0, now: least };
      proofs.set(keyOf(proof), proof);
    }
  }
}

const isCacheOperation = ({ instruction }: CodeInstruction): boolean =>
  /^buffer_(?:wbl2|inv|wbinvl1)|^s_dcache|^s_(?:sendmsg|endpgm_saved)/.test(instruction.row.operation);

function isAtomicOrStore({ instruction }: CodeInstruction): boolean {
  const { flags } = instruction.row;
  return flags.has('IsAtomicRet') || flags.has('IsAtomicNoRet') || (flags.has('FLAT') && flags.has('mayStore'));
}

function joinProofs(into: Proofs, from: Proofs): boolean {
  let changed = false;
  for (const [key, proof] of from) {
    const mine = into.get(key);
    if (mine !== undefined && mine.now <= proof.now && mine.atWait <= proof.atWait) continue;
    const now = Math.min(proof.now, mine?.now ?? proof.now);
    into.set(key, { ...proof, now, atWait: Math.min(proof.atWait, mine?.atWait ?? proof.atWait) });
    changed = true;
  }
  return changed;
}

/** Waits of a kernel with a larger count that is as safe. */
export const checkStrongWaits: Rule = (context: CheckContext) => {
  const { program, subject } = context;
  if (subject.kernel === undefined) return [];
  const inputs = outstandingAtBlocks(context);
  const walk = new Walk(context);
  solveForward<Proofs>(program, subject, {
    entry: () => new Map(),
    copy: (proofs) => new Map(proofs),
    transfer: (block, proofs) => {
      const input = inputs.get(block.index);
      if (input !== undefined) walk.run(block, input, proofs);
    },
    join: joinProofs,
  });
  const findings: Finding[] = [];
  for (const [code, needs] of [...walk.needs].sort(([a], [b]) => a.index - b.index)) {
    const { vm, exp, lgkm } = waitCounts(code.instruction);
    const better: string[] = [];
    const kept = (name: string, is: number, full: number, need: number | undefined): number | undefined => {
      if (is >= full || (need !== undefined && need <= is)) return is >= full ? undefined : is;
      better.push(need === undefined ? `no ${name}` : `${name}(${need})`);
      return need;
    };
    const counters: WaitCounters = {
      vmcnt: kept('vmcnt', vm, VM_FULL, needs.vm),
      expcnt: exp >= EXP_FULL ? undefined : exp,
      lgkmcnt: kept('lgkmcnt', lgkm, LGKM_FULL, needs.lgkm),
    };
    if (better.length === 0) continue;
    const instruction = program.text(code.pc);
    findings.push(
      finding({
        rule: 'waits/too-strong',
        kernel: subject.name,
        place: placeAt(program, code.pc),
        message: `'${instruction}' waits for more than the code behind it needs: ${better.join(' and ')} would be as safe.`,
        edits: [{ kind: 'set-wait', pc: code.pc, counters }],
        advice: 'Later waits cover the rest.',
      }),
    );
  }
  return findings;
};
