import { describe, expect, it } from 'vitest';
import { WavesmithError } from '../../../base/index.ts';
import { TARGET_NAMES } from '../../../isa/index.ts';
import { parseChip } from './chip.ts';
import { FIELDS } from './chip-fields.ts';
import { CHIP_NAMES, chipFile, chipNamed, defaultChip } from './chips/index.ts';

const message = (text: string): string => {
  try {
    parseChip(text, 'own.json', chipFile);
  } catch (error) {
    if (error instanceof WavesmithError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
};
const own = (numbers: unknown, more: Record<string, unknown> = { base: 'mi300x' }): string =>
  JSON.stringify({ name: 'own', ...more, numbers });

describe('chips', () => {
  it.each(CHIP_NAMES)('%s should have every number, each with a source', (name) => {
    const chip = chipNamed(name);
    for (const field of Object.keys(FIELDS)) expect(chip.sourceOf(field), field).not.toBe('');
  });
  it.each(TARGET_NAMES)('should have one that stands for %s', (target) => {
    expect(defaultChip(target).target).toBe(target);
  });
  it('should take a file of the user that changes some numbers of a known chip', () => {
    const chip = parseChip(own({ clockMhz: [1700, 'my board'] }), 'own.json', chipFile);
    expect([chip.get('clockMhz'), chip.sourceOf('clockMhz'), chip.get('xccs')]).toEqual([1700, 'my board', 8]);
  });

  it.each([
    ['{', /not JSON/],
    ['[]', /not a JSON object/],
    [own({}, {}), /'target' of chip 'own'/],
    [own({}, { target: 'gfx942' }), /has no 'xccs'/],
    [own({}, { base: 'mi9000' }), /no chip 'mi9000'/],
    [own({ clockMhz: [0, 'x'] }), /'clockMhz' of chip 'own' is 0, not a number from 100 to 5000/],
    [own({ xccs: [1.5, 'x'] }), /'xccs' of chip 'own' is 1.5, not a whole number/],
    [own({ clockMhz: ['fast', 'x'] }), /'clockMhz' of chip 'own' is not a number/],
    [own({ clockMhz: 1700 }), /'clockMhz' of chip 'own' has no source/],
    [own({ clockMhz: [1700] }), /'clockMhz' of chip 'own' has no source/],
    [own({ clock: [1700, 'x'] }), /unknown field 'clock'/],
    [own({ constructor: [1, 'x'] }), /unknown field 'constructor'/],
    [own({ 'l2.ways': [7, 'x'] }), /'l2.bytes' of chip 'own' is not a whole number of sets/],
    [own({ 'vl1d.line': [96, 'x'] }), /'vl1d/],
    [own({ 'vl1d.line': [32, 'x'] }), /'vl1d.line' of chip 'own' is 32, not a whole number from 64 to 256/],
    [own({ 'l2.interleave': [384, 'x'] }), /'l2.interleave' of chip 'own' is not a power of two/],
    [own({ 'l1i.line': [48, 'x'] }), /'l1i.line' of chip 'own' is not a power of two/],
    [own({ 'hbm.latency': [300, 'x'] }), /'hbm.latency' of chip 'own' is 300, less than the 480 of 'mall.latency'/],
    [own({ 'l2.latency': [100, 'x'] }), /'l2.latency' of chip 'own' is 100, less than the 110 of 'vl1d.latency'/],
    [
      own({ 'sl1d.missExtra': [240, 'x'] }),
      /'sl1d.missExtra' of chip 'own' is 240: scalar loads from L2 would be faster/,
    ],
    [own([]), /'numbers' of chip 'own' is not an object/],
    [own({}, { base: 'mi300x', speed: 1 }), /unknown field 'speed'/],
    [own({}, { base: 'mi300x', target: 'gfx1100' }), /'target' of chip 'own' is not a target/],
  ])('should refuse %s', (text, expected) => {
    expect(message(text)).toMatch(expected);
    expect(message(text)).toMatch(/^timing\//);
  });
});
