import { describe, expect, it } from 'vitest';
import { hasLlvm } from '../../../tests/support/build.ts';
import { buildWithWavesmith, roundTrip } from '../../../tests/support/round-trip.ts';
import { randomNumbers } from '../../base/index.ts';
import { decodeDescriptor } from '../../codeobject/index.ts';
import { descriptorDirectives } from './descriptor.ts';
import { disassembleCodeObject } from './disassemble.ts';

const withLlvm = hasLlvm();

/** Kernels whose descriptors have random bits: `chance` of 256 for bits that directives do not reach. */
function kernelsText(target: string, count: number, chance: number): string {
  const noise = randomNumbers(count + chance);
  const next = (): number => Math.floor(noise() * 2 ** 32);
  const lines = [`\t.amdgcn_target "amdgcn-amd-amdhsa--${target}"`, '\t.text'];
  for (let i = 0; i < count; i++) {
    lines.push(
      `\t.globl k${i}`,
      `\t.protected k${i}`,
      '\t.p2align 8',
      `\t.type k${i},@function`,
      `k${i}:`,
      '\ts_endpgm',
    );
  }
  lines.push('\t.section .rodata,"a",@progbits', '\t.p2align 6');
  const random = (mask: number, rare: number) => ((next() & mask) | (next() % 256 < chance ? next() & rare : 0)) >>> 0;
  for (let i = 0; i < count; i++) {
    const userSgprs = next() % 17;
    const preload = next() % 4;
    const words = {
      rsrc3: random(0x1001f, 0x3f),
      rsrc1: random(0x04aff3ff, 0xffffffff) | 0x20,
      rsrc2: (random(0x7f001f81, 0xffffffff) | (userSgprs << 1)) >>> 0,
      properties: random(0x80e, 0xffff),
    };
    lines.push(`\t.globl k${i}.kd`, `\t.protected k${i}.kd`, `\t.type k${i}.kd,@object`, `k${i}.kd:`);
    lines.push(`\t.long ${next()}, ${next()}, ${next() & 0xfff}, 0`, `\t.quad k${i}-k${i}.kd`, '\t.zero 20');
    lines.push(`\t.long ${words.rsrc3}, ${words.rsrc1}, ${words.rsrc2}`);
    lines.push(`\t.short ${words.properties}, ${preload | ((next() % 3) << 7)}`, '\t.long 0', `\t.size k${i}.kd, 64`);
  }
  return `${lines.join('\n')}\n`;
}

describe('kernel descriptors', () => {
  it.each(['gfx90a', 'gfx90a:xnack-', 'gfx942', 'gfx942:xnack+', 'gfx950'])('should keep every bit on %s', (target) => {
    for (const chance of [0, 40]) {
      const original = buildWithWavesmith(kernelsText(target, 200, chance), false);
      const text = disassembleCodeObject(original);
      const blocks = text.match(/\.amdhsa_kernel /g)?.length ?? 0;
      expect(blocks).toBeGreaterThan(20);
      expect(text).toContain('is data: ');
      expect(roundTrip(original, 'wavesmith', text)).toEqual([]);
      if (withLlvm) expect(roundTrip(original, 'llvm', text)).toEqual([]);
    }
  });

  it('should take the register counts of the metadata when they give the same granules', () => {
    const bytes = new Uint8Array(64);
    new DataView(bytes.buffer).setUint32(48, 0x00000003 | (2 << 6), true);
    const target = { architectedFlatScratch: true, reservesXnackMask: true };
    const counted = descriptorDirectives(decodeDescriptor(bytes), target, { vgprs: 27, sgprs: 19 });
    expect(counted).toContain('.amdhsa_next_free_vgpr 27');
    expect(counted).toContain('.amdhsa_next_free_sgpr 13');
    const wrong = descriptorDirectives(decodeDescriptor(bytes), target, { vgprs: 99, sgprs: 99 });
    expect(wrong).toContain('.amdhsa_next_free_vgpr 32');
    expect(wrong).toContain('.amdhsa_next_free_sgpr 18');
  });

  it('should say which field no directive sets', () => {
    const bytes = new Uint8Array(64);
    new DataView(bytes.buffer).setUint32(52, 1 << 6, true);
    const target = { architectedFlatScratch: false, reservesXnackMask: false };
    expect(descriptorDirectives(decodeDescriptor(bytes), target)).toEqual({
      reason: 'no directive sets compute_pgm_rsrc2.enable_trap_handler (it is 1)',
    });
  });
});
