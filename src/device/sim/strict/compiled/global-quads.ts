// Compiled code notes four lanes at a time whose elements of global memory do not follow each other, where the page's details (race-details.ts)
// say that nobody else has to do with them (compiled/global-before.ts), or its reads are logged (read-log.ts), and all bytes that are read have been
// written. What is the same for all lanes of an instruction is read once.
import type { WasmFunction } from '../../wasm/emit.ts';
import type { Label } from '../../wasm/memory/code.ts';
import type { Frame } from '../../wasm/memory/index.ts';
import {
  BYTES,
  HOLDS,
  HOLDS_READS,
  HOLDS_STORES,
  LOGGED,
  MANY_GROUPS,
  MANY_GROUPS_SHIFT,
  MANY_WAVES,
  MARKS,
  PAGE,
  QUICK_UNWRITTEN,
  RECORD_BYTES,
  UPDATE,
} from '../races/race-details.ts';
import { EVENT_ACTOR, EVENT_EPOCH, EVENT_SHIFT } from '../races/race-events.ts';
import { FROZEN } from '../races/race-page.ts';
import {
  HAS_LOOKED_AHEAD,
  SHADOW_ACTOR,
  SHADOW_AHEAD,
  SHADOW_EPOCH,
  SHADOW_PAGE_COUNT,
  SHADOW_PAGES,
  SHADOW_STORES,
} from '../registers/shadow-layout.ts';
import { eventFunction, pushEvents, pushNamedFour, pushOlder, pushReleases } from './events.ts';
import { FourPlaces } from './four.ts';
import { areBeforeFunction, areBehindFunction } from './global-before.ts';
import { pushMasks, pushTouched, putPartsFunction, storePartsFunction } from './global-parts.ts';
import { areUniformFunction, putWideFunction } from './global-wide.ts';
import { LogWriter } from './log.ts';
import { RECORD_SHIFT, TO_WRITER } from './records.ts';
import { Repeats } from './repeats.ts';
import { Span } from './spans.ts';
import { areWrittenFunction, setWrittenFunction } from './written.ts';

const DWORD = 4;
const PAGE_BYTES = DWORD * PAGE;

/** Notes elements of four lanes; its locals are of the function being written. */
export class GlobalQuads {
  private readonly fn: WasmFunction;
  private readonly f: Frame;
  private readonly shadow: number;
  private readonly pc: number;
  private readonly isWrite: boolean;
  private readonly bytes: number;
  private readonly span: Span;
  /** Of loads. */
  private readonly log: LogWriter | undefined;
  /** Of dwords. */
  private readonly repeats: Repeats | undefined;
  /** Entries of the table of pages, and where the quick table behind it is (race-pages.ts); 0 before they are asked for. */
  private readonly count: number;
  private readonly quick: number;
  /** The event of the access as it is in a word of a record, in all lanes; 0 as long as there is none. */
  private readonly mine: number;
  private readonly events: number;
  /** Of stores of parts of dwords: what pushOlder leaves, in all lanes. */
  private readonly older: number;
  /** What a reader's word has of MANY_GROUPS where the word stays as it is (frozenReader), in all lanes. */
  private readonly frozen: number;
  private readonly places: FourPlaces;
  /** Whether not all bytes of a page of a quad were written before the dispatch. */
  private readonly isUnwritten: number;
  /** Where the records of the first dwords of a quad are. */
  private readonly cells: number;
  /** The bytes of parts of dwords that are accessed. */
  private readonly masks: number;
  /** The words of the readers, those that they become, and those of the writers, or what is gathered otherwise. */
  private readonly old: number;
  private readonly next: number;
  private readonly gathered: number;
  /** Who the readers are. */
  private readonly actors: number;
  /** Lanes whose last reader is of the same workgroup, and whose last read is of the same barrier interval. */
  private readonly group: number;
  private readonly now: number;
  private readonly marks: number;
  /** Lanes whose reader's word stays as it is. */
  private readonly stays: number;

