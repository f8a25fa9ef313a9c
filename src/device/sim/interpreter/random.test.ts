// Random operand bits for every row: an instruction does something, faults or is refused with a typed stop, and never throws
// anything else.
import { describe, expect, it } from 'vitest';
import { makeWave } from '../../../../tests/support/one-instruction.ts';
import { randomNumbers } from '../../../base/index.ts';
import { decoderFor, tableFor } from '../../../isa/index.ts';
import { semanticsOf } from '../../../isa/semantics/index.ts';
import { MemoryFault } from '../state/region.ts';
import { EXEC, M0, VCC } from '../state/wave.ts';
import { accessPlan } from './access-plan.ts';
import { KernelStop } from './kernel-stop.ts';
import { bindInstruction } from './loaded-code.ts';

describe.each(['gfx90a', 'gfx942', 'gfx950'] as const)('%s', (target) => {
  it('should end every random instruction in a typed way', () => {
    const random = randomNumbers(11);
    const word = (): number => Math.floor(random() * 2 ** 32) >>> 0;
    const w = makeWave(target);
    for (let i = 0; i < w.vgprs.length; i++) w.vgprs[i] = word();
    const problems: string[] = [];
    let executed = 0;
    for (const row of tableFor(target).rows) {
      const words = Uint32Array.from({ length: 5 }, word);
      row.fixedBits.forEach((bits, i) => {
        words[i] = ((words[i] as number) & ~(row.fixedMask[i] as number)) | bits;
      });
      const instruction = decoderFor(target).decode(new Uint8Array(words.buffer), 0);
      if (instruction === undefined) continue;
      for (let i = 0; i < 96; i++) w.sgprs[i] = word();
      w.sgprs.set([word(), word()], VCC);
      w.sgprs.set([word() & 255, 0, word(), word()], M0);
      w.state = 'running';
      w.gprIndexing = false;
      w.vskip = false;
      try {
        accessPlan(instruction, semanticsOf(row.operation));
        bindInstruction(instruction, target)(w);
        executed++;
      } catch (error) {
        if (!(error instanceof KernelStop || error instanceof MemoryFault)) problems.push(`${row.name}: ${error}`);
      }
      w.setS64(EXEC, 0xffffffffffffffffn);
    }
    expect(problems).toEqual([]);
    expect(executed).toBeGreaterThan(1000);
  });
});
