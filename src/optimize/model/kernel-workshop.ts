// A captured kernel as the work of a language model: its text, annotated, and typed moves to choose from. Every proposal is assembled, looked at
// and, when it is faster, sent up the whole ladder.
import { assemble } from '../../asm/assemble/assemble.ts';
import { disassembleCodeObject } from '../../asm/index.ts';
import { WavesmithError } from '../../base/index.ts';
import { checkCodeObject } from '../../check/index.ts';
import { link, readCodeObject } from '../../codeobject/index.ts';
import type { LaunchTime } from '../../device/sim/timing/model.ts';
import { timedInstructions, timingReport, timingText } from '../../device/sim/timing/report.ts';
import { physicsFloor } from '../evaluate/physics.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { movesOf } from '../moves/moves.ts';
import { isApart, KernelView, type Move, withMoves } from '../moves/view.ts';
import { type Best, type Contest, verdictWords } from '../search/contest.ts';
import { diffOf, stallsOf } from '../search/search.ts';
import { annotatedText, kernelText } from './kernel-text.ts';
import { type Judgement, type Proposal, patched, type Workshop, withEdits } from './workshop.ts';

/** Moves, findings and past verdicts that a model is told of. */
const MAX_MOVES = 60;
const MAX_FINDINGS = 40;
const MAX_PAST = 12;
const MAX_ERRORS = 8;

const RULES = `You make an AMD GPU kernel faster by changing its machine code. You propose changes with tool calls; a deterministic judge builds and tries each
one: contract, checker, exact runs with other data, addresses, sizes and schedules, physics, modelled time. Only its verdict counts.
- Every byte of memory that the kernel leaves must be the same, for all inputs. No tolerance.
- Keep arguments, the launch, and what the loader sees. You may use more registers if you raise .amdhsa_next_free_vgpr, .amdhsa_next_free_sgpr and .amdhsa_accum_offset.
- A result of a load may be read after an s_waitcnt that covers it; LDS of other waves after a wait and an s_barrier.
- Text behind ';@' is not part of the kernel: the share of the time that waves spend at the instruction, and the reasons with cycles for one execution.
- Make small changes, one idea at a time, at the longest stalls first. A rejected change is not there any more: the next one begins at the best so far.
- Call stop when nothing is left that is worth a try.`;

/** A candidate, or why there is none. */
type Built = { readonly code: Uint8Array; readonly moves: readonly Move[] } | { readonly problem: string };

export class KernelWorkshop implements Workshop {
  readonly what = 'the assembly text of the kernel';
  readonly rules = RULES;
  readonly hasMoves = true;
  readonly contest: Contest;
  private readonly ledger: Ledger | undefined;
  /** Moves of the best so far as they are listed, and its time; made when they are first asked for. */
  private listed: { readonly of: Best; readonly moves: readonly Move[]; readonly time: LaunchTime } | undefined;

  constructor(contest: Contest, ledger: Ledger | undefined) {
    this.contest = contest;
    this.ledger = ledger;
  }

  async briefing(): Promise<string> {
    const { oracle, options } = this.contest.evaluator;
    const { kernel, capture, statics, timed, bytes } = oracle;
    const { dispatch } = capture.manifest;
    const floor = physicsFloor(options.chip, { ...bytes, byEncoding: timed.byEncoding });
    const findings = checkCodeObject(statics.codeObject, { kernels: new Set([kernel]), notes: true });
    const past = this.ledger?.past(capture.identity(), MAX_PAST) ?? [];
    return [
      `Kernel ${kernel} for ${statics.codeObject.target.processor}, modelled on ${options.chip.name}.`,
      `Launch: ${JSON.stringify({ gridWorkItems: dispatch.gridWorkItems, block: dispatch.block, dynamicLds: dispatch.dynamicLds })}. Results must be alike by the class '${options.class ?? 'bit'}'.`,
      await this.state(),
      `Least possible time: ${floor.microseconds.toPrecision(4)} µs (${floor.reason}).`,
      section(
        "The checker's words",
        findings.slice(0, MAX_FINDINGS).map(({ rule, severity, place, message }) => {
          const at = place.pc === undefined ? '' : ` at 0x${place.pc.toString(16)}`;
          return `${severity}[${rule}]${at}: ${message}`;
        }),
      ),
      section(
        'Tried before',
        past.map(({ change, evaluation }) => `${change.split('\n').join('; ')} → ${verdictWords(evaluation)}`),
      ),
    ]
      .filter((text) => text !== '')
      .join('\n\n');
  }