  /** In front of all lanes, of so many bytes. */
  constructor(f: Frame, shadow: number, pc: number, bytes: number, isWrite: boolean) {
    const { code, module } = f;
    const { fn } = code;
    const local = (): number => code.local('i32');
    const vector = (): number => code.local('v128');
    [this.fn, this.f, this.shadow, this.pc] = [fn, f, shadow, pc];
    [this.bytes, this.isWrite] = [bytes, isWrite];
    this.span = new Span(code, module, shadow, pc, bytes, isWrite);
    this.log = isWrite ? undefined : new LogWriter(code, shadow, pc, bytes);
    this.repeats = bytes === DWORD ? new Repeats(code, isWrite) : undefined;
    [this.count, this.quick, this.events, this.isUnwritten] = [local(), local(), local(), local()];
    this.places = new FourPlaces(fn);
    [this.mine, this.frozen, this.cells, this.masks] = [vector(), vector(), vector(), vector()];
    this.older = vector();
    [this.old, this.next, this.gathered, this.actors] = [vector(), vector(), vector(), vector()];
    [this.group, this.now, this.marks, this.stays] = [vector(), vector(), vector(), vector()];
    fn.i32(0).set(this.quick);
    fn.v128(0, 0, 0, 0).set(this.mine);
  }

  /**
   * Notes the elements at the offsets of wasm memory in a vector and goes to `done`, or to `slow`: nothing has been noted then. Stores go there when a lane
   * before has had one of the elements; with `seesLanes` also when two of the vector are the same.
   */
  note(all: number, done: Label, slow: Label, seesLanes: boolean): void {
    const { fn, log, cells, repeats } = this;
    const { code } = this.f;
    // Parts of dwords are looked at where two are of one dword.
    if (this.isWrite && seesLanes && this.bytes >= DWORD) {
      fn.get(all).get(all).get(all).shuffle32(1, 2, 3, 0).op('i32x4.eq');
      fn.get(all).get(all).get(all).shuffle32(2, 3, 0, 1).op('i32x4.eq').op('v128.or').op('v128.any_true');
      code.brIf(slow);
    }
    code.block((found) => {
      this.span.note(
        all,
        {
          ...(log === undefined
            ? {}
            : {
                frozen: () => code.br(done),
                logged: () => {
                  log.write(() => fn.get(all), slow);
                  code.br(done);
                },
              }),
          details: (kind) => {
            repeats?.note(all, Span.origin(code, kind), done);
            Span.pushRecords(fn, all, kind).set(cells).i32(0).set(this.isUnwritten);
            code.br(found);
          },
        },
        () => log?.begin(),
      );
      this.find(all, done, slow);
    });
    this.begin(slow);
    if (this.bytes < DWORD) pushMasks(fn, all, this.bytes).set(this.masks);
    if (this.bytes > DWORD) {
      fn.get(cells).call(areUniformFunction(this.f.module, this.bytes)).op('i32.eqz');
      code.if(() => {
        this.noteWords(all, slow);
        code.br(done);
      });
    }
    if (this.isWrite) this.store(all, slow, seesLanes);
    else this.load(all, slow);
    repeats?.learn(this.old, this.gathered, cells);
    code.br(done);
  }

