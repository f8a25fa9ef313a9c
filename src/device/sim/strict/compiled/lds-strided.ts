// Compiled code notes dwords of LDS of a whole wavefront at once that are the same distance apart: columns of tiles, members of structures.
import { LANES } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code } from '../../wasm/memory/code.ts';
import { progressionFunction } from '../../wasm/memory/index.ts';
import { LDS_FULL, LDS_READER, LDS_READER_PC, LDS_WRITER, LDS_WRITER_PC, LDS_WRITTEN, MANY_TAGS } from '../lds/lds.ts';
import { SHADOW_LDS, SHADOW_LDS_TAG } from '../registers/shadow-layout.ts';
import { pushMayFly } from './flights.ts';
import { extend } from './lds.ts';
import { setMultiples } from './strided.ts';

const DWORD = 4;
/** Lanes of one round of a loop. */
const UNROLLED = 4;

/**
 * (shadow, address of a register, what is to be added to its words, place in the image) → 1 when 64 lanes load or store dwords at these LDS addresses that ascend
 * in the equal steps that pushMayBeStrided has found, and are all right and noted; 0 when they are to be looked at four at a time: nothing wrong has been noted then. The tags
 * are of now, and no operations are in flight but for loads into LDS (LdsQuads).
 */
export function ldsStridedFunction(module: WasmModule, kind: 'load' | 'store' | 'quiet'): WasmFunction {
  const progression = progressionFunction(module, false);
  return module.helper(`strict.lds.strided.${kind}`, ['i32', 'i32', 'i32', 'i32'], ['i32'], (fn) => {
    const code = new Code(fn);
    const [shadow, register, start, pc] = [0, 1, 2, 3] as const;
    const local = (): number => fn.local('i32');
    const [head, at, step, bytes, tag, word] = [local(), local(), local(), local(), local(), local()] as const;
    const leave = (): WasmFunction => fn.if().i32(0).return().end();
    fn.get(shadow).memory('i32.load', SHADOW_LDS).set(head);
    fn.get(register).memory('i32.load', DWORD).get(register).memory('i32.load').tee(at).op('i32.sub').tee(step);
    fn.get(at).get(start).op('i32.add').tee(at).op('i32.or').i32(3).op('i32.and');
    pushMayFly(fn, shadow, head).op('i32.or');
    leave();
    fn.get(register).get(step).call(progression).op('i32.eqz');
    leave();
    fn.get(step)
      .i32(LANES - 1)
      .op('i32.mul')
      .i32(DWORD)
      .op('i32.add')
      .set(bytes);
    if (kind === 'quiet') {
      eachWord(code, { head, at, step, bytes }, 'require');
      fn.i32(1);
      return;
    }
    const [left, other] = [local(), local()] as const;
    const arrays = [LDS_WRITER, LDS_READER].map((which) => ({ which, place: local(), first: local() }));
    /** Where the words are that the lanes set: tags, and places in the image. */
    const [tags, places] = [local(), local()] as const;
    fn.get(shadow).memory('i32.load', SHADOW_LDS_TAG).set(tag);
    for (const { which, place, first } of arrays) {
      fn.get(head).memory('i32.load', which).get(at).op('i32.add').tee(place).memory('i32.load').tee(first);
      fn.i32(0).op('i32.ne').get(first).get(tag).op('i32.ne').op('i32.and');
      // What several wavefronts have read stays as it is.
      if (which === LDS_READER && kind === 'load') fn.get(first).i32(MANY_TAGS).op('i32.ne').op('i32.and');
      leave();
    }
    /** Does `work` for all lanes, with the local moved on from each to the next. */
    const eachLane = (moved: readonly number[], work: () => void): void => {
      fn.i32(LANES / UNROLLED).set(left);
      code.loop((again) => {
        for (let n = 0; n < UNROLLED; n++) {
          work();
          for (const place of moved) fn.get(place).get(step).op('i32.add').set(place);
        }
        fn.get(left).i32(1).op('i32.sub').tee(left);
        code.brIf(again);
      });
    };
    // All have what the first one has.
    const [writers, readers] = arrays as [(typeof arrays)[number], (typeof arrays)[number]];
    fn.i32(0).set(other);
    eachLane([writers.place, readers.place], () => {
      fn.get(other);
      for (const { place, first } of arrays) fn.get(place).memory('i32.load').get(first).op('i32.xor').op('i32.or');
      fn.set(other);
    });
    fn.get(other);
    leave();
    eachWord(code, { head, at, step, bytes }, kind === 'load' ? 'require' : 'set');
    extend(code, head, at, bytes, word);
    const put = (ofTags: number, ofPlaces: number): void => {
      fn.get(head).memory('i32.load', ofTags).get(at).op('i32.add').set(tags);
      fn.get(head).memory('i32.load', ofPlaces).get(at).op('i32.add').set(places);
      eachLane([tags, places], () => fn.get(tags).get(tag).memory('i32.store').get(places).get(pc).memory('i32.store'));
    };
    if (kind === 'store') put(LDS_WRITER, LDS_WRITER_PC);
    else {
      fn.get(readers.first).op('i32.eqz');
      code.if(() => put(LDS_READER, LDS_READER_PC));
    }
    fn.i32(1);
  });
}

