// Room `optimize/search`: search over moves: a beam here, a tree in tree.ts. Every step is a first look at one candidate (contract, checker,
// captured launch, time); the best of a round climb the whole ladder before anything is built on them. Begin with this file.
//
// The search depends on the capture and its options alone: the same search makes the same steps and the same ledger, and one that was ended
// goes on where it was, because looks and verdicts that are in the ledger are not made again.
import { createTwoFilesPatch } from 'diff';
import { disassembleCodeObject } from '../../asm/index.ts';
import { WavesmithError } from '../../base/index.ts';
import { readCodeObject } from '../../codeobject/index.ts';
import { timedInstructions } from '../../device/sim/timing/report.ts';
import type { Evaluator } from '../evaluate/ladder.ts';
import type { Evaluation } from '../evaluate/types.ts';
import { sha256 } from '../hash.ts';
import { movesOf } from '../moves/moves.ts';
import { isApart, KernelView, type Move, type MoveKind, withMoves } from '../moves/view.ts';
import { Judge } from './judge.ts';
import type { SearchOptions, SearchResult, State, Step, Surroundings, Tried } from './state.ts';
import { growTree } from './tree.ts';

/** Gains below this part of the time are not followed. */
export const LEAST_GAIN = 0.0005;
/** Moves of one kernel that are looked at in a round, those at the longest stalls first. */
const MOVES_A_ROUND = 400;

/** Part of what is left of the budget that one round spends on single moves, and the least number: the rest is for what they give together. */
const SINGLES_SHARE = 0.4;
const LEAST_SINGLES = 16;

/** Moves about the whole kernel are few, and tried first; those that the clock does not time, last. */
const WHOLE: ReadonlySet<MoveKind> = new Set([
  'pipeline-loop',
  'hoist-invariant',
  'swizzle-lds',
  'pad-lds',
  'trim-registers',
  'pack-registers',
  'remap-groups',
]);
const UNTIMED: ReadonlySet<MoveKind> = new Set(['raise-priority', 'stream']);
/** Kinds of which all moves that change different code are tried at once, before each alone. */
const PACKED: readonly MoveKind[] = [
  'schedule',
  'rename',
  'relax-wait',
  'sink-wait',
  'hoist-load',
  'fill-nop',
  'drop-skip',
  'scalar-operand',
  'drop-dead',
];

function packsOf(moves: readonly Move[]): Move[][] {
  return PACKED.flatMap((kind) => {
    const pack: Move[] = [];
    for (const move of moves) if (move.kind === kind && pack.every((m) => isApart(m, move))) pack.push(move);
    return pack.length < 3 ? [] : [pack];
  });
}

/** Searches. The evaluator's own baseline is where it begins. */
export async function searchMoves(evaluator: Evaluator, options: SearchOptions): Promise<SearchResult> {
  return await new Search(evaluator, options).run();
}

class Search implements Surroundings {
  private readonly evaluator: Evaluator;
  private readonly options: SearchOptions;
  private readonly seen = new Set<string>();
  private readonly judge: Judge;

  constructor(evaluator: Evaluator, options: SearchOptions) {
    this.evaluator = evaluator;
    this.options = options;
    this.judge = new Judge(evaluator, options.ledger, options.elsewhere, options.signal);
  }

  get isSpent(): boolean {
    return this.judge.looks >= this.options.budget || this.options.signal?.aborted === true;
  }

  async run(): Promise<SearchResult> {
    const { code } = this.evaluator.oracle;
    this.seen.add(sha256(code));
    const own = await this.evaluator.look(code, 0);
    if (own.nanoseconds === undefined)
      throw new WavesmithError('evaluate/baseline', `The baseline is no candidate: ${own.problem}`);
    const start: State = {
      code,
      nanoseconds: own.nanoseconds,
      stalls: stallsOf(own.time),
      steps: [],
      evaluation: undefined,
    };
    const best =
      this.options.method === 'mcts' ? await growTree(this, start, this.options.seed ?? 1) : await this.beam(start);
    return {
      evaluation: best.evaluation,
      code: best.evaluation === undefined ? undefined : best.code,
      steps: best.steps,
      nanoseconds: [start.nanoseconds, best.nanoseconds],
      looks: this.judge.looks,
      climbs: this.judge.climbs,
      outcomes: this.judge.outcomes,
      isBudgetUsed: this.isSpent,
    };
  }

  private async beam(start: State): Promise<State> {
    let beam: State[] = [start];
    let best = start;
    while (!this.isSpent) {
      const tried: Tried[] = [];
      for (const state of beam) tried.push(...(await this.round(state, best)));
      const next = await this.keep(tried);
      const [first] = next;
      if (first === undefined) break;
      if (first.nanoseconds < best.nanoseconds) best = first;
      beam = next;
    }
    return best;
  }

