import { LANES, WAVE_LDS_BASE, WAVE_SHADOW } from '../../state/layout.ts';
import { EXEC } from '../../state/wave.ts';
import type { WasmFunction, WasmModule } from '../../wasm/emit.ts';
import type { Frame, Look } from '../../wasm/memory/index.ts';
import { PART_ADDRESSES, PART_RUN, SHADOW_ADDRESSES } from '../registers/shadow-layout.ts';
import { agreeFunction } from './agreement.ts';
import { apart } from './lanes.ts';
import { ldsAtomicFunction, ldsFunction, quietFunction } from './lds.ts';
import { ldsLanesFunction } from './lds-lanes.ts';
import { isPaired, ldsPairsFunction } from './lds-pairs.ts';
import { type LdsAccess, LdsQuads } from './lds-quads.ts';
import { sameFunction } from './lds-same.ts';
import { ldsStridedFunction } from './lds-strided.ts';
import { isWide, LdsWide } from './lds-wide.ts';
import { looking } from './looks.ts';
import type { PairedLook } from './moves.ts';
import { pushIsRepeated } from './repeated.ts';
import { Run } from './runs.ts';
import { pushMayBeStrided } from './strided.ts';

/** Leaves the address of a store's data register, which the third parameter places, 0 where that is not known. */
function pushData({ code: { fn }, wave, extra }: Frame): WasmFunction {
  const [, , data] = extra as [number, number, number];
  return fn.get(wave).get(data).op('i32.add').i32(0).get(data).select();
}

/** Whether LDS is looked at and moved in one go. */
export const movesLds = (bytes: number, kind: LdsAccess): boolean =>
  kind === 'load' || (kind === 'store' && bytes >= 4 && bytes !== 12);

/** How LDS is looked at. */
interface LdsLook {
  /** Bytes of an element. */
  readonly bytes: number;
  readonly kind: LdsAccess;
  /** Stores of the upper half of their register. */
  readonly isHigh: boolean;
  /** As emitLooks has it. */
  readonly isQuiet: boolean;
  /** Addresses of loads are put into a part of the log, too. */
  readonly keepsAll: boolean;
}

/**
 * Notes accesses of LDS. Parameters: the instruction's place in the image; where addresses are kept, as those of stores are, the part of the log for
 * them; for stores the place of the data register in the wave block (0 where that is not known).
 */
export function lookAtLds(access: LdsLook): PairedLook {
  const look = lookAtElements(access);
  const { bytes, kind, isQuiet, keepsAll } = access;
  if (kind === 'atomic' || isQuiet || (keepsAll && kind === 'load') || !isPaired(bytes)) return look;
  return { ...look, pairs: (module) => ldsPairsFunction(module, kind, bytes) };
}

