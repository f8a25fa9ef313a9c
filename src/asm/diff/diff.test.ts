import { describe, expect, it } from 'vitest';
import { buildWithWavesmith } from '../../../tests/support/round-trip.ts';
import { sampleText } from '../../../tests/support/sample.ts';
import { type CodeObjectDiff, diffCodeObjects } from './diff.ts';
import { diffText } from './text.ts';

function linked(text: string): Uint8Array {
  return buildWithWavesmith(text, false);
}

/** The sample with one replacement, which must apply. */
function edited(from: string, to: string): Uint8Array {
  const text = sampleText();
  expect(text).toContain(from);
  return linked(text.replace(from, to));
}

function partOf(diff: CodeObjectDiff, name: string) {
  const part = diff.functions.find((f) => f.name === name);
  if (part === undefined) throw new Error(`no function ${name}`);
  return part;
}

const original = linked(sampleText());

describe('diffCodeObjects', () => {
  it('should find nothing between equal code objects', () => {
    const diff = diffCodeObjects(original, linked(sampleText()));
    expect(diff.same).toBe(true);
    expect(diff.functions.map((f) => [f.name, f.kind, f.status])).toEqual([
      ['helper', 'function', 'same'],
      ['first', 'kernel', 'same'],
      ['second', 'kernel', 'same'],
    ]);
    expect(diffText(diff, 'a', 'b', false)).toContain('Same: 2 kernels (2 same), 1 function (1 same).');
  });

  it('should show an inserted instruction and nothing else, although branches and references moved', () => {
    const diff = diffCodeObjects(original, edited('\ts_cmp_eq_u32 s0, 0\n', '\ts_cmp_eq_u32 s0, 0\n\ts_nop 7\n'));
    expect(diff.same).toBe(false);
    const part = partOf(diff, 'first');
    expect(part.instructions).toMatchObject({ removed: 0, added: 1 });
    expect(part.hunks).toHaveLength(1);
    const [hunk] = part.hunks;
    expect(hunk.lines.filter((line) => line.kind !== 'same').map((line) => line.text)).toEqual(['s_nop 7']);
    expect(hunk.lines).toHaveLength(7);
    expect(partOf(diff, 'second').status).toBe('same');
    expect(diff.data).toEqual([]);
  });

  it('should show a branch that goes somewhere else', () => {
    const diff = diffCodeObjects(original, edited('s_cbranch_scc1 .Lskip', 's_cbranch_scc1 .Ldone'));
    const part = partOf(diff, 'first');
    expect(part.instructions).toMatchObject({ removed: 1, added: 1 });
    expect(part.hunks[0].lines.filter((line) => line.kind !== 'same').map((line) => line.kind)).toEqual([
      'removed',
      'added',
    ]);
  });

  it('should take a branch to an instruction inserted at its label for the same branch', () => {
    const diff = diffCodeObjects(original, edited('.Lskip:\n', '.Lskip:\n\ts_nop 6\n'));
    expect(partOf(diff, 'first').instructions).toMatchObject({ removed: 0, added: 1 });
  });

  it('should show resources, descriptor and metadata', () => {
    const text = sampleText()
      .replace('.amdhsa_next_free_vgpr 8', '.amdhsa_next_free_vgpr 40')
      .replace('.vgpr_count:     8', '.vgpr_count:     40');
    const part = partOf(diffCodeObjects(original, linked(text)), 'first');
    expect(part.hunks).toEqual([]);
    expect(part.status).toBe('changed');
    expect(part.resources).toContainEqual({ field: 'VGPRs and AGPRs', a: 8, b: 40 });
    expect(part.descriptor).toEqual([{ field: 'rsrc1.granulatedWorkitemVgprCount', a: 0, b: 4 }]);
    expect(part.metadata).toEqual([{ field: '.vgpr_count', a: 8, b: 40 }]);
  });

  it('should show changed data, but not descriptors again', () => {
    const diff = diffCodeObjects(original, edited('.long 77', '.long 78'));
    expect(diff.functions.every((f) => f.status === 'same')).toBe(true);
    expect(diff.data.map((d) => d.section)).toEqual(['.data']);
    const changed = diff.data[0].hunks[0].lines.filter((line) => line.kind !== 'same');
    expect(changed.map((line) => line.text)).toEqual(['.long 0x4d', '.long 0x4e']);
  });

  it('should show kernels that one side has', () => {
    const renamed = linked(sampleText().replaceAll('second', 'other'));
    const diff = diffCodeObjects(original, renamed);
    expect(partOf(diff, 'second').status).toBe('only-a');
    expect(partOf(diff, 'other').status).toBe('only-b');
    expect(partOf(diff, 'first').status).toBe('same');
  });

  it('should compare one kernel when asked, and refuse one that neither side has', () => {
    const changed = edited('s_mov_b32 s12, lit(0x5)', 's_mov_b32 s12, 6');
    expect(diffCodeObjects(original, changed, { kernel: 'first' }).same).toBe(true);
    expect(diffCodeObjects(original, changed, { kernel: 'second' }).same).toBe(false);
    expect(() => diffCodeObjects(original, changed, { kernel: 'third' })).toThrow(/Neither side has a kernel 'third'/);
  });

  it('should compare targets', () => {
    const diff = diffCodeObjects(original, linked(sampleText('gfx950')));
    expect(diff.header).toContainEqual({
      field: 'target',
      a: 'amdgcn-amd-amdhsa--gfx942',
      b: 'amdgcn-amd-amdhsa--gfx950',
    });
  });

  it('should print a unified difference, coloured only when asked', () => {
    const diff = diffCodeObjects(original, edited('s_nop 3', 's_nop 4'));
    const text = diffText(diff, 'a.co', 'b.co', false);
    expect(text).toContain('kernel first: ');
    expect(text).toContain('- s_nop 3\n+ s_nop 4\n');
    expect(text).not.toContain('\x1b[');
    expect(diffText(diff, 'a.co', 'b.co', true)).toContain('\x1b[31m- s_nop 3\x1b[0m');
  });
});
