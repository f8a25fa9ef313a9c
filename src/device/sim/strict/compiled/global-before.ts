// Compiled code notes four dwords of global memory whose records (race-details.ts) name other accesses, where these come before: they are the
// wavefront's own, or before a barrier of its workgroup. Programs that change their data in place do that all the time.
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { BYTES, MANY_GROUPS, MANY_UPDATE_GROUPS, MANY_WAVES, MARKS, UPDATE } from '../races/race-details.ts';
import { EVENT_ACTOR, EVENT_EPOCH, EVENTS_KNOWN } from '../races/race-events.ts';
import { HAS_LOOKED_AHEAD, SHADOW_ACTOR, SHADOW_AHEAD, SHADOW_EPOCH } from '../registers/shadow-layout.ts';
import { pushEvents, pushHead, pushNamed, pushNamedFour } from './events.ts';
import { foundFunction } from './found.ts';
import { FourPlaces } from './four.ts';
import { KnownBefore } from './known-before.ts';

/** Of four lanes, in a function whose first parameter is the shadow. */
export class FourRecords {
  private readonly fn: WasmFunction;
  private readonly shadow = 0;
  private readonly four: FourPlaces;
  readonly events: number;
  private readonly fields: number;
  /** Where the events of words are; where the first one is, and whether all are there. */
  private readonly named: number;
  private readonly one: number;
  private readonly isOne: number;
  /** Lanes whose event is of the barrier interval of now. */
  readonly now: number;

  constructor(fn: WasmFunction) {
    this.fn = fn;
    this.four = new FourPlaces(fn);
    [this.events, this.one, this.isOne] = [fn.local('i32'), fn.local('i32'), fn.local('i32')];
    [this.fields, this.now, this.named] = [fn.local('v128'), fn.local('v128'), fn.local('v128')];
    pushEvents(fn, this.shadow).set(this.events);
  }

  splat(word: number): WasmFunction {
    return this.fn.v128(word, word, word, word);
  }

  /** Leaves all ones for words whose event comes before what the wavefront does now, and sets `now`. */
  pushIsBefore(words: number): WasmFunction {
    const { fn, shadow, fields, now } = this;
    this.name(words);
    this.gather(now, 4 * EVENT_EPOCH);
    this.gather(fields, 4 * EVENT_ACTOR);
    fn.get(now).get(shadow).memory('v128.load32_splat', SHADOW_EPOCH).op('i32x4.eq').set(now);
    const actor = (): WasmFunction => fn.get(shadow).memory('v128.load32_splat', SHADOW_ACTOR);
    const groupOf = (push: () => void): void => {
      push();
      this.splat(1);
      fn.op('i32x4.sub').i32(4).op('i32x4.shr_u');
    };
    fn.get(fields);
    actor().op('i32x4.eq');
    groupOf(() => fn.get(fields));
    groupOf(actor);
    return fn.op('i32x4.eq').get(now).op('v128.andnot').op('v128.or');
  }

  /** Leaves all ones for words whose event is the wavefront's own: parts of four dwords are mostly of four wavefronts. */
  pushIsOwn(words: number): WasmFunction {
    const { fn, shadow, fields } = this;
    pushNamedFour(fn, this.events, words).set(fields);
    this.four.set(fields);
    this.four.gather(fields, 4 * EVENT_ACTOR);
    return fn.get(fields).get(shadow).memory('v128.load32_splat', SHADOW_ACTOR).op('i32x4.eq');
  }

  /** Leaves 1 when all words are the same one of the wavefront's own, without marks of others: what it has touched just before. */
  pushIsAllOwn(words: number): WasmFunction {
    const { fn, shadow, events, one } = this;
    fn.get(words).lane('i32x4.extract_lane', 0).tee(one).op('i32x4.splat').get(words).op('v128.xor');
    fn.op('v128.any_true').op('i32.eqz');
    pushNamed(fn, events, one)
      .memory('i32.load', 4 * EVENT_ACTOR)
      .get(shadow)
      .memory('i32.load', SHADOW_ACTOR);
    fn.op('i32.eq').op('i32.and');
    return fn
      .get(one)
      .i32(MARKS & ~BYTES)
      .op('i32.and')
      .op('i32.eqz')
      .op('i32.and');
  }