  private async list(): Promise<{ readonly moves: readonly Move[]; readonly time: LaunchTime }> {
    if (this.listed?.of === this.contest.best) return this.listed;
    const { code } = this.contest.best;
    const { time } = await this.contest.evaluator.look(code, 0);
    if (time === undefined) throw new Error('the best so far is no candidate');
    const stalls = stallsOf(time);
    // A schedule is about a whole stretch: what stands in it is told with other moves.
    const placesOf = ({ kind, pc, replace }: Move): number[] => (kind === 'schedule' ? [pc] : [...replace.keys()]);
    const stallAt = (move: Move): number => Math.max(0, ...placesOf(move).map((pc) => stalls.get(pc) ?? 0));
    const moves = movesOf(new KernelView(readCodeObject(code, ['candidate']), this.contest.evaluator.oracle.kernel))
      .map((move, n) => ({ move, n, stall: stallAt(move) }))
      .sort((a, b) => b.stall - a.stall || a.n - b.n)
      .slice(0, MAX_MOVES)
      .map(({ move }) => move);
    this.listed = { of: this.contest.best, moves, time };
    return this.listed;
  }

  /** The best so far: its time, its text, and the moves that it has. */
  private async state(): Promise<string> {
    const { moves, time } = await this.list();
    const listing = annotatedText(
      this.contest.best.code,
      this.contest.evaluator.oracle.kernel,
      timedInstructions(time),
    );
    return [
      timingText(timingReport(time)).join('\n'),
      `The text:\n\`\`\`\n${listing}\n\`\`\``,
      section(
        'Moves that can be made',
        moves.map(({ kind, pc, text }, n) => `${n}: ${kind} at 0x${pc.toString(16)}: ${text}`),
      ),
    ]
      .filter((text) => text !== '')
      .join('\n\n');
  }

  async judge(proposal: Proposal): Promise<Judgement> {
    const built = proposal.kind === 'moves' ? await this.moved(proposal.moves) : this.build(proposal);
    if ('problem' in built) {
      this.contest.refuse('not built');
      return { isKept: false, words: `Not built. ${built.problem}` };
    }
    const { isKept, words } = await this.contest.offer(built.code, {
      moves: built.moves.map(({ kind, pc, text }) => ({ kind, pc, text })),
      reason: proposal.reason,
      change: `${proposal.kind}: ${proposal.reason}`,
      diff: diffOf(this.contest.best.code, built.code),
    });
    return { isKept, words: isKept ? `${words}\n\n${await this.state()}` : words };
  }

  private build(proposal: Exclude<Proposal, { readonly kind: 'moves' }>): Built {
    const { kernel } = this.contest.evaluator.oracle;
    const { edited, whole } = kernelText(disassembleCodeObject(this.contest.best.code), kernel);
    const next = proposal.kind === 'edits' ? withEdits(edited, proposal.edits) : patched(edited, proposal.patch);
    if ('problem' in next) return next;
    const text = whole(next.text);
    if (text === undefined) return { problem: 'The line between the code and the descriptor is gone.' };
    const { object, diagnostics } = assemble(new TextEncoder().encode(text), { file: 'proposal.s' });
    if (object !== undefined) {
      try {
        return { code: link([object], { undefinedSymbols: 'dynamic' }), moves: [] };
      } catch (error) {
        if (!(error instanceof WavesmithError)) throw error;
        return { problem: `It does not link: ${error.message}` };
      }
    }
    const lines = text.split('\n');
    const errors = diagnostics.filter((d) => d.severity === 'error').slice(0, MAX_ERRORS);
    const told = errors.map((e) => `${(lines[(e.line ?? 1) - 1] ?? '').trim()}: ${e.message}`);
    return { problem: `It does not assemble:\n${told.join('\n')}` };
  }

  private async moved(numbers: readonly number[]): Promise<Built> {
    const listed = await this.list();
    const moves: Move[] = [];
    for (const n of new Set(numbers)) {
      const move = listed.moves[n];
      if (move === undefined) return { problem: `There is no move ${n}.` };
      if (!moves.every((other) => isApart(other, move))) {
        return {
          problem: `Move ${n} changes an instruction that another one of them changes. Make them one after the other.`,
        };
      }
      moves.push(move);
    }
    const view = new KernelView(
      readCodeObject(this.contest.best.code, ['candidate']),
      this.contest.evaluator.oracle.kernel,
    );
    return { code: withMoves(view, moves), moves };
  }
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${title}:\n${lines.join('\n')}`;
