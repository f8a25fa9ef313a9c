import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EditableKernel } from '../../tests/support/prove-edits.ts';
import { readCodeObject } from '../codeobject/index.ts';
import { encode, type Instruction, type Operand } from '../isa/index.ts';
import { proveKernel } from './prove.ts';

const FILE = '../shared/corpus/triton/matmul_fp16_64x64x32.gfx950.hsaco';

// A transposing LDS read was once compared without its `gds` field: a proof of two different instructions.
it.skipIf(!existsSync(FILE))('no field of a transposing LDS read is left out of the comparison', () => {
  const bytes = new Uint8Array(readFileSync(FILE));
  const baseline = readCodeObject(bytes);
  const name = baseline.kernels[0]?.name as string;
  const kernel = new EditableKernel(bytes, name);
  const code = kernel.code.find((c) => c.instruction.row.operation === 'ds_read_b64_tr_b16');
  if (code === undefined) throw new Error('the kernel has no transposing read');
  let fields = 0;
  code.instruction.operands.forEach((operand, i) => {
    if (operand.kind !== 'imm') return;
    const operands = code.instruction.operands.map(
      (o, n): Operand => (n === i ? { kind: 'imm', value: operand.value + 1 } : o),
    );
    const changed = kernel.patched(new Map([[code.pc, encode({ ...code.instruction, operands } as Instruction)]]));
    fields++;
    expect(proveKernel(baseline, readCodeObject(changed), name).verdict).toBe('not-proved');
  });
  expect(fields).toBeGreaterThan(1);
});
