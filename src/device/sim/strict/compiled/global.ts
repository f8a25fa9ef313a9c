// Looks at accesses of global memory: their lanes' bytes are noted in the records of pages. Where a store's dwords are moved in the same go,
// those of lanes that follow each other are moved when they have been looked at as one.
import { WAVE_SHADOW } from '../../state/layout.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import { Code, type Label } from '../../wasm/memory/code.ts';
import type { Frame, Look } from '../../wasm/memory/index.ts';
import { forgetDropped, noteDropped } from '../drops.ts';
import { GlobalQuads } from './global-quads.ts';
import { apart } from './lanes.ts';
import { logWaveFunction } from './log-wave.ts';
import { looking } from './looks.ts';
import { areManyFunction, maskedFunction } from './masked-rows.ts';
import { overlappingFunction, pushMayOverlap } from './overlapping.ts';
import { pageFunction } from './pages.ts';
import { Run } from './runs.ts';
import { lanesFunction, someLanesFunction } from './scattered.ts';
import { Span } from './spans.ts';
import { pushMayBeStrided, stridedFunction } from './strided.ts';
import { LEFT } from './strided-dwords.ts';
import { stridedPartsFunction } from './strided-parts.ts';
import { updateQuadFunction, updateRecordsFunction } from './update-quads.ts';
import { noteUpdated, pushUpdateEvent, updateFunction, updatesFunction } from './updates.ts';

/** Stores of parts of dwords are looked at and moved in one go where their lanes are at places of their own. */
const movesParts = (bytes: number, canDrop: boolean): boolean => bytes < 4 && !canDrop;

/** Whether an access is looked at and moved in one go: registers of wide stores do not lie as their bytes in memory do. `canDrop`: as lookAtGlobal has it. */
export const movesGlobal = (bytes: number, kind: 'load' | 'store' | 'atomic', canDrop: boolean): boolean =>
  kind === 'load' || (kind === 'store' && (bytes === 4 || movesParts(bytes, canDrop)));

/**
 * Notes accesses of global memory, of which `canDrop` says whether a buffer's bounds may drop some. The parameter is the instruction's place in the
 * image.
 */
