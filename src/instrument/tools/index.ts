// Room `instrument/tools`: the probes that are shipped, one file each; docs/probes/ has a page for each.
// Begin with instr-count.ts.
import type { ProbeDefinition } from '../types.ts';
import blockCoverage from './block-coverage.ts';
import branchDivergence from './branch-divergence.ts';
import instrCount from './instr-count.ts';
import kernelArgs from './kernel-args.ts';
import ldsBankConflicts from './lds-bank-conflicts.ts';
import memCoalescing from './mem-coalescing.ts';
import memTrace from './mem-trace.ts';
import opcodeHistogram from './opcode-histogram.ts';
import poisonCheck from './poison-check.ts';
import regValues from './reg-values.ts';
import timeBlocks from './time-blocks.ts';
import traceExport from './trace-export.ts';
import uninitCheck from './uninit-check.ts';

/** The shipped probes by name. */
export const TOOLS = {
  'instr-count': instrCount,
  'opcode-histogram': opcodeHistogram,
  'block-coverage': blockCoverage,
  'branch-divergence': branchDivergence,
  'kernel-args': kernelArgs,
  'mem-trace': memTrace,
  'mem-coalescing': memCoalescing,
  'lds-bank-conflicts': ldsBankConflicts,
  'poison-check': poisonCheck,
  'reg-values': regValues,
  'time-blocks': timeBlocks,
  'trace-export': traceExport,
  'uninit-check': uninitCheck,
} as const satisfies Readonly<Record<string, Pick<ProbeDefinition, 'name' | 'summary'>>>;

export type ToolName = keyof typeof TOOLS;
