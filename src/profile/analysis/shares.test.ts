import { describe, expect, it } from 'vitest';
import { known, numberOf, unknown } from '../measure.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import { dispatcherShare, storeShare } from './shares.ts';

const input = (xccs: number, waves?: number): ClassifierInput =>
  ({ xccs, wavesPerGroup: waves === undefined ? unknown('not counted') : known(waves) }) as ClassifierInput;

describe('dispatcherShare', () => {
  it('should take one cycle for a wave, and a turn of all XCCs for a small workgroup', () => {
    expect(dispatcherShare(input(1, 4), known(0.5))).toEqual(known(0.5));
    expect(dispatcherShare(input(8, 4), known(0.25))).toEqual(known(0.5));
    expect(dispatcherShare(input(8, 16), known(0.25))).toEqual(known(0.25));
    expect(dispatcherShare(input(8), known(0.25))).toEqual(known(0.25));
  });

  it('should be whole where the ends of a kernel are not counted', () => {
    expect(dispatcherShare(input(1, 4), known(1.05))).toEqual(known(1));
  });

  // AMD's published workload TCP/mi200: fillBufferAligned starts 524,288 waves in 384,563 cycles.
  it('should be unknown where waves start faster than one a cycle', () => {
    expect(dispatcherShare(input(1, 4), known(524288 / 384563))).toEqual(
      unknown('waves are started faster than this dispatcher is known to'),
    );
  });

  it('should be unknown of hardware whose dispatcher nobody measured, and that of the model on the virtual GPU', () => {
    const gfx90a = { ...input(1, 4), arch: 'gfx90a' };
    expect(dispatcherShare(gfx90a, known(524288 / 384563))).toEqual(
      unknown('how many waves the dispatcher of gfx90a starts was not measured'),
    );
    const modelled = (started: number): number =>
      numberOf(dispatcherShare({ ...gfx90a, isModelled: true }, known(started))) ?? 0;
    expect(modelled(524288 / 384563)).toBeCloseTo(1, 2);
    expect(modelled(1)).toBeCloseTo(0.73, 2);
  });

  it('should say why the waves are not known', () => {
    expect(dispatcherShare(input(1, 4), unknown('not collected: SQ_WAVES'))).toEqual(
      unknown('not collected: SQ_WAVES'),
    );
  });
});

describe('storeShare', () => {
  const stores = (arch: string, read: number, written: number, isMeasured = false): ClassifierInput =>
    ({
      arch,
      metrics: [
        ['bytes.hbm.read', read],
        ['bytes.hbm.write', written],
      ].map(([id, bytes]) => ({ metric: { id }, value: known(bytes as number) })),
      roofline: { points: [{ level: 'HBM', isMeasured }] },
    }) as unknown as ClassifierInput;
  const share = (of: number, ...input: Parameters<typeof stores>) => numberOf(storeShare(stores(...input), known(of)));

  // AMD's published TCC/mi100 and SQ/mi200: fillBuffer writes 268 MB at 825.6 of 1228.8 GB/s, and at 1126 of 1638.4, where 1389 were measured.
  it('should be below one of what fills reach on hardware', () => {
    expect(share(825.6 / 1228.8, 'gfx908', 0, 268e6)).toBeCloseTo(0.88, 2);
    expect(share(1126 / 1638.4, 'gfx90a', 0, 268e6)).toBeCloseTo(0.9, 2);
    expect(share(1126 / 1389, 'gfx90a', 0, 268e6, true)).toBeCloseTo(0.91, 2);
  });

  it('should be of 0.55 of the peak from MI300 on, and of the part of the bytes that is stored', () => {
    expect(share(0.33, 'gfx942', 0, 1e6)).toBeCloseTo(0.6, 9);
    expect(share(0.33, 'gfx950', 25e4, 75e4)).toBeCloseTo(0.45, 9);
    expect(share(0.33, 'gfx942', 4e5, 6e5)).toBeUndefined();
  });
});