/** As locals: the shadow of LDS, the address of the first lane's dword, from one to the next, and from the first to behind the last. */
interface Lanes {
  readonly head: number;
  readonly at: number;
  readonly step: number;
  readonly bytes: number;
}

/** Returns 0 unless all bytes of the lanes' dwords have been written, or notes that they are, unless they are among those of which that is known. */
function eachWord(code: Code, { head, at, step, bytes }: Lanes, what: 'require' | 'set'): void {
  const { fn } = code;
  const [place, left, count, dwords] = [fn.local('i32'), fn.local('i32'), fn.local('i32'), fn.local('i32')] as const;
  const [multiples, mask, word] = [fn.local('i64'), fn.local('i64'), fn.local('i64')] as const;
  fn.get(at).get(bytes).op('i32.add').get(head).memory('i32.load', LDS_FULL).op('i32.gt_u');
  code.if(() => {
    // The bits of the dwords of a word from that of a lane on.
    fn.get(step).i32(2).op('i32.shr_u').set(dwords);
    setMultiples(code, multiples, 15n, dwords, 4);
    const pushFirst = (): WasmFunction => fn.get(place).i32(2).op('i32.shr_u').i32(15).op('i32.and');
    const pushBits = (): WasmFunction =>
      fn.get(head).memory('i32.load', LDS_WRITTEN).get(place).i32(6).op('i32.shr_u').i32(3).op('i32.shl').op('i32.add');
    fn.get(at).set(place).i32(LANES).set(left);
    code.loop((again) => {
      fn.get(multiples);
      pushFirst().i32(2).op('i32.shl').op('i64.extend_i32_u').op('i64.shl').tee(mask);
      fn.op('i64.popcnt').op('i32.wrap_i64').i32(2).op('i32.shr_u').tee(count).get(left).op('i32.gt_u');
      code.if(() => {
        // The last ones end before the word does.
        fn.get(mask).i64(1n);
        pushFirst().get(left).get(dwords).op('i32.mul').op('i32.add').i32(2).op('i32.shl').op('i64.extend_i32_u');
        fn.op('i64.shl').i64(1n).op('i64.sub').op('i64.and').set(mask).get(left).set(count);
      });
      pushBits().memory('i64.load').tee(word).get(mask).op('i64.and').get(mask).op('i64.ne');
      code.if(() => {
        if (what === 'require') fn.i32(0).return();
        else pushBits().get(word).get(mask).op('i64.or').memory('i64.store');
      });
      fn.get(count).get(step).op('i32.mul').get(place).op('i32.add').set(place);
      fn.get(left).get(count).op('i32.sub').tee(left);
      code.brIf(again);
    });
  });
}