export function lookAtGlobal(bytes: number, isWrite: boolean, toLds: boolean, canDrop: boolean): Look {
  let shadow = 0;
  const canStride = isWrite && bytes === 4 && !canDrop;
  const canMask = isWrite && bytes >= 4 && !canDrop;
  let quads: GlobalQuads | undefined;
  const isMoved = isWrite && bytes === 4 && !toLds;
  /** 1 where all lanes of a store have been noted before they are gone over: another note of one of their bytes would tell two lanes with one address. */
  let isNoted = 0;
  const run = new Run(
    (f) => {
      const [pc] = f.extra as [number];
      const { fn } = f.code;
      const pushBytes = (): WasmFunction => fn.get(run.end).get(run.start).op('i32.sub');
      const notePages = (): void => {
        fn.get(shadow).get(run.start);
        pushBytes().get(pc);
        fn.call(pageFunction(f.module, isWrite ? 'store' : 'load')).op('i32.eqz');
        f.code.if(() => f.resume());
      };
      if (canMask) {
        fn.get(isNoted).op('i32.eqz');
        f.code.if(notePages);
      } else notePages();
      if (!isMoved) return;
      fn.get(run.start).get(f.data).get(run.lane).op('i32.add');
      pushBytes().call(wordsFunction(f.module));
    },
    isMoved ? bytes : undefined,
  );
  const note = (f: Frame, a: number, offset: number, count: number): void => run.add(f, a, offset, count);
  const key = `global.${bytes}${isWrite ? '.store' : ''}${canStride ? '.strided' : canMask ? '.masked' : ''}`;
  const plain = looking(bytes, isWrite, key, 1, note, (f) => {
    shadow = f.code.local('i32');
    f.code.fn.get(f.wave).memory('i32.load', WAVE_SHADOW).set(shadow);
    run.begin(f);
    forgetDropped(f.code.fn, shadow);
    const [pc] = f.extra as [number];
    quads = new GlobalQuads(f, shadow, pc, bytes, isWrite);
    if (!canMask) return;
    isNoted = f.code.local('i32');
    f.code.fn.i32(0).set(isNoted);
  });
  /**
   * Lanes without a bit have the address of another one: that it is noted twice makes no difference. `ask` asks whether the lanes of a store are
   * apart, where quads do not see that.
   */
  const lanes = (f: Frame, addresses: number, bits?: number, ask?: () => void): void => {
    const [pc] = f.extra as [number];
    const { code } = f;
    const { fn } = code;
    // Where two lanes have one address, the data of the last one stays.
    if (isMoved) run.close(f);
    const seesLanes = bits === undefined;
    code.block((done) => {
      if (canMask) {
        fn.get(isNoted);
        code.brIf(done);
      }
      if (!seesLanes) ask?.();
      if (bytes < 4 && bits === undefined) {
        code.block((spread) => {
          const start = emitTogether(f, addresses, bytes, spread);
          run.add(f, start, 0, 4 * bytes);
          code.br(done);
        });
      }
      code.block((slow) => {
        quads?.note(addresses, done, slow, seesLanes);
      });
      if (seesLanes) ask?.();
      fn.get(shadow);
      if (isWrite && bits !== undefined) {
        fn.get(addresses)
          .get(bits)
          .get(pc)
          .call(someLanesFunction(f.module, 'store', bytes));
      } else {
        for (let lane = 0; lane < 4; lane++) fn.get(addresses).lane('i32x4.extract_lane', lane);
        fn.get(pc).call(lanesFunction(f.module, isWrite ? 'store' : 'load', bytes, 4));
      }
      fn.op('i32.eqz');
      code.if(() => f.resume());
    });
  };
  const pushWhole = (f: Frame, register: number, start: number, look: WasmFunction): WasmFunction => {
    const [pc] = f.extra as [number];
    return f.code.fn.get(shadow).get(register).get(start).get(pc).call(look);
  };
  /** Sets a local, which it gives, to STRIDED where the stores of all lanes have been noted. */
  const storeWhole = (f: Frame, register: number, start: number): number => {
    const noted = f.code.local('i32');
    pushWhole(f, register, start, stridedPartsFunction(f.module, bytes as 1 | 2 | 4))
      .tee(noted)
      .i32(LEFT)
      .op('i32.eq');
    f.code.if(() => f.resume());
    return noted;
  };
  const whole = (f: Frame, register: number, start: number): void => {
    const { fn } = f.code;
    if (!isWrite) {
      const log = (): WasmFunction => pushWhole(f, register, start, logWaveFunction(f.module, bytes));
      if (bytes === 1) {
        log();
        return;
      }
      pushMayOverlap(fn, register, bytes).if('i32');
      pushWhole(f, register, start, overlappingFunction(f.module, bytes)).else();
      log().end();
      return;
    }
    const noted = storeWhole(f, register, start);
    // Where pages have no records by dword, those of lines.
    fn.get(noted).op('i32.eqz');
    pushMayBeStrided(fn, register).op('i32.and');
    f.code.if(() => pushWhole(f, register, start, stridedFunction(f.module)).set(noted));
    fn.get(noted);
  };
  const masked: Look['masked'] = (f, register, start, exec, pushIsPlain) => {
    const [pc] = f.extra as [number];
    const { fn } = f.code;
    fn.get(shadow).get(register).get(start).get(exec).call(areManyFunction(f.module));
    f.code.if(() => {
      pushIsPlain();
      f.code.if(() => {
        fn.get(shadow).get(register).get(start).get(pc).get(exec).call(maskedFunction(f.module, bytes)).set(isNoted);
      });
    });
  };
  const all: Look['all'] = (f, register, start, _, done) => {
    f.code.fn.get(storeWhole(f, register, start));
    f.code.brIf(done);
    return undefined;
  };
  const look: Look = {
    ...plain,
    lanes,
    finish: (f) => run.close(f),
    ...(canStride || !isWrite ? { whole } : {}),
    ...(canMask ? { masked } : {}),
    ...(isWrite && movesParts(bytes, canDrop) ? { all } : {}),
  };
  const counting: Look = {
    ...look,
    ...(isWrite && movesParts(bytes, canDrop) ? { movesApart: true } : {}),
    skip: (f, n) => noteDropped(f, shadow, n, look.pieces),
  };
  // Parts of what a lane brings into LDS may be dropped.
  if (toLds && bytes > 4) return { ...look, key: `${look.key}.lds` };
  return isWrite ? apart(isMoved ? { ...counting, movesRuns: true } : counting, { lanes }) : counting;
}

