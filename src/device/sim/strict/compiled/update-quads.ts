// Compiled code notes atomics of global memory four lanes at a time, in pages with details (race-details.ts): counters that many wavefronts update. It does
// as CellWriter.noteUpdate does, where nobody else than atomics has written the dwords, and only loads have read them that may look ahead of atomics.
// Of attempts, which leave memory as it is, and of loads past the caches nothing is noted.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import {
  ATOMIC_WRITE,
  BYTES,
  HOLDS,
  HOLDS_STORES,
  LOGGED,
  MANY_UPDATE_GROUPS,
  MANY_UPDATE_WAVES,
  MARKS,
  PAGE,
  QUICK_UNWRITTEN,
  RECORD_BYTES,
  STORED,
  UPDATE,
} from '../races/race-details.ts';
import { EVENT_ACTOR, EVENT_EPOCH, EVENT_PC } from '../races/race-events.ts';
import { SYNC_EARLY } from '../races/sync-log.ts';
import {
  SHADOW_ACTOR,
  SHADOW_EPOCH,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_SYNC,
} from '../registers/shadow-layout.ts';
import { pushMayLookAhead } from './cell-writer.ts';
import { pushEvents, pushNamed, pushNamedFour } from './events.ts';
import { FourPlaces } from './four.ts';
import { RECORD_SHIFT, TO_WRITER } from './records.ts';
import { areWrittenFunction } from './written.ts';

if (EVENT_ACTOR !== 0 || EVENT_EPOCH !== 2) throw new Error('the events are laid out otherwise');

const DWORD = 4;
const PAGE_BYTES = DWORD * PAGE;

/** (shadow, readers' words of four dwords) → 1 when all that have one are of loads that are known to be such that may look ahead of atomics (SyncLog.setAhead). */
export function areAheadFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.updates.ahead', ['i32', 'v128'], ['i32'], (fn) => {
    const [shadow, words] = [0, 1] as const;
    const [events, place, last] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    pushEvents(fn, shadow).set(events);
    for (let lane = 0; lane < 4; lane++) {
      fn.get(words).lane('i32x4.extract_lane', lane).tee(place).if();
      pushNamed(fn, events, place)
        .memory('i32.load', 4 * EVENT_PC)
        .tee(place)
        .get(last)
        .op('i32.ne')
        .if();
      pushMayLookAhead(fn, shadow, place).op('i32.eqz').if().i32(0).return().end();
      fn.get(place).set(last).end().end();
    }
    fn.i32(1);
  });
}

/** Leaves 1 when somebody may have told something before all of its own stores were complete. */
export function pushIsEarly(fn: WasmFunction, shadow: number): WasmFunction {
  return fn.get(shadow).memory('i32.load', SHADOW_SYNC).memory('i32.load', SYNC_EARLY);
}

/**
 * What atomics do: they change memory, or try to and leave it as it is. Or loads with device scope look past the caches at what they have done, or stores with device
 * scope tell others something.
 */
export type UpdateKind = 'update' | 'attempt' | 'past' | 'release';

/**
 * (shadow, offsets in wasm memory of four elements of so many dwords, the event of the updates as it is in a word of a record) → 1 when they are noted; 0 when nothing is: the
 * elements are to be looked at one by one.
 */
