// Compiled code goes through the log of reads (read-log.ts), for what puts it into records: the shadow is made to be that of who reads.
import type { WasmFunction } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { LOG_ENTRY, LOG_RUN, MOST_ELEMENT } from '../races/read-log.ts';
import { SHADOW_ACTOR, SHADOW_EPOCH } from '../registers/shadow-layout.ts';

/** Of an entry, the word that says what it is. */
const LAST = 3;

/** Goes through a log, in a function whose first parameters are the shadow, where the log begins and where it ends. */
export class LogWalk {
  private readonly fn: WasmFunction;
  readonly code: Code;
  readonly shadow = 0;
  /** Where the entry is that is looked at, and where that is which says who reads. */
  readonly at = 1;
  private readonly end = 2;
  private readonly reader: number;
  /** The place of the load in the image, and the bytes of its elements. */
  readonly pc: number;
  readonly bytes: number;
  /** The entry (a vector). */
  readonly entry: number;

  constructor(fn: WasmFunction) {
    this.fn = fn;
    this.code = new Code(fn);
    [this.reader, this.pc, this.bytes, this.entry] = [
      fn.local('i32'),
      fn.local('i32'),
      fn.local('i32'),
      fn.local('v128'),
    ];
  }

  pushWord(n: number): WasmFunction {
    return this.fn.get(this.entry).lane('i32x4.extract_lane', n);
  }

  /** Returns where the entry is that says who reads, when the i32 on the stack is 0. */
  leaveUnless(): void {
    this.fn.op('i32.eqz').if().get(this.reader).return().end();
  }

  /** Does `run` for runs of bytes, `lanes` for the elements of four lanes, and leaves the end of the log. */
  write(run: () => void, lanes: () => void): void {
    const { fn, code, at, end, entry } = this;
    code.block((done) => {
      code.loop((again) => {
        fn.get(at).get(end).op('i32.ge_u');
        code.brIf(done);
        fn.get(at).memory('v128.load').set(entry);
        this.pushWord(LAST).i32(LOG_RUN).op('i32.eq');
        code.if(
          () => {
            // Nothing where what it had is in the records.
            this.pushWord(1);
            code.if(run);
          },
          () => {
            this.pushWord(LAST).i32(MOST_ELEMENT).op('i32.le_u');
            code.if(() => this.begin(), lanes);
          },
        );
        fn.get(at).i32(LOG_ENTRY).op('i32.add').set(at);
        code.br(again);
      });
    });
    fn.get(end);
  }

  private begin(): void {
    const { fn, shadow } = this;
    fn.get(this.at).set(this.reader);
    this.pushWord(0).set(this.pc);
    this.pushWord(LAST).set(this.bytes);
    for (const [n, word] of [
      [1, SHADOW_ACTOR],
      [2, SHADOW_EPOCH],
    ] as const) {
      fn.get(shadow);
      this.pushWord(n).memory('i32.store', word);
    }
  }
}
