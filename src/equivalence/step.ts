// What the steps of one instruction share: the pool with its normal forms, and the state before the instruction.
import type { Instruction } from '../isa/types.ts';
import type { CodeInstruction } from '../program/index.ts';
import type { Budget } from './budget.ts';
import { NotFollowed } from './errors.ts';
import { Integers } from './integers.ts';
import { Masks } from './masks.ts';
import { Memories, type Place } from './memory.ts';
import type { State } from './state.ts';
import { Code, type Term, Terms } from './terms.ts';

const PLACE_AS_NUMBER = 'the address of a function or of what is behind a call is used as a number, and code has moved';

/** The pool and the normal forms of one comparison; both programs use the same. */
export class Algebra {
  readonly terms: Terms;
  readonly integers: Integers;
  readonly masks: Masks;
  readonly memories: Memories;
  /** Address of the argument segment, when the kernel is given one. */
  argumentSegment: Term | undefined;

  /** Word 3 of the scratch buffer's resource, when the kernel is given one: its lanes never reach each other's bytes. */
  scratchResource: Term | undefined;
  /** Scratch needs no address in FLAT_SCRATCH. */
  isArchitectedScratch = true;
  /** Bytes of scratch that every lane of both kernels has. */
  scratchBytes = 0;
  /** Both kernels are given as many registers and as much LDS. */
  isSameAllocation = true;
  /** Bytes of LDS that every launch gives the baseline, and no fewer the edited kernel. */
  staticLds = 0;
  /** Set when the edited kernel has more LDS: bytes of the baseline's, beyond which it finds other memory. */
  ldsBytes: number | undefined;
  /** Values that scratch is reached by where hardware does not keep them to itself. */
  scratchAddresses: ReadonlySet<Term> = new Set();
  private readonly reachesScratch = new Map<Term, boolean>();
  /** Whether an address of the baseline lies in its data; addresses in the code are those of tables between instructions. */
  isData: (address: bigint) => boolean = () => true;
  /** Something is read from a code section. */
  readsCode = false;
  /** An address in a code section was put into memory. */
  keepsCodeAddress = false;
  /** Where in scratch places in the code were put, and where something was loaded that was not seen being stored. */
  savedPlaces: Place[] = [];
  openLoads: Place[] = [];

  /** `budget`: told what the terms take. */
  constructor(budget?: Budget) {
    this.terms = new Terms(budget);
    this.integers = new Integers(this.terms);
    this.masks = new Masks(this.integers);
    this.memories = new Memories(this.integers);
    const image = this.terms.symbol('image', 'i64');
    const low = this.integers.lo(image);
    this.terms.isInCode = (sum, constant) => (sum.includes(image) || sum.includes(low)) && !this.isData(constant);
    this.terms.onCode = (effect) => this.noteCode(effect);
  }

  /** Something of `Code` went into what happened to a memory. */
  private noteCode(effect: Term): void {
    if (effect.op === 'write') return;
    if ((effect.code & Code.ADDRESS) !== 0) this.keepsCodeAddress = true;
    if ((effect.code & Code.PLACE) === 0) return;
    const [, lanes, offset, , base] = effect.args;
    const isSaved = effect.op === 'store' && /^(?:scratch|buffer) /.test(effect.attr);
    for (const value of isSaved ? [lanes, offset, base] : effect.args)
      if (value !== undefined) this.mustBeNumber(value);
    if (effect.attr.startsWith('buffer ') && !this.isScratchBuffer(base)) throw new NotFollowed(PLACE_AS_NUMBER);
  }

  /** Begins the lists of what was put into scratch and loaded from it anew. */
  forgetScratch(): void {
    this.savedPlaces = [];
    this.openLoads = [];
  }

  /** The symbol of a place in the code, by a name that both programs share. */
  codePlace(name: string): Term {
    return this.terms.symbol(name, 'i64', { code: Code.PLACE });
  }

  /** Whether something that was loaded from scratch may be a place in the code. */
  get mayLoadPlaces(): boolean {
    const { memories } = this;
    return this.savedPlaces.some((saved) => this.openLoads.some((load) => !memories.areApart(saved, load)));
  }

