// clang's matrix and division kernels have no missing wait states, and losing any s_nop that it inserted is noticed.
import { describe, expect, it } from 'vitest';
import { disassembleCodeObject } from '../src/asm/disassemble/disassemble.ts';
import { assembleAndLink } from '../src/asm/index.ts';
import { checkCodeObject, type Finding } from '../src/check/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { compileC, hasLlvm, linkWithLld } from './support/build.ts';

const SOURCE = `
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16 __attribute__((ext_vector_type(16)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef double d4 __attribute__((ext_vector_type(4)));
#define KERNEL __attribute__((amdgpu_kernel)) void
#define GLOBAL __attribute__((address_space(1)))
KERNEL half(GLOBAL f16 *o, GLOBAL h4 *a, int n) {
  int t = __builtin_amdgcn_workitem_id_x();
  f16 c = o[t];
  for (int i = 0; i < n; i++) {
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(a[t + i * 64], a[i], c, 0, 0, 0);
    h4 z;
    for (int j = 0; j < 4; j++) z[j] = (_Float16)c[j];
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(z, a[t], c, 0, 0, 0);
  }
  o[t] = c;
}
KERNEL single(GLOBAL f4 *o, GLOBAL float *a) {
  int t = __builtin_amdgcn_workitem_id_x();
  f4 c = __builtin_amdgcn_mfma_f32_16x16x4f32(a[t] * 2.0f, a[t + 1] + 1.0f, o[t], 0, 0, 0);
  f4 e = __builtin_amdgcn_mfma_f32_4x4x1f32(c[0], c[1], o[t + 1], 0, 0, 0);
  o[t] = __builtin_amdgcn_mfma_f32_16x16x4f32(e[0], e[1], c, 0, 0, 0) + e;
}
KERNEL twice(GLOBAL d4 *o, GLOBAL double *a) {
  int t = __builtin_amdgcn_workitem_id_x();
  d4 c = __builtin_amdgcn_mfma_f64_16x16x4f64(a[t] * 2.0, a[t + 1], o[t], 0, 0, 0);
  double e = __builtin_amdgcn_mfma_f64_4x4x4f64(c[0], c[1], c[2], 0, 0, 0);
  c[0] += __builtin_amdgcn_mfma_f64_4x4x4f64(c[3], c[1], e, 0, 0, 0);
  o[t] = c;
}
KERNEL lanes(GLOBAL float *o, GLOBAL float *a, int n) {
  int t = __builtin_amdgcn_workitem_id_x();
  float q = a[t] / a[t + n];
  q = __builtin_amdgcn_exp2f(q) + __builtin_amdgcn_rcpf(a[t]);
  int l = __builtin_amdgcn_readlane(__builtin_bit_cast(int, q), n & 63);
  int d = __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, q * 3.0f), 0x111, 0xf, 0xf, 1);
  l += __builtin_amdgcn_readfirstlane(d * 3);
  if (q > 1.0f) o[t] = q * l; else o[l] = q;
}`;

const hazardsOf = (bytes: Uint8Array): Finding[] =>
  checkCodeObject(readCodeObject(bytes), { pedantic: true }).filter((f) => f.rule.startsWith('hazards/'));

describe.skipIf(!hasLlvm())('clang 22', () => {
  // Without XNACK: with it, clang also puts s_nop between loads that a replay could disturb, which no rule looks at.
  it.each(['gfx90a:xnack-', 'gfx942:xnack-', 'gfx950:xnack-'])('%s', (target) => {
    for (const level of ['-O0', '-O1', '-O3']) {
      const bytes = linkWithLld([compileC(SOURCE, target, [level])]);
      expect(hazardsOf(bytes).map((f) => f.message)).toEqual([]);
      if (level !== '-O3') continue;
      const lines = disassembleCodeObject(readCodeObject(bytes)).split('\n');
      const code = lines.findIndex((line) => /^\s+\.amdhsa_kernel/.test(line));
      const nops = lines.flatMap((line, i) => (/^\s+s_nop /.test(line) && i < code ? [i] : []));
      expect(nops.length).toBeGreaterThan(8);
      const survivors = nops.filter((at) => {
        const mutant = lines.filter((_, i) => i !== at).join('\n');
        return hazardsOf(assembleAndLink(mutant)).length === 0;
      });
      expect(survivors.map((at) => lines.slice(at - 2, at + 2).join('\n'))).toEqual([]);
    }
  });
});