  /** Sets `cells`, or logs the elements and goes to `done`, page by page. */
  private find(all: number, done: Label, slow: Label): void {
    const { fn, old, next, shadow, isWrite, log } = this;
    const { code } = this.f;
    if (this.bytes > 1) {
      // Not in two pages.
      fn.get(all);
      this.splat(PAGE_BYTES - 1);
      fn.op('v128.and');
      this.splat(PAGE_BYTES - this.bytes);
      fn.op('i32x4.gt_u').op('v128.any_true');
      code.brIf(slow);
    }
    fn.get(this.quick).op('i32.eqz');
    code.if(() => {
      fn.get(shadow).memory('i32.load', SHADOW_PAGE_COUNT).tee(this.count).i32(2).op('i32.shl');
      fn.get(shadow).memory('i32.load', SHADOW_PAGES).op('i32.add').set(this.quick);
    });
    fn.get(all).i32(Math.log2(PAGE_BYTES)).op('i32x4.shr_u').tee(next);
    fn.get(this.count).op('i32x4.splat').op('i32x4.ge_u').op('v128.any_true');
    code.brIf(slow);
    fn.get(next).i32(2).op('i32x4.shl').get(this.quick).op('i32x4.splat').op('i32x4.add').set(next);
    this.places.set(next);
    this.places.gather(old, 0);
    this.pushHas(QUICK_UNWRITTEN).set(this.isUnwritten);
    if (log !== undefined) {
      fn.get(old);
      this.splat(~QUICK_UNWRITTEN);
      fn.op('v128.and');
      this.splat(LOGGED);
      fn.op('i32x4.eq').op('i32x4.all_true');
      code.if(() => {
        this.askWritten(all, slow);
        log.write(() => fn.get(all), slow);
        code.br(done);
      });
    }
    this.splat(isWrite ? HOLDS_STORES : HOLDS_READS);
    fn.get(old).op('v128.and').op('i32x4.all_true').op('i32.eqz');
    if (this.bytes > 1) {
      // Records are of dwords.
      fn.get(all);
      this.splat(Math.min(this.bytes, DWORD) - 1);
      fn.op('v128.and').op('v128.any_true').op('i32.or');
    }
    code.brIf(slow);
    fn.get(all);
    this.splat(PAGE_BYTES - DWORD);
    fn.op('v128.and').i32(RECORD_SHIFT).op('i32x4.shl').get(old);
    this.splat(~(HOLDS | QUICK_UNWRITTEN));
    fn.op('v128.and').op('i32x4.add').set(this.cells);
  }

  /** Goes to `slow` when not all bytes of loads have been written. */
  private askWritten(all: number, slow: Label): void {
    const { fn, shadow, bytes } = this;
    const { code, module } = this.f;
    fn.get(this.isUnwritten);
    code.if(() => {
      fn.get(shadow).get(all).call(areWrittenFunction(module, bytes)).op('i32.eqz');
      code.brIf(slow);
    });
  }

  /** Leaves whether the quick table has a mark of a page of the quad. */
  private pushHas(mark: number): WasmFunction {
    this.fn.get(this.old);
    this.splat(mark);
    return this.fn.op('v128.and').op('v128.any_true');
  }

  /** Notes elements of several dwords whose records are not all the same, their first dwords at once, then their second ones. */
  private noteWords(all: number, slow: Label): void {
    const { isWrite } = this;
    if (!isWrite) this.askWritten(all, slow);
    this.eachWord(() => {
      if (isWrite) this.askBehind(slow);
      else this.askBefore(slow);
    });
    this.eachWord(() => {
      this.places.set(this.cells);
      if (isWrite) {
        this.pushMine();
        this.putWords(TO_WRITER, DWORD);
      } else {
        this.places.gather(this.old, 0);
        this.noteRead(slow, DWORD);
      }
    });
    if (isWrite) this.setWritten(all);
  }

  /** Does `work` for each dword of the elements, with `cells` where its records are. */
  private eachWord(work: () => void): void {
    const { fn, cells, bytes } = this;
    const { code } = this.f;
    const left = code.local('i32');
    const step = (records: number): void => {
      fn.get(cells);
      this.splat(records * RECORD_BYTES);
      fn.op('i32x4.add').set(cells);
    };
    fn.i32(bytes / DWORD).set(left);
    code.loop((again) => {
      work();
      step(1);
      fn.get(left).i32(1).op('i32.sub').tee(left);
      code.brIf(again);
    });
    step(-bytes / DWORD);
  }

  private load(all: number, slow: Label): void {
    this.askWritten(all, slow);
    this.askBefore(slow);
    this.noteRead(slow, this.bytes);
  }

  /** Goes to `slow` when not all writers of the dwords at `cells` come before, and sets `old` and `gathered`. */
  private askBefore(slow: Label): void {
    const { fn, shadow, old, gathered, bytes } = this;
    const { code, module } = this.f;
    this.places.set(this.cells);
    this.places.gatherPairs(old, gathered);
    fn.get(gathered).op('v128.any_true');
    code.if(() => {
      code.block((done) => {
        if (bytes === DWORD) this.lookAhead(done);
        fn.get(shadow);
        if (bytes < DWORD) pushTouched(fn, gathered, this.masks);
        else fn.get(gathered);
        fn.call(areBeforeFunction(module)).op('i32.eqz');
        code.brIf(slow);
      });
    });
  }

