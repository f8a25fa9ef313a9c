import type { CodeObject, Kernel, KernelDescriptor } from '../codeobject/index.ts';
import { initialMode } from '../device/sim/dispatch/wave-start.ts';
import { targetInfo } from '../isa/index.ts';
import { PRELOAD_STUB, type Program, Slot } from '../program/index.ts';
import { Budget, DEFAULT_LIMITS, LimitReached, type Limits, type Places } from './budget.ts';
import { isIdenticalKernel } from './identity.ts';
import { idleSkips } from './idle.ts';
import { dataShift, hasSameTables, hasTables, isDataAddress } from './image.ts';
import { hasSameAllocation, interfaceDifference } from './interface.ts';
import { AccessPairs, orderDifference } from './ordering.ts';
import { codePlaces } from './places.ts';
import { Mismatch, Product } from './product.ts';
import { Risks } from './risks.ts';
import { inequality, openPairs } from './smt.ts';
import { argumentSgpr, flatScratchSgpr, initialState, type State } from './state.ts';
import { Algebra } from './step.ts';
import { compareFindings, contextOf, earlyInBoth, ldsOf, mayBeUnrolled, type Subject, subjectOf } from './subject.ts';
import { MASK32, type Term } from './terms.ts';

/** An instruction of one of the two files. */
export interface ProofPlace {
  readonly pc: number;
  readonly instruction: string;
}

/** What is known of a pair of kernels. JSON-able. */
export interface Proof {
  readonly kernel: string;
  /** `proved`: the same function, under `assumptions`. `not-proved`: the comparison stopped at `places` for `reason`. */
  readonly verdict: 'proved' | 'not-proved';
  /** The code is byte for byte the same. */
  readonly isIdentical: boolean;
  /** One sentence; undefined when proved. */
  readonly reason: string | undefined;
  /** Where the comparison stopped, in the baseline and in the edited kernel. */
  readonly places: { readonly baseline: ProofPlace | undefined; readonly edited: ProofPlace | undefined };
  /** What the proof takes for granted, a sentence each. */
  readonly assumptions: readonly string[];
  /** Instructions of the two kernels, points of the product, instructions executed on terms, milliseconds. */
  readonly effort: {
    readonly instructions: number;
    readonly points: number;
    readonly steps: number;
    readonly milliseconds: number;
  };
}

/** Facts about launches that the code does not tell. */
export interface LaunchFacts {
  /** Work-items per workgroup; whole wavefronts begin with every lane on. */
  readonly block?: readonly [number, number, number] | undefined;
  /** No two pointer arguments reach the same byte. */
  readonly noAlias?: boolean | undefined;
  /** Loads do not fault, wherever they are moved to. */
  readonly safeLoads?: boolean | undefined;
}

export interface ProveOptions {
  /** Time and memory one kernel may take; see `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits> | undefined;
  /** Kernel of the second file when it has another name. */
  readonly editedKernel?: string | undefined;
  /** What is known of every launch; a proof that needs it names it. */
  readonly facts?: LaunchFacts | undefined;
  /** Compare the code even when its bytes are the same. */
  readonly ignoreIdentity?: boolean | undefined;
}

const WAVEFRONT = 64;

const ASSUMPTIONS = {
  races:
    'No other wavefront races with this one: between barriers and atomics nobody else writes what it reads or reads what it writes.',
  unspecified: 'Registers that neither the dispatcher nor the kernel has written hold one unspecified value.',
  arguments: 'The kernel does not write its own argument segment.',
  firstLane: 'No v_readfirstlane of the baseline runs with every lane off.',
  dynamicLds: 'The LDS that a launch adds to that of the edited kernel still fits.',
  places: 'No pointer reaches an address of code that was put into scratch.',
  offsets: 'Byte offsets into buffers do not pass 4 GB.',
} as const;

/** Answers a script in SMT-LIB 2: `true` when it is unsatisfiable, `false` for every other answer. */
export type Solver = (script: string) => Promise<boolean>;

/**
 * Whether kernel `name` of `edited` is the same function as that of `baseline`. Both are linked code objects. Never throws for what
 * the code is; `prove/no-such-kernel`, `prove/target`, `prove/no-code` for what was asked.
 */