function lookAtElements({ bytes, kind, isHigh, isQuiet, keepsAll }: LdsLook): Look {
  const [isWrite, isAtomic] = [kind !== 'load', kind === 'atomic'];
  const keeps = isWrite || keepsAll;
  const isMoved = movesLds(bytes, kind);
  let [shadow, base, address, relative] = [0, 0, 0, 0];
  let quads: LdsQuads | undefined;
  let wide: LdsWide | undefined;
  const words = Math.max(1, bytes / 4);
  const run = new Run(
    (f) => {
      const [pc] = f.extra as [number];
      const { fn } = f.code;
      const pushBytes = (): WasmFunction => fn.get(run.end).get(run.start).op('i32.sub');
      fn.get(shadow).get(run.start).get(base).op('i32.sub');
      const look = isQuiet ? quietFunction(f.module) : ldsFunction(f.module, isWrite);
      pushBytes().get(pc).call(look).op('i32.eqz');
      f.code.if(() => {
        if (isWrite) {
          fn.get(shadow);
          pushData(f).get(run.lane).i32(0);
          pushBytes().i32(bytes).op('i32.div_u').i32(words).get(run.start).get(base).get(pc);
          fn.call(sameFunction(f.module, { bytes, isHigh })).op('i32.eqz');
          f.code.if(() => f.resume());
        } else f.resume();
      });
    },
    isWrite ? bytes : undefined,
  );
  const noteAtomic = (f: Frame, a: number, offset: number, count: number): void => {
    const [pc] = f.extra as [number];
    const { fn } = f.code;
    if (bytes > 4 && offset === 0) {
      fn.get(a)
        .get(base)
        .op('i32.sub')
        .i32(bytes - 1)
        .op('i32.and');
      f.code.if(() => f.resume());
    }
    fn.get(shadow).get(a).get(base).op('i32.sub');
    if (offset !== 0) fn.i32(offset).op('i32.add');
    fn.i32(count).get(pc).call(ldsAtomicFunction(f.module)).op('i32.eqz');
    f.code.if(() => f.resume());
  };
  const note = (f: Frame, a: number, offset: number, count: number): void => {
    if (isAtomic) noteAtomic(f, a, offset, count);
    else run.add(f, a, offset, count);
    if (isWrite && isMoved) run.close(f);
  };
  const prologue = (f: Frame): void => {
    const { fn } = f.code;
    [shadow, base, address] = [f.code.local('i32'), f.code.local('i32'), f.code.local('i32')];
    fn.get(f.wave).memory('i32.load', WAVE_SHADOW).set(shadow);
    fn.get(f.wave).memory('i32.load', WAVE_LDS_BASE).set(base);
    if (!isAtomic) run.begin(f);
    const isInParts = isWide(bytes) && !isAtomic;
    if (bytes === 4 || isInParts || (bytes < 4 && isQuiet) || (bytes === 8 && isAtomic)) {
      const [pc] = f.extra as [number];
      relative = f.code.local('v128');
      quads = new LdsQuads(f, shadow, pc, isQuiet ? 'quiet' : kind, bytes <= 8);
      wide = isInParts ? new LdsWide(quads, f, bytes) : undefined;
    }
    if (!keeps) return;
    const [, part] = f.extra as [number, number];
    fn.get(part)
      .get(f.wave)
      .memory('i64.load', 4 * EXEC)
      .memory('i64.store');
    fn.get(part).i32(0).memory('i32.store', PART_RUN);
  };
  const key = `lds.${bytes}${kind === 'load' ? '' : `.${kind}`}${isHigh ? '.high' : ''}${isQuiet ? '.quiet' : ''}${keepsAll ? '.keeps' : ''}`;
  const plain = looking(bytes, isWrite, key, isWrite ? 3 : keeps ? 2 : 1, note, prologue);
  /** The lanes at addresses in a vector. */
  const lanes = (f: Frame, addresses: number, bits?: number): void => {
    const { fn } = f.code;
    const oneByOne = (): void => {
      const [pc] = f.extra as [number];
      fn.get(shadow).get(base).get(addresses);
      if (bits === undefined) fn.i32(15);
      else fn.get(bits);
      fn.get(f.at);
      if (kind === 'store') pushData(f);
      else fn.i32(0);
      fn.get(pc).call(ldsLanesFunction(f.module, { bytes, kind, isHigh })).op('i32.eqz');
      f.code.if(() => f.resume());
    };
    const known = quads;
    if (known === undefined) {
      oneByOne();
      return;
    }
    f.code.block((done) => {
      f.code.block((slow) => {
        fn.get(addresses).get(base).op('i32x4.splat').op('i32x4.sub').set(relative);
        if (bytes < 4 || isAtomic) {
          const within = bytes - 1;
          fn.get(relative).v128(within, within, within, within).op('v128.and').op('v128.any_true');
          f.code.brIf(slow);
        }
        if (bytes < 4) {
          // Parts of a dword are there when the dword is.
          fn.get(relative).v128(-4, -4, -4, -4).op('v128.and').set(relative);
        }
        if (wide !== undefined) {
          f.code.block((narrow) => {
            wide?.note(relative, narrow);
            f.code.br(done);
          });
        }
        if (words > 2) {
          f.code.br(slow);
          return;
        }
        known.note(relative, slow);
        for (let word = 1; word < words; word++) {
          fn.get(relative).v128(4, 4, 4, 4).op('i32x4.add').set(relative);
          known.note(relative, slow);
        }
        f.code.br(done);
      });
      oneByOne();
    });
  };
  const whole = (f: Frame, register: number, start: number): void => {
    const [pc, part] = f.extra as [number, number];
    const { fn } = f.code;
    pushMayBeStrided(fn, register).if('i32');
    const more = f.code.local('i32');
    fn.get(start).get(base).op('i32.sub').set(more);
    if (keeps) fn.get(part).get(register).get(more).call(keepAddressesFunction(f.module));
    const strided = ldsStridedFunction(f.module, isQuiet ? 'quiet' : isWrite ? 'store' : 'load');
    fn.get(shadow).get(register).get(more).get(pc).call(strided).else().i32(0).end();
  };
  const looked: Look = {
    ...plain,
    lanes,
    ...(bytes === 4 && !isAtomic ? { whole } : {}),
    finish: () => quads?.finish(),
    leave: () => quads?.finish(),
  };
  /** Four lanes whose elements follow each other. */
  const row = (f: Frame, a: number): void => {
    f.code.block((done) => {
      f.code.block((slow) => {
        if (quads === undefined || isAtomic || bytes < 4) return;
        f.code.fn.get(a).get(base).op('i32.sub').set(address);
        quads.noteRow(address, words, slow);
        f.code.br(done);
      });
      note(f, a, 0, 4 * bytes);
    });
  };
  const { broadcast } = looked;
  // An element is in range as a whole: its first piece stands for it.
  const look: Look = isAtomic
    ? looked
    : {
        ...looked,
        contiguous: row,
        ...(broadcast === undefined
          ? {}
          : {
              broadcast: (f: Frame, a: number) => {
                // Four lanes after four others read the same.
                const { fn } = f.code;
                fn.get(a).get(run.start).op('i32.ne').get(run.end).get(run.start).op('i32.sub').i32(bytes);
                fn.op('i32.ne').op('i32.or');
                f.code.if(() => broadcast(f, a));
              },
            }),
        move: (f, n, a) => {
          if (n === 0) note(f, a, 0, bytes);
        },
        finish: (f) => {
          run.finish(f);
          quads?.finish();
        },
      };
  if (!keeps) return look;
  /** Leaves where the part of the log has the current lane's address. */
  const pushKept = (f: Frame): WasmFunction => {
    const [, part] = f.extra as [number, number];
    return f.code.fn.get(part).get(f.at).op('i32.add');
  };
  const { broadcast: kept } = look;
  const noting: Look = {
    ...look,
    ...(kept === undefined
      ? {}
      : {
          broadcast: (f: Frame, a: number) => {
            pushKept(f).get(a).get(base).op('i32.sub').op('i32x4.splat').memory('v128.store', PART_ADDRESSES);
            kept(f, a);
          },
        }),
    wave: (f, a, count) => {
      const [, part] = f.extra as [number, number];
      const { fn } = f.code;
      fn.get(part);
      if (count === bytes) fn.get(a).get(base).op('i32.sub').call(keepOneFunction(f.module));
      else {
        fn.i32(1).memory('i32.store', PART_RUN);
        fn.get(part).get(a).get(base).op('i32.sub').memory('i32.store', PART_ADDRESSES);
      }
      note(f, a, 0, count);
    },
    contiguous: (f, a) => {
      pushKept(f)
        .get(a)
        .get(base)
        .op('i32.sub')
        .op('i32x4.splat')
        .v128(0, bytes, 2 * bytes, 3 * bytes)
        .op('i32x4.add');
      f.code.fn.memory('v128.store', PART_ADDRESSES);
      row(f, a);
    },
    lanes: (f, addresses, bits) => {
      pushKept(f).get(addresses).get(base).op('i32x4.splat').op('i32x4.sub').memory('v128.store', PART_ADDRESSES);
      lanes(f, addresses, bits);
    },
    move: (f, n, a, offset) => {
      if (n === 0) pushKept(f).get(a).get(base).op('i32.sub').memory('i32.store', PART_ADDRESSES);
      look.move(f, n, a, offset);
    },
  };
  const pushAgree = (f: Frame): WasmFunction => {
    const [pc] = f.extra as [number];
    f.code.fn.get(shadow);
    return pushData(f)
      .get(f.wave)
      .memory('i64.load', 4 * EXEC)
      .get(pc)
      .call(agreeInLdsFunction(f.module, bytes, isHigh));
  };
  return isAtomic || !isWrite ? noting : apart(noting, { pushAgree });
}