  /** Looks at every move of a state, and at all that help together. */
  private async round(state: State, best: State): Promise<Tried[]> {
    const { view, moves } = this.movesAt(state);
    const found: Tried[] = [];
    const { looks } = this.judge;
    const limit = looks + Math.max(LEAST_SINGLES, Math.ceil((this.options.budget - looks) * SINGLES_SHARE));
    found.push(...(await this.look(state, view, packsOf(moves), best)));
    for (let next = 0; next < moves.length && !this.isSpent && this.judge.looks < limit; ) {
      const room = Math.min(limit, this.options.budget) - this.judge.looks;
      const batch: (readonly Move[])[] = [];
      const size = Math.min(room, this.judge.batch);
      for (; next < moves.length && batch.length < size; next++) batch.push([moves[next] as Move]);
      found.push(...(await this.look(state, view, batch, best)));
    }
    found.sort((a, b) => a.nanoseconds - b.nanoseconds);
    const together: Move[] = [];
    for (const move of found.flatMap((f) => f.moves)) {
      if (together.every((m) => isApart(m, move))) together.push(move);
    }
    while (together.length > 1 && !this.isSpent) {
      const [tried] = await this.look(state, view, [[...together]], best);
      if (tried !== undefined) found.push(tried);
      if (tried !== undefined && tried.nanoseconds <= (found[0] as Tried).nanoseconds) break;
      together.length = together.length >> 1;
    }
    return found;
  }

  /** The moves of a state, those at the longest stalls first. */
  movesAt(state: State): { readonly view: KernelView; readonly moves: readonly Move[] } {
    const view = new KernelView(readCodeObject(state.code, ['candidate']), this.evaluator.oracle.kernel);
    const { kinds } = this.options;
    const stallAt = ({ kind, replace }: Move): number => {
      if (WHOLE.has(kind)) return Number.POSITIVE_INFINITY;
      return UNTIMED.has(kind) ? -1 : Math.max(0, ...[...replace.keys()].map((pc) => state.stalls.get(pc) ?? 0));
    };
    const moves = movesOf(view)
      .filter((m) => kinds === undefined || kinds.includes(m.kind))
      .map((move, n) => ({ move, n, stall: stallAt(move) }))
      .sort((a, b) => (a.stall === b.stall ? a.n - b.n : b.stall - a.stall))
      .slice(0, MOVES_A_ROUND);
    return { view, moves: moves.map((m) => m.move) };
  }

  /** First looks at a state with each of several sets of moves; those that are worth something. */
  async look(from: State, view: KernelView, sets: readonly (readonly Move[])[], best: State): Promise<Tried[]> {
    const fresh: { readonly moves: readonly Move[]; readonly code: Uint8Array }[] = [];
    for (const moves of sets) {
      const code = withMoves(view, moves);
      const hash = sha256(code);
      if (this.seen.has(hash)) continue;
      this.seen.add(hash);
      fresh.push({ moves, code });
    }
    const { onLook, budget } = this.options;
    const least = from.nanoseconds * (1 - LEAST_GAIN);
    const records = await this.judge.lookAll(
      fresh.map((f) => f.code),
      least,
    );
    onLook?.(this.judge.looks, budget, best.nanoseconds);
    return fresh.flatMap(({ moves, code }, i) => {
      const record = records[i];
      if (record === undefined) return [];
      const { nanoseconds, problem } = record;
      if (nanoseconds === undefined) {
        this.judge.count(problem?.split(':')[0] ?? 'rejected');
        return [];
      }
      const isFaster = nanoseconds < least;
      this.judge.count(isFaster ? 'faster' : 'no gain');
      return isFaster ? [{ from, moves, code, nanoseconds }] : [];
    });
  }

  /** The best of a round that are right: they climb the whole ladder. */
  async keep(tried: readonly Tried[], places = this.options.beam): Promise<State[]> {
    const kept: State[] = [];
    const sorted = [...tried].sort((a, b) => a.nanoseconds - b.nanoseconds);
    while (sorted.length > 0 && kept.length < places && this.options.signal?.aborted !== true) {
      // As many as there are places: one after the other would ask for the same.
      const asked = sorted.splice(0, places - kept.length);
      const evaluations = await this.judge.climbAll(
        asked.map(({ from, moves, code }) => ({
          code,
          origin: { parent: sha256(from.code), change: moves.map((m) => `${m.kind}: ${m.text}`).join('\n') },
        })),
      );
      for (const [i, one] of asked.entries()) {
        const evaluation = evaluations[i];
        if (evaluation === undefined) continue;
        if (evaluation.verdict === 'rejected') this.judge.count(evaluation.rung ?? 'rejected');
        else kept.push(await this.state(one, evaluation));
      }
    }
    return kept;
  }

  private async state({ from, moves, code, nanoseconds }: Tried, evaluation: Evaluation): Promise<State> {
    const again = await this.evaluator.look(code, 0);
    const step: Step = {
      moves: moves.map(({ kind, pc, text }) => ({ kind, pc, text })),
      hash: sha256(code),
      nanoseconds,
      diff: diffOf(from.code, code),
      verdict: evaluation.verdict,
      reached: evaluation.reached,
    };
    return { code, nanoseconds, stalls: stallsOf(again.time), steps: [...from.steps, step], evaluation };
  }
}

/** Cycles that waves stand at each instruction, by its offset. */
export function stallsOf(time: Parameters<typeof timedInstructions>[0] | undefined): Map<number, number> {
  if (time === undefined) return new Map();
  return new Map(
    timedInstructions(time).map((t) => [t.offset, Object.values(t.stalls).reduce((a, b) => a + b, 0) * t.hits]),
  );
}

/** How the texts of two code objects differ. */
export function diffOf(before: Uint8Array, after: Uint8Array): string {
  return createTwoFilesPatch('before.s', 'after.s', disassembleCodeObject(before), disassembleCodeObject(after));
}