export function proveKernel(baseline: CodeObject, edited: CodeObject, name: string, options: ProveOptions = {}): Proof {
  const attempt = proof(baseline, edited, name, options);
  let step = attempt.next();
  while (!step.done) step = attempt.next(false);
  return step.value;
}

/** The same, asking a solver of bit vectors where normal forms differ. */
export async function proveKernelWith(
  solver: Solver,
  baseline: CodeObject,
  edited: CodeObject,
  name: string,
  options: ProveOptions = {},
): Promise<Proof> {
  const attempt = proof(baseline, edited, name, options);
  let step = attempt.next();
  while (!step.done) step = attempt.next(await solver(step.value));
  return step.value;
}

/** Milliseconds of processor time for one question, and questions for one kernel. Measured: sign extensions and carries take 10 to 200 ms. */
const QUESTION_MILLISECONDS = 10_000;
const QUESTIONS = 40;

/** Asks whether the terms of a mismatch are equal, and unites those that are; whether there were any. */
function* learn(
  algebra: Algebra,
  mismatch: Mismatch,
  asked: Set<string>,
  budget: Budget,
): Generator<string, boolean, boolean> {
  for (const [a, b] of mismatch.open.flatMap(([x, y]) => openPairs(x, y))) {
    const key = `${a.id}:${b.id}`;
    if (asked.has(key) || asked.size >= QUESTIONS || budget.left === 0) continue;
    const script = inequality(a, b, Math.min(QUESTION_MILLISECONDS, budget.left));
    if (script === undefined) continue;
    asked.add(key);
    if (!(yield script)) continue;
    algebra.terms.unite(a, b);
    return true;
  }
  return false;
}

/** The proof itself; yields questions for a solver of bit vectors, and takes answers. */
function* proof(
  baseline: CodeObject,
  edited: CodeObject,
  name: string,
  options: ProveOptions,
): Generator<string, Proof, boolean> {
  const started = performance.now();
  const budget = new Budget({ ...DEFAULT_LIMITS, ...options.limits });
  const [a, b] = [
    subjectOf(baseline, name, 'baseline'),
    subjectOf(edited, options.editedKernel ?? name, 'edited file'),
  ];
  let product: Product | undefined;
  const finish = (part: Partial<Proof> & Pick<Proof, 'verdict'>): Proof => ({
    kernel: name,
    isIdentical: false,
    reason: undefined,
    places: { baseline: undefined, edited: undefined },
    assumptions: [],
    ...part,
    effort: {
      instructions: a.program.instructions.length + b.program.instructions.length,
      points: product?.size ?? 0,
      steps: product?.steps ?? 0,
      milliseconds: Math.round(performance.now() - started),
    },
  });
  const stop = (reason: string, pcs: Places = NOWHERE): Proof =>
    finish({
      verdict: 'not-proved',
      reason: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`,
      places: { baseline: placeOf(a.program, pcs[0]), edited: placeOf(b.program, pcs[1]) },
    });

  const [target, other] = [baseline.targetId, edited.targetId];
  if (target !== other) return stop(`the kernels are for ${target} and ${other}`);
  if (isOldInterface(baseline) !== isOldInterface(edited))
    return stop(`the files are code objects of version ${baseline.version} and ${edited.version}`);
  const difference = interfaceDifference(a.kernel, b.kernel, targetInfo(a.target));
  if (difference !== undefined) return stop(difference);
  if (options.ignoreIdentity !== true && isIdenticalKernel(baseline, edited, a.kernel, b.kernel)) {
    return finish({ verdict: 'proved', isIdentical: true });
  }
  const shift = dataShift(baseline, edited);
  const worse = compareFindings(a, b);
  if (worse.finding !== undefined)
    return stop(`the checker objects: ${worse.finding.message.replace(/\.$/, '')}`, [
      undefined,
      worse.finding.place.pc,
    ]);

  const algebra = new Algebra(budget);
  algebra.isData = (address) => isDataAddress(baseline, address);
  const early = earlyInBoth(a, b);
  const places = shift === undefined ? undefined : codePlaces(algebra, [a.program, b.program], shift);
  const sides = [
    { program: a.program, imageShift: 0n, early: early[0], places: places?.[0] },
    { program: b.program, imageShift: shift, early: early[1], places: places?.[1] },
  ] as const;
  const states = initialStates(algebra, a, b);
  const facts = options.facts ?? {};
  const stated = applyFacts(algebra, states, facts, a.kernel);
  const recorders = () => [new AccessPairs(), new Risks(algebra.terms, algebra.integers.subsets, budget)] as const;
  let [pairs, risks] = recorders();
  const asked = new Set<string>();
  const isWithoutSkips = idleSkips(a.program) !== idleSkips(b.program);
  let first: Mismatch | undefined;
  for (;;) {
    product?.release();
    product = new Product(algebra, sides, budget, { isUnrolling: first !== undefined, isWithoutSkips });
    try {
      product.solve(entryPairs(a, b), states);
      [pairs, risks] = recorders();
      algebra.forgetScratch();
      product.observe({ access: pairs.access, risk: risks.observe });
      const against = objection(a, b, { algebra, product, pairs, risks, shift, facts, budget });
      if (against !== undefined) return stop(...against);
      break;
    } catch (error) {
      if (!(error instanceof LimitReached || error instanceof Mismatch)) throw error;
      if (error instanceof Mismatch && (yield* learn(algebra, error, asked, budget))) continue;
      if (first !== undefined) return stop(first.message, first.places);
      if (error instanceof LimitReached) return stop(error.message, error.places);
      if (!mayBeUnrolled(a, b)) return stop(error.message, error.places);
      first = error;
    }
  }
  const assumptions: string[] = [
    ASSUMPTIONS.races,
    ASSUMPTIONS.unspecified,
    ASSUMPTIONS.arguments,
    ASSUMPTIONS.firstLane,
    ...(risks.hasOtherOffsets ? [ASSUMPTIONS.offsets] : []),
    ...(algebra.savedPlaces.length > 0 ? [ASSUMPTIONS.places] : []),
    ...(ldsOf(b) > ldsOf(a) ? [ASSUMPTIONS.dynamicLds] : []),
    ...stated,
  ];
  if (worse.mended > 0) {
    assumptions.push(
      `Results that the baseline uses too early come in time; ${worse.mended} objections of the checker to it are mended.`,
    );
  }
  if (worse.shared > 0) {
    assumptions.push(
      `The checker's ${worse.shared} objections to the baseline, which the edited kernel shares, do no harm.`,
    );
  }
  return finish({ verdict: 'proved', assumptions });
}