  /** Goes to `done` where the load has looked ahead of atomics, and all writers in `gathered` are such: areBeforeFunction says no more then. */
  private lookAhead(done: Label): void {
    const { fn, shadow, gathered } = this;
    const { code } = this.f;
    fn.get(shadow).memory('i32.load', SHADOW_AHEAD).i32(HAS_LOOKED_AHEAD).op('i32.eq');
    code.if(() => {
      fn.get(gathered);
      this.splat(UPDATE);
      fn.op('v128.and').v128(0, 0, 0, 0).op('i32x4.ne').get(gathered).v128(0, 0, 0, 0).op('i32x4.eq').op('v128.or');
      fn.op('i32x4.all_true');
      code.brIf(done);
    });
  }

  /** The dwords at `cells`, or so many bytes from there on, are read; `old` has the words of their readers. */
  private noteRead(slow: Label, bytes: number): void {
    const { fn, old } = this;
    const { code } = this.f;
    fn.get(old).op('v128.any_true');
    code.if(
      () => {
        fn.get(old);
        this.splat(MANY_GROUPS);
        fn.op('v128.and').get(this.frozen).op('i32x4.eq').tee(this.stays).op('i32x4.all_true').op('i32.eqz');
        code.if(() => this.noteReaders(slow, bytes));
      },
      () => {
        this.pushMine();
        this.putWords(0, bytes);
      },
    );
  }

  private store(all: number, slow: Label, seesLanes: boolean): void {
    const { fn, shadow, bytes } = this;
    const { code, module } = this.f;
    if (bytes < DWORD) {
      fn.get(shadow)
        .get(this.cells)
        .get(this.masks)
        .get(this.mine)
        .get(this.older)
        .call(storePartsFunction(module, seesLanes))
        .op('i32.eqz');
      code.brIf(slow);
    } else {
      this.askBehind(slow);
      this.pushMine();
      this.putWords(TO_WRITER, bytes);
    }
    this.setWritten(all);
  }

  /** Goes to `slow` when not all who have touched the dwords at `cells` come before the store. */
  private askBehind(slow: Label): void {
    const { fn, shadow, old, gathered, mine } = this;
    const { code, module } = this.f;
    this.places.set(this.cells);
    this.places.gatherPairs(old, gathered);
    fn.get(old).get(gathered).op('v128.or').op('v128.any_true');
    code.if(() => {
      fn.get(shadow).get(old).get(gathered).get(mine).call(areBehindFunction(module)).op('i32.eqz');
      code.brIf(slow);
    });
  }

  private setWritten(all: number): void {
    const { fn, shadow, bytes } = this;
    const { code, module } = this.f;
    fn.get(this.isUnwritten);
    code.if(() => fn.get(shadow).get(all).call(setWrittenFunction(module, bytes)));
  }

  /** Leaves the words of the access where nothing else is to be in them. */
  private pushMine(): WasmFunction {
    const { fn } = this;
    fn.get(this.mine);
    if (this.bytes < DWORD) fn.get(this.masks);
    else this.splat(BYTES);
    return fn.op('v128.or');
  }

  /** The access becomes the last reader of lanes whose words do not stay. */
  private noteReaders(slow: Label, bytes: number): void {
    const { fn, old, next, mine, stays, cells } = this;
    const { code } = this.f;
    // Nobody's, or of this access: it has the bytes of the lane in either case.
    fn.get(old).v128(0, 0, 0, 0).op('i32x4.eq');
    fn.get(old).get(mine).op('v128.xor');
    this.splat(MARKS);
    fn.op('i32x4.le_u').op('v128.or').tee(next).op('i32x4.all_true').op('i32.eqz');
    code.if(
      () => {
        if (this.bytes < DWORD) {
          // Of two lanes with parts of one dword, the second one finds the first.
          fn.get(cells).get(cells).get(cells).shuffle32(1, 2, 3, 0).op('i32x4.eq');
          fn.get(cells).get(cells).get(cells).shuffle32(2, 3, 0, 1).op('i32x4.eq').op('v128.or').op('v128.any_true');
          code.brIf(slow);
        }
        this.joinReaders();
      },
      () => fn.get(old).set(next),
    );
    fn.get(old).get(next);
    this.pushMine().op('v128.or').get(stays).op('v128.bitselect');
    this.putWords(0, bytes);
  }

