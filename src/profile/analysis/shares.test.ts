import { describe, expect, it } from 'vitest';
import { known, numberOf, unknown } from '../measure.ts';
import type { ClassifierInput } from './bottleneck-types.ts';
import { dispatcherShare } from './shares.ts';

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