  /** Whether what a buffer instruction counts from is the scratch that the kernel was given. */
  isScratchBuffer(base: Term | undefined): boolean {
    return this.scratchResource !== undefined && base?.op === 'buffer' && base.args[3] === this.scratchResource;
  }

  /** Throws `NotFollowed` for what is computed from a place in the code: it is another number in each program. */
  mustBeNumber(value: Term): void {
    if (value.kind !== 'effect' && (value.code & Code.PLACE) !== 0) throw new NotFollowed(PLACE_AS_NUMBER);
  }

  /** Notes that something is read at an address, counted from a base if it has one. */
  noteRead(address: Term, base: Term | undefined): void {
    if (((address.code | (base?.code ?? 0)) & Code.ADDRESS) !== 0) this.readsCode = true;
  }

  /** Whether a value is computed from the address of scratch. */
  isOfScratch(value: Term): boolean {
    if (this.scratchAddresses.size === 0 || value.kind === 'effect') return false;
    if (this.scratchAddresses.has(value)) return true;
    let answer = this.reachesScratch.get(value);
    if (answer === undefined) {
      answer = value.args.some((arg) => this.isOfScratch(arg));
      this.reachesScratch.set(value, answer);
    }
    return answer;
  }

  /** Where in the arguments a loaded dword comes from; undefined: from elsewhere. */
  argumentOffset(term: Term): bigint | undefined {
    if (term.op !== 'load' || term.args[0]?.attr !== 'arguments' || this.argumentSegment === undefined)
      return undefined;
    const offset = this.integers.sub(term.args[1] as Term, this.argumentSegment);
    return offset.op === 'const' ? offset.value : undefined;
  }

  /** Whether an address lies at a constant distance from the argument segment. */
  isArgument(address: Term): boolean {
    return this.argumentSegment !== undefined && this.integers.sub(address, this.argumentSegment).op === 'const';
  }
}

/** What is safe under a condition only: the edited kernel may do it where the baseline does. */
export type Risk =
  /** Bytes that the lanes (undefined: the scalar unit) load or store, which must be there. */
  | { readonly kind: 'reach'; readonly address: Term; readonly bytes: number; readonly lanes: Term | undefined }
  /** A first lane of these was asked for, and its value did not depend on which lane that is. */
  | { readonly kind: 'firstLane'; readonly lanes: Term }
  /** A result does not depend on what nobody has written, though it was computed from several such registers; `from`: their values. */
  | { readonly kind: 'cancelled'; readonly from: readonly Term[] }
  /** A buffer's byte offset as the sum of a register and a constant. */
  | { readonly kind: 'bufferOffset'; readonly register: Term; readonly constant: number };

/** Places in one program's code where code has moved: a symbol for each, the same one for its counterpart in the other program. */
export interface CodePlaces {
  /** What a call leaves to return to, by that address. */
  readonly behindCalls: ReadonlyMap<number, Term>;
  /** Functions by their address. */
  readonly entries: ReadonlyMap<number, Term>;
  readonly addresses: ReadonlyMap<Term, number>;
}

/** Told what happens while a solved comparison is walked once more. */
export interface Watcher {
  /** The term that an access of memory made. */
  readonly access: (code: CodeInstruction, term: Term) => void;
  readonly risk: (code: CodeInstruction, risk: Risk) => void;
}

/** One instruction while it executes; `state` is changed in place. */
export interface Step {
  readonly algebra: Algebra;
  readonly code: CodeInstruction;
  readonly instruction: Instruction;
  readonly state: State;
  /** EXEC before the instruction. */
  readonly exec: Term;
  /**
   * Subtracted from addresses of the code object, so that both programs name their constants alike. Undefined when that cannot be,
   * because the constant data of the two files differ.
   */
  readonly imageShift: bigint | undefined;
  /** Undefined: addresses of code are numbers. */
  readonly places: CodePlaces | undefined;
  readonly watcher: Watcher;
}

/** Where control goes after an instruction; undefined: to the next one. */
export type Outcome =
  | { readonly kind: 'branch'; readonly condition: Term }
  | { readonly kind: 'jump'; readonly target: Term }
  | { readonly kind: 'end'; readonly how: string }
  | undefined;
