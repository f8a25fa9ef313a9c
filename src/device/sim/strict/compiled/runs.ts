// Bytes that lanes use one after another are looked at once: a look over the lanes keeps the run that it is in, and hands it on where the next
// lane goes elsewhere.
import type { Frame } from '../../wasm/memory/index.ts';

/** The run that a look is in; its locals are of the function being written. */
export class Run {
  /** The first byte, and the one behind the last; `end` is 0 while there is none. */
  start = 0;
  end = 0;
  /** Four times the first lane. */
  lane = 0;
  private next = 0;
  /** Looks at the run. */
  private readonly flush: (f: Frame) => void;
  /** Bytes of a lane where lanes must follow each other too. */
  private readonly laneBytes: number | undefined;

  constructor(flush: (f: Frame) => void, laneBytes?: number) {
    this.flush = flush;
    this.laneBytes = laneBytes;
  }

  begin({ code }: Frame): void {
    [this.start, this.end, this.lane, this.next] = [
      code.local('i32'),
      code.local('i32'),
      code.local('i32'),
      code.local('i32'),
    ];
    code.fn.i32(0).set(this.end);
  }

  /** The bytes from `a + offset` on are used, by the current lane and those behind it. */
  add(f: Frame, a: number, offset: number, bytes: number): void {
    const { fn } = f.code;
    const { laneBytes } = this;
    fn.get(a);
    if (offset !== 0) fn.i32(offset).op('i32.add');
    fn.tee(this.next).get(this.end).op('i32.ne');
    if (laneBytes !== undefined) {
      // (end - start) / bytes of a lane lanes behind the first one: as bytes of elements against words of lanes.
      fn.get(this.end).get(this.start).op('i32.sub').i32(4).op('i32.mul');
      fn.get(f.at).get(this.lane).op('i32.sub');
      fn.i32(laneBytes).op('i32.mul').op('i32.ne').op('i32.or');
    }
    f.code.if(() => {
      this.finish(f);
      fn.get(this.next).set(this.start);
      if (laneBytes === undefined) return;
      fn.get(f.at).set(this.lane);
    });
    fn.get(this.next).i32(bytes).op('i32.add').set(this.end);
  }

  /** Looks at the run, when there is one, and is in none then. */
  close(f: Frame): void {
    this.finish(f);
    f.code.fn.i32(0).set(this.end);
  }

  /** Looks at the run, when there is one. */
  finish(f: Frame): void {
    f.code.fn.get(this.end);
    f.code.if(() => this.flush(f));
  }
}