/** Notes atomics of global memory that return nothing. The parameter is the instruction's place in the image. */
export function lookAtUpdate(bytes: number): Look {
  let shadow = 0;
  /** The event of the atomics as it is in a word of a record, in all lanes; 0 as long as it is not known. */
  let mine = 0;
  let span: Span | undefined;
  const note = (f: Frame, a: number, offset: number, count: number): void => {
    const [pc] = f.extra as [number];
    // Both words of an element at once.
    if (offset !== 0) return;
    f.code.fn
      .get(shadow)
      .get(a)
      .i32(Math.max(count, bytes))
      .get(pc)
      .call(updateFunction(f.module, bytes))
      .op('i32.eqz');
    f.code.if(() => f.resume());
  };
  const plain = looking(bytes, true, `global.${bytes}.atomic`, 1, note, (f) => {
    [shadow, mine] = [f.code.local('i32'), f.code.local('v128')];
    f.code.fn.get(f.wave).memory('i32.load', WAVE_SHADOW).set(shadow);
    f.code.fn.v128(0, 0, 0, 0).set(mine);
    const [pc] = f.extra as [number];
    span = new Span(f.code, f.module, shadow, pc, bytes, true);
  });
  /** Lanes without a bit have the address of another one: that it is noted twice makes no difference. */
  const lanes = (f: Frame, addresses: number): void => {
    const [pc] = f.extra as [number];
    const { code, module } = f;
    const { fn } = code;
    code.block((done) => {
      code.block((slow) => {
        fn.get(mine).op('v128.any_true').op('i32.eqz');
        code.if(() => {
          noteUpdated(fn, shadow);
          pushUpdateEvent(fn, module, shadow, pc).op('i32x4.splat').tee(mine).op('v128.any_true').op('i32.eqz');
          code.brIf(slow);
        });
        if (bytes === 4)
          span?.note(addresses, {
            details: (kind) => {
              fn.get(shadow);
              Span.pushRecords(fn, addresses, kind)
                .get(mine)
                .call(updateRecordsFunction(module, 'update'))
                .op('i32.eqz');
              code.brIf(slow);
              code.br(done);
            },
          });
        fn.get(shadow).get(addresses).get(mine);
        fn.call(updateQuadFunction(module, 'update', bytes === 8 ? 2 : 1)).op('i32.eqz');
        code.brIf(slow);
        code.br(done);
      });
      fn.get(shadow);
      for (let lane = 0; lane < 4; lane++) fn.get(addresses).lane('i32x4.extract_lane', lane);
      fn.get(pc).call(updatesFunction(module, bytes)).op('i32.eqz');
      code.if(() => f.resume());
    });
  };
  return { ...plain, lanes, finish: () => {} };
}

/**
 * The first byte of the elements of four lanes that are one or two whole dwords together, in whichever order; goes to `spread` where they are not.
 * Programs that exchange neighbours, or the ends of a word, have them so.
 */
function emitTogether(f: Frame, addresses: number, bytes: number, spread: Label): number {
  const { code } = f;
  const { fn } = code;
  const size = 4 * bytes;
  const start = code.local('i32');
  fn.get(addresses).lane('i32x4.extract_lane', 0).i32(-size).op('i32.and').tee(start);
  fn.op('i32x4.splat')
    .get(addresses)
    .op('v128.xor')
    .v128(-size, -size, -size, -size)
    .op('v128.and')
    .op('v128.any_true');
  code.brIf(spread);
  for (let lane = 0; lane < 4; lane++) {
    fn.i32(1)
      .get(addresses)
      .lane('i32x4.extract_lane', lane)
      .i32(size - 1)
      .op('i32.and')
      .op('i32.shl');
    if (lane > 0) fn.op('i32.or');
  }
  fn.i32(bytes === 1 ? 0b1111 : 0b01010101).op('i32.ne');
  code.brIf(spread);
  return start;
}

/** (to, from, bytes): copies dwords; the two places do not overlap. */
function wordsFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.words', ['i32', 'i32', 'i32'], [], (fn) => {
    const code = new Code(fn);
    const [to, from, bytes] = [0, 1, 2] as const;
    const each = (size: number, copy: () => void): void =>
      code.block((done) => {
        code.loop((again) => {
          fn.get(bytes).i32(size).op('i32.lt_u');
          code.brIf(done);
          fn.get(to).get(from);
          copy();
          for (const at of [to, from]) fn.get(at).i32(size).op('i32.add').set(at);
          fn.get(bytes).i32(size).op('i32.sub').set(bytes);
          code.br(again);
        });
      });
    each(16, () => fn.memory('v128.load').memory('v128.store'));
    each(4, () => fn.memory('i32.load').memory('i32.store'));
  });
}
