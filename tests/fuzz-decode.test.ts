// A small slice of tools/fuzz-decode.ts with fixed seeds.
import { describe, expect, test } from 'vitest';
import { TARGET_NAMES } from '../src/isa/table/target-names.ts';
import { fuzzDecode } from '../tools/fuzz-decode.ts';
import { llvmTool } from './support/llvm.ts';

const llvmMc = llvmTool('llvm-mc');

describe.skipIf(llvmMc === undefined)('random words', () => {
  test.each(TARGET_NAMES)('%s: decoder and llvm-mc agree', (target) => {
    const result = fuzzDecode(target, 20_000, 7, { llvmMc: llvmMc as string, singles: 5 });
    expect(result.mismatches).toEqual([]);
    expect(result.instructions).toBeGreaterThan(20_000);
  });
});