  /** Leaves 1 when all words are of one event of the wavefront's own that is not `mine`, without marks of others. */
  pushIsOneOwn(words: number, mine: number): WasmFunction {
    const { fn, shadow, events, one } = this;
    fn.get(words).lane('i32x4.extract_lane', 0).tee(one).op('i32x4.splat').get(words).op('v128.xor');
    this.splat(MARKS);
    fn.op('i32x4.le_u').op('i32x4.all_true');
    fn.get(words);
    this.splat(MARKS & ~BYTES);
    fn.op('v128.and').op('v128.any_true').op('i32.eqz').op('i32.and');
    fn.get(one).get(mine).lane('i32x4.extract_lane', 0).op('i32.xor').i32(MARKS).op('i32.gt_u').op('i32.and');
    pushNamed(fn, events, one)
      .memory('i32.load', 4 * EVENT_ACTOR)
      .get(shadow)
      .memory('i32.load', SHADOW_ACTOR);
    return fn.op('i32.eq').op('i32.and');
  }

  /** Sets `named` to where the events of words are. */
  private name(words: number): void {
    const { fn, events, named } = this;
    pushNamedFour(fn, events, words).set(named);
    // Mostly one instruction has touched all four.
    fn.get(named).lane('i32x4.extract_lane', 0).tee(this.one).op('i32x4.splat').get(named).op('v128.xor');
    fn.op('v128.any_true').op('i32.eqz').tee(this.isOne).if().else();
    this.four.set(named);
    fn.end();
  }

  /** Sets a vector to a field of the events that have been named. */
  private gather(vector: number, offset: number): void {
    const { fn } = this;
    fn.get(this.isOne).if();
    fn.get(this.one).memory('v128.load32_splat', offset).set(vector).else();
    this.four.gather(vector, offset);
    fn.end();
  }

  /** Leaves all ones for words that are 0. */
  pushIsNobody(words: number): WasmFunction {
    return this.fn.get(words).v128(0, 0, 0, 0).op('i32x4.eq');
  }

  /** Leaves all ones for words that have none of the marks. */
  pushLacks(words: number, marks: number): WasmFunction {
    this.fn.get(words);
    this.splat(marks);
    return this.fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.eq');
  }

  /** Returns 0 unless all lanes of the vector on the stack are all ones. */
  leaveUnlessAll(): void {
    this.fn.op('i32x4.all_true').op('i32.eqz').if().i32(0).return().end();
  }
}

/**
 * (shadow, words of the writers of four dwords) → 1 when all their accesses come before a load of the wavefront, or are atomics of which it may look ahead
 * (SHADOW_AHEAD).
 */