export function updateQuadFunction(module: WasmModule, kind: UpdateKind, dwords: 1 | 2 = 1): WasmFunction {
  const areWritten = areWrittenFunction(module, DWORD * dwords);
  const note = updateRecordsFunction(module, kind, dwords);
  return module.helper(`strict.${kind}s.quad.${dwords}`, ['i32', 'v128', 'v128'], ['i32'], (fn) => {
    const [shadow, all, mine] = [0, 1, 2] as const;
    const [count, quick, page] = [fn.local('i32'), fn.local('i32'), fn.local('i32')] as const;
    const [places, old] = [fn.local('v128'), fn.local('v128')] as const;
    const four = new FourPlaces(fn);
    const splat = (n: number): WasmFunction => fn.v128(n, n, n, n);
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    fn.get(all);
    splat(DWORD * dwords - 1);
    fn.op('v128.and').op('v128.any_true');
    leave();
    fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).tee(count).i32(2).op('i32.shl');
    fn.get(shadow).memory('i32.load', SHADOW_PAGES).op('i32.add').set(quick);
    fn.get(all).i32(Math.log2(PAGE_BYTES)).op('i32x4.shr_u').tee(places).lane('i32x4.extract_lane', 0).tee(page);
    // Mostly all are of one page.
    fn.op('i32x4.splat').get(places).op('v128.xor').op('v128.any_true').if();
    fn.get(places).get(count).op('i32x4.splat').op('i32x4.lt_u').op('i32x4.all_true').op('i32.eqz');
    leave();
    fn.get(places).i32(2).op('i32x4.shl').get(quick).op('i32x4.splat').op('i32x4.add').set(places);
    four.set(places);
    four.gather(old, 0);
    fn.else();
    fn.get(page).get(count).op('i32.ge_u');
    leave();
    fn.get(page).i32(2).op('i32.shl').get(quick).op('i32.add').memory('v128.load32_splat').set(old).end();
    // There are details, or, for loads, none because nobody has stored there.
    fn.get(old);
    splat(~(HOLDS | QUICK_UNWRITTEN | (kind === 'past' ? 0 : LOGGED)));
    fn.op('v128.and').op('i32x4.all_true').op('i32.eqz');
    leave();
    fn.get(old);
    splat(QUICK_UNWRITTEN);
    fn.op('v128.and').op('v128.any_true').if();
    fn.get(shadow).get(all).call(areWritten).op('i32.eqz');
    leave();
    fn.end();
    if (kind === 'attempt' || kind === 'past') {
      // Nobody has touched anything there that matters.
      fn.get(old);
      splat(kind === 'past' ? HOLDS_STORES : HOLDS);
      fn.op('v128.and').op('v128.any_true').op('i32.eqz').if().i32(1).return().end();
    }
    fn.get(old);
    splat(HOLDS_STORES);
    fn.op('v128.and').op('i32x4.all_true').op('i32.eqz');
    leave();
    fn.get(shadow).get(all);
    splat(PAGE_BYTES - DWORD);
    fn.op('v128.and').i32(RECORD_SHIFT).op('i32x4.shl').get(old);
    splat(~(HOLDS | QUICK_UNWRITTEN));
    fn.op('v128.and').op('i32x4.add').get(mine).call(note);
  });
}

/** As updateQuadFunction, of the elements the records of whose first dwords are at four places, in pages with stores; all their bytes have been written. */
export function updateRecordsFunction(module: WasmModule, kind: UpdateKind, dwords: 1 | 2 = 1): WasmFunction {
  const areAhead = areAheadFunction(module);
  return module.helper(`strict.${kind}s.records.${dwords}`, ['i32', 'v128', 'v128'], ['i32'], (fn) => {
    const [shadow, places, mine] = [0, 1, 2] as const;
    const code = new Code(fn);
    code.block((slow) => {
      new UpdateRecords(code, shadow, mine, areAhead, dwords).note(places, slow, kind);
      fn.i32(1).return();
    });
    fn.i32(0);
  });
}

/** Notes updates in records; its locals are of the function being written. */
export class UpdateRecords {
  private readonly code: Code;
  private readonly fn: WasmFunction;
  private readonly shadow: number;
  private readonly mine: number;
  private readonly areAhead: WasmFunction;
  /** Of an element: the records of both are the same, or they are looked at one by one. */
  private readonly dwords: 1 | 2;
  private readonly four: FourPlaces;
  private readonly named: FourPlaces;
  private readonly events: number;
  private readonly words: number;
  private readonly readers: number;
  private readonly epochs: number;
  private readonly actors: number;
  private readonly isSame: number;
  private readonly marks: number;
  /** A word of the last readers that may look ahead: mostly one load of the wavefront has read all that its atomics update. */
  private readonly ahead: number;

  /** `mine`: a local with the event of the atomics as it is in a word of a record, in all lanes; `areAhead` is an areAheadFunction. */
  constructor(code: Code, shadow: number, mine: number, areAhead: WasmFunction, dwords: 1 | 2 = 1) {
    const { fn } = code;
    this.dwords = dwords;
    const vector = (): number => fn.local('v128');
    [this.code, this.fn, this.shadow, this.mine, this.areAhead] = [code, fn, shadow, mine, areAhead];
    [this.four, this.named, this.events] = [new FourPlaces(fn), new FourPlaces(fn), fn.local('i32')];
    [this.words, this.readers, this.epochs] = [vector(), vector(), vector()];
    [this.actors, this.isSame, this.marks, this.ahead] = [vector(), vector(), vector(), vector()];
  }

  private splat(n: number): WasmFunction {
    return this.fn.v128(n, n, n, n);
  }

  private me(): WasmFunction {
    return this.fn.get(this.shadow).memory('v128.load32_splat', SHADOW_ACTOR);
  }

  /** Leaves the numbers of the workgroups of actors (race-events.ts). */
  private groupOf(push: () => void): WasmFunction {
    push();
    this.splat(1);
    return this.fn.op('i32x4.sub').i32(4).op('i32x4.shr_u');
  }

