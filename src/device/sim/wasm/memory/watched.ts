// A load or store that looks at lanes and moves them in one go over the lanes, so that addresses are found once. A look comes before the move
// of the same lanes where they are stored. Where it does not let one pass, others have been moved; they can be moved again.
import type { Label, QuadLocals } from './code.ts';
import { scatterWave } from './scatter.ts';
import type { Frame, Transfer } from './transfer.ts';
import { moveLane, overQuads } from './window.ts';

/**
 * A transfer that only looks, at lanes whose addresses are in a vector. With `movesRuns` it looks at lanes that follow each other as one, later,
 * and then moves them: others it lets the move do.
 */
export type Look = Transfer &
  Required<Pick<Transfer, 'lanes'>> & {
    readonly movesRuns?: true;
    /** What it looks at is moved with `movedApart`, not with `watched`. */
    readonly movesApart?: true;
    /** Looks at all lanes at once, which are at `start` plus the words of a register (locals): leaves 1 when they pass, 0 when `lanes` is to look. */
    readonly whole?: (f: Frame, register: number, start: number) => void;
  };
/** The looks of a move: one, or one for each element of a pair, in order. */
export type Looks = readonly [Look] | readonly [Look, Look];

/** The transfer that looks and moves. Its extra parameters are those of the move, then those of the looks. */
export function watched(looks: Looks, move: Transfer): Transfer {
  const addresses = [0, 0, 0, 0];
  let [other, others] = [0, 0];
  /** The frame as the move, or a look, sees it. */
  const moves = (f: Frame): Frame => ({ ...f, extra: f.extra.slice(0, move.parameters) });
  const looking = (f: Frame, n: number): Frame => {
    const from = move.parameters + looks.slice(0, n).reduce((sum, { parameters }) => sum + parameters, 0);
    return { ...f, extra: f.extra.slice(from, from + (looks[n] as Look).parameters) };
  };
  /** Has each look work on an address (local), that of the second element moved on. */
  const eachAt = (f: Frame, a: number, work: (look: Look, f: Frame, a: number) => void): void => {
    for (const [n, look] of looks.entries()) {
      if (n > 0)
        f.code.fn
          .get(a)
          .get(f.extra[0] as number)
          .op('i32.add')
          .set(other);
      work(look, looking(f, n), n === 0 ? a : other);
    }
  };
  const lookAtLanes = (f: Frame, lanes: number, bits?: number): void => {
    for (const [n, look] of looks.entries()) {
      if (n > 0)
        f.code.fn
          .get(lanes)
          .get(f.extra[0] as number)
          .op('i32x4.splat')
          .op('i32x4.add')
          .set(others);
      look.lanes(looking(f, n), n === 0 ? lanes : others, bits);
    }
  };
  const extract = ({ code: { fn } }: Frame, lanes: number): void => {
    for (const [lane, a] of addresses.entries()) fn.get(lanes).lane('i32x4.extract_lane', lane).set(a);
  };
  /** Moves the lanes whose bits are set. */
  const moveSome = (f: Frame, lanes: number, bits: number): void => {
    const { code, at, laneWord } = f;
    const { fn } = code;
    extract(f, lanes);
    for (const [lane, a] of addresses.entries()) {
      fn.get(bits)
        .i32(1 << lane)
        .op('i32.and');
      code.if(() => moveLane(moves(f), move, a, 4));
      if (lane === 3) break;
      for (const local of [at, laneWord]) fn.get(local).i32(4).op('i32.add').set(local);
    }
  };
  const { broadcast } = move;
  const [{ whole, masked }] = looks;
  const { movesRuns = false } = looks[0];
  return {
    key: `${looks.map(({ key }) => key).join('.')}.${move.key}`,
    bytes: move.bytes,
    write: move.write,
    parameters: looks.reduce((sum, { parameters }) => sum + parameters, move.parameters),
    piece: move.piece,
    pieces: move.pieces,
    ...(move.isPair ? { isPair: true } : {}),
    prologue: (f) => {
      for (let lane = 0; lane < 4; lane++) addresses[lane] = f.code.local('i32');
      [other, others] = [f.code.local('i32'), f.code.local('v128')];
      for (const [n, look] of looks.entries()) look.prologue(looking(f, n));
      move.prologue(moves(f));
    },
    contiguous: (f, a) => {
      eachAt(f, a, (look, frame, at) => look.contiguous(frame, at));
      if (!movesRuns) move.contiguous(moves(f), a);
    },
    // Parts of dwords in swizzled memory, where there are no pairs.
    scattered: (f, all) => {
      looks[0].scattered(looking(f, 0), all);
      move.scattered(moves(f), all);
    },
    lanes: (f, lanes, bits) => {
      const moveAll = (): void => {
        extract(f, lanes);
        move.scattered(moves(f), addresses);
      };
      if (!move.write && bits === undefined) moveAll();
      lookAtLanes(f, lanes, bits);
      if (bits !== undefined) moveSome(f, lanes, bits);
      else if (move.write) moveAll();
    },
    ...(whole === undefined || looks.length > 1
      ? {}
      : {
          all: (f: Frame, register: number, start: number, q: QuadLocals, done: Label) => {
            whole(looking(f, 0), register, start);
            f.code.if(() => {
              scatterWave(moves(f), move, register, start, q);
              f.code.br(done);
            });
            return undefined;
          },
        }),
    ...(masked === undefined || looks.length > 1
      ? {}
      : {
          masked: (f: Frame, register: number, start: number, exec: number, pushIsPlain: () => void) =>
            masked(looking(f, 0), register, start, exec, pushIsPlain),
        }),
    ...(broadcast !== undefined && looks.every((look) => look.broadcast !== undefined)
      ? {
          broadcast: (f: Frame, a: number) => {
            eachAt(f, a, (look, frame, at) => look.broadcast?.(frame, at));
            broadcast(moves(f), a);
          },
        }
      : {}),
    wave: (f, a, bytes) => {
      eachAt(f, a, (look, frame, at) => look.wave?.(frame, at, bytes));
      if (movesRuns) return;
      if (move.wave !== undefined) move.wave(moves(f), a, bytes);
      else if (bytes === move.bytes) overQuads(moves(f), a, 0, () => broadcast?.(moves(f), a));
      else overQuads(moves(f), a, 4 * move.bytes, () => move.contiguous(moves(f), a));
    },
    move: (f, n, a, offset) => {
      const [first, second] = looks;
      if (second === undefined || n < first.pieces) first.move(looking(f, 0), n, a, offset);
      else {
        const piece = n - first.pieces;
        f.code.fn
          .get(a)
          .get(f.extra[0] as number)
          .op('i32.add')
          .set(other);
        second.move(looking(f, 1), piece, other, piece * second.piece);
      }
      if (!movesRuns) move.move(moves(f), n, a, offset);
    },
    skip: (f, n) => {
      for (const [i, look] of looks.entries()) look.skip(looking(f, i), n);
      move.skip(moves(f), n);
    },
    commit: (f) => {
      for (const [i, look] of looks.entries()) look.commit(looking(f, i));
      move.commit(moves(f));
    },
    finish: (f) => {
      for (const [i, look] of looks.entries()) look.finish?.(looking(f, i));
    },
    leave: () => {
      for (const look of looks) look.leave?.();
    },
  };
}

/**
 * The transfer that looks, and moves lanes that are at places of their own when all have passed, so that their addresses are found to be live once; others are
 * left to the move. Its function leaves 1 where it has moved all, 2 where it has only looked. The move has no parameters.
 */
export function movedApart(look: Look, move: Transfer): Transfer {
  let hasMoved = 0;
  return {
    ...look,
    key: `${look.key}.apart.${move.key}`,
    prologue: (f) => {
      hasMoved = f.code.local('i32');
      f.code.fn.i32(0).set(hasMoved);
      look.prologue(f);
      move.prologue(f);
    },
    all: (f, register, start, q, done) => {
      scatterWave(f, look, register, start, q);
      look.finish?.(f);
      scatterWave(f, move, register, start, q);
      f.code.fn.i32(1).set(hasMoved);
      f.code.br(done);
      return 'always';
    },
    result: (f) => {
      f.code.fn.i32(1).i32(2).get(hasMoved).select();
    },
  };
}