export function areBeforeFunction(module: WasmModule): WasmFunction {
  const found = foundFunction(module, 'for loads');
  return module.helper('strict.before.load', ['i32', 'v128'], ['i32'], (fn) => {
    const four = new FourRecords(fn);
    const [shadow, words] = [0, 1] as const;
    const [updates, word, last] = [fn.local('v128'), fn.local('i32'), fn.local('i32')];
    const others = fn.local('i32');
    /** There is nothing to learn of what has been handed over, nor where the wavefront or its workgroup before a barrier was the last one. */
    const noteAhead = (): void => {
      fn.get(updates);
      four.pushIsBefore(words).op('v128.andnot').op('i32x4.bitmask').tee(others).if();
      for (let lane = 0; lane < 4; lane++) {
        fn.get(others)
          .i32(1 << lane)
          .op('i32.and')
          .i32(0);
        fn.get(words).lane('i32x4.extract_lane', lane).tee(word).get(last).op('i32.ne').select().if();
        fn.get(shadow);
        pushNamed(fn, four.events, word).get(word).call(found).op('i32.eqz').if();
        fn.get(shadow).i32(HAS_LOOKED_AHEAD).memory('i32.store', SHADOW_AHEAD).end();
        fn.get(word).set(last).end();
      }
      fn.end();
    };
    four.pushLacks(words, UPDATE).op('v128.not').set(updates);
    fn.get(shadow).memory('i32.load', SHADOW_AHEAD).if();
    // Whether atomics come before is not asked where a load may look ahead of them.
    four.pushIsNobody(words).get(updates).op('v128.or').op('i32x4.all_true').if();
    noteAhead();
    fn.i32(1).return().end().else();
    // That the own workgroup was the last one to change dwords by atomics says nothing of others in front of it, but where all has been handed over.
    fn.get(updates).op('v128.any_true').if();
    four.pushLacks(words, MANY_UPDATE_GROUPS).op('v128.not').tee(updates).op('v128.any_true').if();
    four.pushIsBefore(words).get(updates).op('v128.and').get(words);
    pushHead(fn, shadow).memory('v128.load32_splat', EVENTS_KNOWN).op('i32x4.ge_u').op('v128.and');
    fn.op('v128.any_true').if().i32(0).return().end().end();
    four.pushLacks(words, UPDATE).op('v128.not').set(updates).end().end();
    four.pushIsAllOwn(words).if().i32(1).return().end();
    const known = new KnownBefore(fn, 'writers');
    known.begin(shadow);
    known.pushIsNew(words, updates).op('v128.any_true').op('i32.eqz').if().i32(1).return().end();
    four.pushIsNobody(words);
    four.pushIsBefore(words).op('v128.or');
    fn.get(updates).v128(0, 0, 0, 0).get(shadow).memory('i32.load', SHADOW_AHEAD).select().op('v128.or');
    four.leaveUnlessAll();
    fn.get(shadow).memory('i32.load', SHADOW_AHEAD).if();
    noteAhead();
    fn.end();
    fn.i32(1);
  });
}

/**
 * (shadow, the readers' words of four dwords, their writers' words, the event of a store as it is in a word of a record) → 1 when all these readers and
 * writers come before it, and none is of another lane of the store.
 */
export function areBehindFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.before.store', ['i32', 'v128', 'v128', 'v128'], ['i32'], (fn) => {
    const [shadow, readers, writers, mine] = [0, 1, 2, 3] as const;
    const four = new FourRecords(fn);
    const [knownReaders, knownWriters] = [new KnownBefore(fn, 'readers'), new KnownBefore(fn, 'writers')];
    const word = fn.local('i32');
    fn.get(writers).op('v128.any_true').op('i32.eqz').if();
    four.pushIsAllOwn(readers).if().i32(1).return().end();
    fn.end();
    fn.get(mine).lane('i32x4.extract_lane', 0).set(word);
    knownReaders.begin(shadow, word);
    knownWriters.begin(shadow, word);
    knownReaders.pushAsksMore(readers);
    knownWriters.pushAsksMore(writers).op('v128.or').op('v128.any_true').op('i32.eqz').if().i32(1).return().end();
    fn.get(readers).op('v128.any_true').if();
    four.pushIsNobody(readers);
    four.pushIsBefore(readers);
    four.pushLacks(readers, MANY_GROUPS).op('v128.and');
    four.pushLacks(readers, MANY_WAVES).get(four.now).op('v128.not').op('v128.or').op('v128.and').op('v128.or');
    four.leaveUnlessAll();
    fn.end();
    fn.get(writers).op('v128.any_true').if();
    four.pushIsNobody(writers);
    four.pushIsBefore(writers);
    four.pushLacks(writers, MARKS & ~BYTES).op('v128.and');
    // Another lane of the same store.
    fn.get(writers).get(mine).op('v128.xor');
    four.splat(MARKS);
    fn.op('i32x4.gt_u').op('v128.and').op('v128.or');
    four.leaveUnlessAll();
    fn.end();
    fn.i32(1);
  });
}