  /** Notes the dwords whose records are at the places in a vector (a local), or goes to `slow`: nothing has been noted then. */
  note(places: number, slow: Label, kind: UpdateKind): void {
    const { fn, code, shadow, four, readers, words, marks, ahead } = this;
    four.set(places);
    if (kind === 'past') {
      four.gather(words, TO_WRITER);
      if (this.dwords === 2) {
        four.gather(readers, RECORD_BYTES + TO_WRITER);
        fn.get(readers).get(words).op('v128.xor').op('v128.any_true');
        code.brIf(slow);
      }
      fn.get(words).v128(0, 0, 0, 0).op('i32x4.eq').get(words);
      // Stores with device scope have told nothing too early where nobody has.
      fn.i32(UPDATE).i32(UPDATE | ATOMIC_WRITE);
      pushIsEarly(fn, shadow).select().op('i32x4.splat');
      fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.ne').op('v128.or').op('i32x4.all_true').op('i32.eqz');
      code.brIf(slow);
      return;
    }
    four.gatherPairs(readers, words);
    if (this.dwords === 2) {
      four.gatherPairs(this.epochs, this.actors, RECORD_BYTES);
      fn.get(readers).get(this.epochs).op('v128.xor').get(words).get(this.actors).op('v128.xor').op('v128.or');
      fn.op('v128.any_true');
      code.brIf(slow);
    }
    // Who has looked at a flag does not matter.
    if (kind !== 'release') {
      fn.get(readers).get(ahead).op('v128.xor');
      this.splat(MARKS);
      fn.op('i32x4.gt_u').op('v128.any_true');
      code.if(() => {
        fn.get(shadow).get(readers).call(this.areAhead).op('i32.eqz');
        code.brIf(slow);
        fn.get(readers).get(readers).shuffle32(0, 0, 0, 0).set(ahead);
      });
    }
    // Nobody's, or an atomic's.
    fn.get(words).v128(0, 0, 0, 0).op('i32x4.eq').get(words);
    this.splat(ATOMIC_WRITE);
    fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.ne').op('v128.or').op('i32x4.all_true').op('i32.eqz');
    code.brIf(slow);
    if (kind !== 'update') {
      // Who has stored there in no atomic is looked for one by one.
      fn.get(words);
      this.splat(STORED);
      fn.op('v128.and').op('v128.any_true');
      code.brIf(slow);
      if (kind === 'attempt') return;
      fn.get(this.mine);
      this.splat(BYTES | ATOMIC_WRITE);
      fn.op('v128.or').set(words);
      this.put(words);
      return;
    }
    fn.get(words).op('v128.any_true');
    code.if(
      () => this.setMarks(slow),
      () => fn.v128(0, 0, 0, 0).set(marks),
    );
    fn.get(marks).get(this.mine).op('v128.or');
    this.splat(BYTES | ATOMIC_WRITE | UPDATE);
    fn.op('v128.or').set(words);
    this.put(words);
  }

  /** The writers' words become those in a vector. */
  private put(words: number): void {
    for (let dword = 0; dword < this.dwords; dword++) this.four.put(words, dword * RECORD_BYTES + TO_WRITER);
  }

  /** Sets `marks`, as RaceDetails.updaters and what GlobalShadow.stored has said: those whom the word names no longer. */
  private setMarks(slow: Label): void {
    const { fn, code, shadow, named, events, words, epochs, actors, isSame, marks } = this;
    const stored = this.readers;
    pushEvents(fn, shadow).set(events);
    pushNamedFour(fn, events, words).set(actors);
    named.set(actors);
    named.gatherWhole(actors, epochs);
    fn.get(epochs).get(shadow).memory('v128.load32_splat', SHADOW_EPOCH).op('i32x4.eq').set(epochs);
    this.groupOf(() => fn.get(actors));
    this.groupOf(() => this.me())
      .op('i32x4.eq')
      .set(isSame);
    fn.get(words);
    this.splat(MANY_UPDATE_WAVES);
    fn.op('v128.and');
    this.splat(MANY_UPDATE_WAVES);
    fn.get(actors);
    this.me().op('i32x4.eq').op('v128.bitselect').get(epochs).op('v128.and').get(words);
    this.splat(MANY_UPDATE_GROUPS);
    fn.op('v128.and').op('v128.or');
    this.splat(MANY_UPDATE_GROUPS);
    fn.get(isSame).op('v128.bitselect').get(words);
    this.splat(UPDATE);
    fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.ne').op('v128.and').get(words);
    this.splat(STORED);
    fn.op('v128.and').tee(stored).op('v128.or').set(marks);
    // What another workgroup has stored there is for TypeScript.
    fn.get(stored).get(isSame).op('v128.andnot').op('v128.any_true');
    code.brIf(slow);
  }
}