/**
 * (shadow, where the register with the data of a store is, its lanes, its place in the image) → 1 when the store is known to be one of several lanes that may have one address, and those that do
 * have the same data.
 */
function agreeInLdsFunction(module: WasmModule, bytes: number, isHigh: boolean): WasmFunction {
  const name = `strict.lds.agree.${bytes}${isHigh ? '.high' : ''}`;
  const agree = agreeFunction(module, bytes, isHigh);
  return module.helper(name, ['i32', 'i32', 'i64', 'i32'], ['i32'], (fn) => {
    const [shadow, data, exec, pc] = [0, 1, 2, 3] as const;
    const addresses = fn.local('i32');
    pushIsRepeated(fn, shadow, pc).if('i32');
    fn.get(shadow).memory('i32.load', SHADOW_ADDRESSES).set(addresses);
    fn.get(data).i32(0).get(addresses).select().if('i32');
    fn.get(addresses).get(data).get(exec).call(agree).else().i32(0).end().else().i32(0).end();
  });
}

/** (a part of the log, address of a register, what is to be added to its words): the part has these LDS addresses. */
function keepAddressesFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.lds.keep', ['i32', 'i32', 'i32'], [], (fn) => {
    const [part, register, more] = [0, 1, 2] as const;
    for (let at = 0; at < 4 * LANES; at += 16) {
      fn.get(part).get(register).memory('v128.load', at).get(more).op('i32x4.splat').op('i32x4.add');
      fn.memory('v128.store', PART_ADDRESSES + at);
    }
  });
}

/** (a part of the log, LDS address): all lanes have the address. */
export function keepOneFunction(module: WasmModule): WasmFunction {
  return module.helper('strict.lds.keep.one', ['i32', 'i32'], [], (fn) => {
    for (let at = 0; at < 4 * LANES; at += 16) {
      fn.get(0)
        .get(1)
        .op('i32x4.splat')
        .memory('v128.store', PART_ADDRESSES + at);
    }
  });
}
