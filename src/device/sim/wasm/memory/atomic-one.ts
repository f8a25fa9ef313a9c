// All lanes of a wavefront on one element, as reductions and histograms have them: memory is read and written once, and between the lanes'
// updates follow each other in their order, as ever. Where others may be at the memory all of them are one atomic step.
import { type AtomicCode, atomicBytes, isWide, putOld, takeData } from './atomic-lanes.ts';
import { isSum, pushFloatWord, pushUpdate } from './atomic-update.ts';
import type { Frame } from './transfer.ts';
import { overQuads } from './window.ts';

/** Updates the element at `a` by all lanes and does `then`, or falls through. */
export function updateOne(f: Frame, c: AtomicCode, a: number, then: () => void): void {
  const { code } = f;
  const { fn } = code;
  const { op, alone, keeps } = c;
  if (alone === undefined) fn.i32(1);
  else
    fn.get(a)
      .i32(atomicBytes(op) - 1)
      .op('i32.and')
      .op('i32.eqz');
  // Where denormals are lost, sums that have any go lane by lane; those that return values, always.
  const loses = isSum(op) ? keeps : undefined;
  if (loses !== undefined && c.form.returns) fn.get(loses).i32(0).op('i32.ne').op('i32.and');
  code.if(() => {
    code.block((lost) => {
      /** After a round of all lanes, before memory is written. */
      const unlessLost = (): void => {
        if (loses === undefined || c.form.returns) return;
        fn.get(c.values[1] as number)
          .get(loses)
          .op('i32.eqz')
          .op('i32.and');
        code.brIf(lost);
      };
      if (alone === undefined) updateAlone(f, c, a, unlessLost);
      else updateShared(f, c, a, alone, unlessLost);
      then();
    });
  });
}

/** Where no one else can be at the memory. */
function updateAlone(f: Frame, c: AtomicCode, a: number, unlessLost: () => void): void {
  const { fn } = f.code;
  const type = isWide(c.op) ? 'i64' : 'i32';
  const [old] = c.values as [number];
  fn.get(a).memory(`${type}.load`).set(old);
  eachLane(f, c, c.form.returns);
  unlessLost();
  fn.get(a).get(old).memory(`${type}.store`);
}

/** Where others may be, unless `alone` (local) says that they are not. */
function updateShared(f: Frame, c: AtomicCode, a: number, alone: number, unlessLost: () => void): void {
  const { code } = f;
  const { fn } = code;
  const { returns } = c.form;
  const type = isWide(c.op) ? 'i64' : 'i32';
  const [old, , , start, seen] = c.values as [number, number, number, number, number];
  const store = (): void => {
    fn.get(a).get(old).memory(`${type}.store`);
  };
  fn.get(a).memory(`${type}.atomic.load`).set(seen);
  /** Updates until no one has been there meanwhile; `quick` is what there is to do when no one can be. */
  const untilSwapped = (quick?: () => void): void =>
    code.loop((again) => {
      fn.get(seen).tee(start).set(old);
      eachLane(f, c, false);
      unlessLost();
      const swap = (): void => {
        fn.get(a).get(start).get(old).memory(`${type}.atomic.rmw.cmpxchg`).tee(seen);
        fn.get(start).op(`${type}.ne`);
        code.brIf(again);
      };
      if (quick === undefined) {
        swap();
        return;
      }
      fn.get(alone);
      code.if(quick, swap);
    });
  if (!returns) {
    untilSwapped(store);
    return;
  }
  // What the lanes return is written last: their data may be in the same registers.
  fn.get(alone).op('i32.eqz');
  code.if(() => untilSwapped());
  fn.get(seen).set(old);
  eachLane(f, c, true);
  fn.get(alone);
  code.if(store);
}

/** Takes memory's word, the first of the values, through the updates of all lanes; each may return what it was before. */
function eachLane(f: Frame, c: AtomicCode, returns: boolean): void {
  if (isSum(c.op)) {
    sumLanes(f, c, returns);
    return;
  }
  const { module, code } = f;
  const { fn } = code;
  const { op, keeps } = c;
  const [old] = c.values as [number];
  overQuads(f, old, 0, () => {
    for (let lane = 0; lane < 4; lane++) {
      const [data, data2] = takeData(f, c, lane);
      if (returns) putOld(f, c, lane);
      pushUpdate(fn, op, { type: op.type, module, values: [old, data, data2], keeps });
      fn.set(old);
    }
  });
}

/** The same of sums of floats, which stay floats on the way. Of f32 the second value is not 0 when one that was added may be a denormal. */
function sumLanes(f: Frame, c: AtomicCode, returns: boolean): void {
  const { code } = f;
  const { fn } = code;
  const { op } = c;
  const [old, first] = c.values as [number, number];
  const [float, word] = op.type === 'f64' ? (['f64', 'i64'] as const) : (['f32', 'i32'] as const);
  const looks = c.keeps !== undefined && !returns;
  const sum = code.local(float);
  const sums = code.local('v128');
  const denormals = code.local('v128');
  const toWord = (): void => {
    fn.get(sum);
    pushFloatWord(fn, float);
    fn.set(old);
  };
  /** Notes the denormals among four floats. */
  const look = (floats: () => void): void => {
    floats();
    fn.i32(1)
      .op('i32x4.shl')
      .v128(-1, -1, -1, -1)
      .op('i32x4.add')
      .v128(0xffffff, 0xffffff, 0xffffff, 0xffffff)
      .op('i32x4.lt_u');
    fn.get(denormals).op('v128.or').set(denormals);
  };
  fn.get(old).op(`${float}.reinterpret_${word}`).set(sum);
  if (looks) fn.v128(0, 0, 0, 0).set(denormals);
  overQuads(f, old, 0, () => {
    if (looks) look(() => fn.get(f.laneWord).memory('v128.load'));
    for (let lane = 0; lane < 4; lane++) {
      if (looks && lane === 0) fn.get(sum).op('f32x4.splat').set(sums);
      else if (looks) fn.get(sums).get(sum).lane('f32x4.replace_lane', lane).set(sums);
      fn.get(sum);
      if (float === 'f64') fn.get(takeData(f, c, lane)[0]).op('f64.reinterpret_i64');
      else fn.get(f.laneWord).memory('f32.load', 4 * lane);
      // The datum is read before what is returned comes into its register.
      fn.op(`${float}.add`);
      if (returns) putOld(f, c, lane);
      fn.set(sum);
      if (returns) toWord();
    }
    if (looks) look(() => fn.get(sums));
  });
  if (!returns) toWord();
  if (looks) fn.get(denormals).op('v128.any_true').set(first);
  fn.release(float, sum);
  for (const local of [sums, denormals]) fn.release('v128', local);
}
