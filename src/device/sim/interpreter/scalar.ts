// Executes scalar ALU operations and relative branches.

import { immediateOf, requireOperand } from '../../../isa/operand.ts';
import type { BranchOperation, Expr, ScalarOperation } from '../../../isa/semantics/index.ts';
import type { Instruction } from '../../../isa/types.ts';
import { SOURCE_STRIDE } from '../state/lane-env.ts';
import { EXEC, VCC } from '../state/wave.ts';
import { type Context, compileBig, compileNumber, compileTest } from './evaluate.ts';
import { bindScalarWord, registerOf } from './operands.ts';
import type { Step } from './vector.ts';

/** Leaf names an expression reads. */
function leaves(e: Expr | undefined, found = new Set<string>()): Set<string> {
  if (e === undefined) return found;
  if (e.args.length === 0) found.add(e.op);
  for (const a of e.args) leaves(a, found);
  return found;
}

/** Binds a scalar operation. */
export function bindScalar(instruction: Instruction, op: ScalarOperation): Step {
  const context: Context = { types: op.sources.map((s) => s.type), denormals: 'keep' };
  const sources = op.sources.map((s, k) => {
    const read = bindScalarWord(requireOperand(instruction, s.operand), s.type);
    return { read, wide: s.type === 'i64', at: k * SOURCE_STRIDE };
  });
  const usesExec = [op.result, op.exec, op.scc === 'nonzero' ? undefined : op.scc].some((e) => leaves(e).has('exec'));
  const wide = op.resultType === 'i64';
  const target = op.result === undefined ? -1 : registerOf(instruction, 'sdst').encoding;
  const narrow = op.result !== undefined && !wide ? compileNumber(op.result, context) : undefined;
  const big = op.result !== undefined && wide ? compileBig(op.result, context) : undefined;
  const scc = op.scc === undefined || op.scc === 'nonzero' ? undefined : compileTest(op.scc, context);
  const nonzero = op.scc === 'nonzero';
  const exec = op.exec === undefined ? undefined : compileBig(op.exec, context);
  const when = op.when === undefined ? undefined : compileTest(op.when, context);

  return (w) => {
    const { env } = w;
    for (const { read, wide: two, at } of sources) {
      env.words[at] = read(w, 0);
      if (two) env.words[at + 1] = read(w, 1);
    }
    env.scc = w.scc;
    if (usesExec) env.exec = w.s64(EXEC);
    if (when !== undefined && !when(env)) return;
    // Everything is computed from the old state before anything is written.
    const value = narrow === undefined ? 0 : narrow(env);
    const value64 = big === undefined ? 0n : big(env);
    const newExec = exec === undefined ? 0n : exec(env);
    if (scc !== undefined) w.scc = scc(env);
    else if (nonzero) w.scc = wide ? value64 !== 0n : value !== 0;
    if (exec !== undefined) w.setS64(EXEC, newExec);
    if (narrow !== undefined) w.sgprs[target] = value;
    else if (big !== undefined) w.setS64(target, value64);
  };
}

/** Binds a relative branch; `w.pc` is the address of the next instruction when a step runs. */
export function bindBranch(instruction: Instruction, op: BranchOperation): Step {
  const offset = ((immediateOf(instruction, 'simm16') << 16) >> 16) * 4;
  if (op.condition === undefined) {
    return (w) => {
      w.pc += offset;
    };
  }
  const condition = compileTest(op.condition, { types: [], denormals: 'keep' });
  return (w) => {
    const { env, sgprs } = w;
    env.scc = w.scc;
    env.vccz = ((sgprs[VCC] as number) | (sgprs[VCC + 1] as number)) === 0;
    env.execz = ((sgprs[EXEC] as number) | (sgprs[EXEC + 1] as number)) === 0;
    if (condition(env)) w.pc += offset;
  };
}