/** A product whose memories are the same at its ends, and what was seen on the way. */
interface Solved {
  readonly algebra: Algebra;
  readonly product: Product;
  readonly pairs: AccessPairs;
  readonly risks: Risks;
  readonly shift: bigint | undefined;
  readonly facts: LaunchFacts;
  readonly budget: Budget;
}

const NOWHERE: Places = [undefined, undefined];

/** What speaks against two kernels that leave the same terms in memory: a sentence and a place. */
function objection(
  a: Subject,
  b: Subject,
  { algebra, product, pairs, risks, shift, facts, budget }: Solved,
): readonly [string, Places] | undefined {
  const order = orderDifference(contextOf(a), contextOf(b), pairs, algebra.memories, budget);
  if (order !== undefined) {
    const text = b.program.text(order.operation.pc);
    return [`'${text}' may still be in flight where the baseline has waited for it`, [undefined, order.place.pc]];
  }
  const mayRead =
    algebra.readsCode ||
    (algebra.keepsCodeAddress && (hasTables(a.codeObject, a.program) || hasTables(b.codeObject, b.program)));
  if (mayRead && !hasSameTables([a.codeObject, a.program], [b.codeObject, b.program], shift ?? 0n)) {
    return ['the kernel may read constants that lie between the code, and these differ or moved', NOWHERE];
  }
  if (algebra.mayLoadPlaces)
    return ['an address of code may be read from scratch as a number, and code has moved', NOWHERE];
  if (risks.equalised !== undefined) {
    const text = b.program.text(risks.equalised.pc);
    return [`'${text}' takes registers that nobody has written for equal`, [undefined, risks.equalised.pc]];
  }
  const risk = risks.firstNew(product.predecessors, facts.safeLoads === true);
  if (risk !== undefined) {
    const text = b.program.text(risk.code.pc);
    const why =
      risk.risk.kind === 'firstLane'
        ? `'${text}' may run with every lane off, unlike in the baseline`
        : `'${text}' may touch memory that the baseline does not touch on this way`;
    return [why, [undefined, risk.code.pc]];
  }
  return undefined;
}