  /** Stores the words on the stack at so many bytes behind the readers' words, for all dwords of so many bytes. */
  private putWords(offset: number, bytes: number): void {
    const { fn, next, cells } = this;
    const { module } = this.f;
    fn.set(next);
    if (bytes > DWORD)
      fn.get(cells)
        .get(next)
        .call(putWideFunction(module, bytes, offset));
    else if (bytes === DWORD) this.places.put(next, offset);
    else fn.get(cells).get(next).call(putPartsFunction(module, offset));
  }

  private splat(word: number): WasmFunction {
    return this.fn.v128(word, word, word, word);
  }

  /** The access has an event from here on. */
  private begin(slow: Label): void {
    const { fn, shadow, mine } = this;
    const { code, module } = this.f;
    fn.get(mine).op('v128.any_true').op('i32.eqz');
    code.if(() => {
      fn.get(shadow).get(this.pc);
      if (this.isWrite) fn.get(shadow).memory('i32.load', SHADOW_STORES);
      else pushReleases(fn, shadow);
      fn.call(eventFunction(module)).i32(EVENT_SHIFT).op('i32.shl').op('i32x4.splat').tee(mine);
      fn.op('v128.any_true').op('i32.eqz');
      code.brIf(slow);
      this.repeats?.begin(mine);
      if (this.isWrite) {
        if (this.bytes < DWORD) pushOlder(fn, shadow).op('i32x4.splat').set(this.older);
        return;
      }
      pushEvents(fn, shadow).set(this.events);
      fn.get(shadow).memory('i32.load', SHADOW_PAGES).i32(FROZEN).op('i32.add').memory('v128.load32_splat');
      fn.set(this.frozen);
    });
  }

  /** Sets `next` to the words of the dwords, with the marks that RaceDetails.marksOfRead leaves; lanes that are set in `next` keep theirs. */
  private joinReaders(): void {
    const { fn, shadow, old, next, actors, group, now, marks } = this;
    const actor = (): WasmFunction => fn.get(shadow).memory('v128.load32_splat', SHADOW_ACTOR);
    /** Leaves the numbers of the workgroups of actors on the stack (race-events.ts). */
    const groupOf = (): WasmFunction => {
      this.splat(1);
      return fn.op('i32x4.sub').i32(4).op('i32x4.shr_u');
    };
    pushNamedFour(fn, this.events, old).set(actors);
    const events = new FourPlaces(fn);
    events.set(actors);
    events.gather(actors, 4 * EVENT_EPOCH);
    fn.get(actors).get(shadow).memory('v128.load32_splat', SHADOW_EPOCH).op('i32x4.eq').set(now);
    events.gather(actors, 4 * EVENT_ACTOR);
    fn.get(actors);
    groupOf();
    actor();
    groupOf().op('i32x4.eq').set(group);
    fn.get(old);
    this.splat(MARKS);
    fn.op('v128.and').set(marks);
    // Of another wavefront, or another interval.
    fn.get(marks);
    this.splat(~MANY_WAVES);
    fn.op('v128.and').get(now);
    this.splat(MANY_WAVES);
    fn.op('v128.and');
    fn.get(marks);
    if (this.bytes < DWORD) fn.get(this.masks);
    else this.splat(BYTES);
    fn.op('v128.and').i32(MANY_GROUPS_SHIFT).op('i32x4.shl').get(group).op('v128.bitselect').op('v128.or');
    fn.set(group);
    // The wavefront's own of this interval keeps its marks.
    fn.get(marks).get(group).get(actors);
    actor().op('i32x4.eq').get(now).op('v128.and').op('v128.bitselect').set(marks);
    if (this.bytes < DWORD) {
      // The bytes that another one has read are its own no longer.
      fn.get(marks).get(actors);
      actor().op('i32x4.eq');
      this.splat(~BYTES);
      fn.op('v128.or').op('v128.and').set(marks);
    }
    fn.get(old).get(marks).get(next).op('v128.bitselect').set(next);
  }
}