/** Proofs of all kernels that both files have, in the baseline's order. */
export function proveCodeObject(baseline: CodeObject, edited: CodeObject, options: ProveOptions = {}): Proof[] {
  const names = new Set(edited.kernels.map((k) => k.name));
  return baseline.kernels.filter((k) => names.has(k.name)).map((k) => proveKernel(baseline, edited, k.name, options));
}

/** Whether a kernel finds its implicit arguments where versions before 5 have them. Source: LLVM's AMDGPUUsage, "Code Object V5 Metadata". */
const isOldInterface = ({ version }: CodeObject): boolean => version !== undefined && version < 5;

function placeOf(program: Program, pc: number | undefined): ProofPlace | undefined {
  return pc === undefined ? undefined : { pc, instruction: program.text(pc) };
}

/** Where the kernels are entered: addresses of both. */
function entryPairs(a: Subject, b: Subject): (readonly [number, number])[] {
  const [x, y] = [a.subject.entry, b.subject.entry];
  const preloads = (a.kernel.descriptor?.preload.length ?? 0) > 0;
  return preloads
    ? [
        [x, y],
        [x + PRELOAD_STUB, y + PRELOAD_STUB],
      ]
    : [[x, y]];
}

function initialStates(algebra: Algebra, a: Subject, b: Subject): [State, State] {
  const isArchitected = targetInfo(a.target).architectedFlatScratch;
  const make = ({ kernel }: Subject): State => {
    const descriptor = kernel.descriptor as KernelDescriptor;
    return initialState(algebra.integers, descriptor, initialMode(descriptor.rsrc1), isArchitected);
  };
  const states: [State, State] = [make(a), make(b)];
  const descriptor = a.kernel.descriptor as KernelDescriptor;
  if (descriptor.properties.enableSgprPrivateSegmentBuffer) algebra.scratchResource = states[0][3];
  else if (!isArchitected) {
    const [state] = states;
    const first = flatScratchSgpr(descriptor);
    const slots = [Slot.FLAT_SCRATCH, Slot.FLAT_SCRATCH + 1, ...(first === undefined ? [] : [first, first + 1])];
    algebra.scratchAddresses = new Set(slots.map((slot) => state[slot] as Term));
  }
  algebra.isArchitectedScratch = isArchitected;
  algebra.scratchBytes = descriptor.privateSegmentFixedSize;
  algebra.staticLds = ldsOf(a);
  if (ldsOf(b) > ldsOf(a)) algebra.ldsBytes = ldsOf(a);
  algebra.isSameAllocation = hasSameAllocation(descriptor, b.kernel.descriptor as KernelDescriptor);
  const at = argumentSgpr(descriptor);
  if (at !== undefined) {
    algebra.argumentSegment = algebra.integers.pair(states[0][at] as Term, states[0][at + 1] as Term);
  }
  return states;
}

/** Puts facts about the launch into the initial states; the facts as sentences. */
function applyFacts(
  algebra: Algebra,
  states: readonly [State, State],
  { block, noAlias, safeLoads }: LaunchFacts,
  { metadata }: Kernel,
): string[] {
  const stated: string[] = [];
  const items = block === undefined ? 0 : block[0] * block[1] * block[2];
  if (items > 0 && items % WAVEFRONT === 0) {
    for (const state of states) state.fill(algebra.terms.constant('i32', MASK32), Slot.EXEC, Slot.EXEC + 2);
    stated.push(`Workgroups have ${items} work-items, so every lane is on at first.`);
  }
  if (noAlias === true) {
    const pointers = new Set(
      metadata?.args.filter((a) => a.valueKind === 'global_buffer').map((a) => BigInt(a.offset)),
    );
    algebra.memories.isPointer = (term) => {
      const offset = algebra.argumentOffset(term);
      return offset !== undefined && pointers.has(offset);
    };
    stated.push('No two pointer arguments reach the same byte.');
  }
  if (safeLoads === true) stated.push('Loads do not fault, wherever they are moved to.');
  return stated;
}
