import { describe, expect, test } from 'vitest';
import {
  agpr,
  fitsFile,
  registerFromEncoding,
  registerFromText,
  sgpr,
  special,
  specialByName,
  ttmp,
  vgpr,
} from './registers.ts';

describe('interning', () => {
  test('the same tuple is the same object', () => {
    expect(vgpr(4, 2)).toBe(vgpr(4, 2));
    expect(registerFromText('v[4:5]')).toBe(vgpr(4, 2));
    expect(registerFromEncoding(260, 2)).toBe(vgpr(4, 2));
    expect(registerFromEncoding(260, 2, true)).toBe(agpr(4, 2));
  });

  test.each([
    [vgpr(0), 'v0', 256],
    [agpr(3, 4), 'a[3:6]', 259],
    [sgpr(10, 2), 's[10:11]', 10],
    [ttmp(4, 4), 'ttmp[4:7]', 112],
    [special(106, 2), 'vcc', 106],
    [special(126), 'exec_lo', 126],
  ])('register %#', (register, text, encoding) => {
    expect(register).toMatchObject({ text, encoding });
  });
});

describe('limits', () => {
  test('no tuple starts outside its file', () => {
    expect([vgpr(256), agpr(255, 2), sgpr(102), ttmp(15, 2), vgpr(-1)]).toEqual(Array(5).fill(undefined));
  });

  test('tuples that LLVM decodes past the end are marked', () => {
    expect(vgpr(255, 2)?.text).toBe('v[255:256]');
    expect(fitsFile(vgpr(255, 2)!)).toBe(false);
    expect(fitsFile(vgpr(254, 2)!)).toBe(true);
    expect(registerFromText('v[255:256]')).toBeUndefined();
  });

  test('scalar tuples are aligned down as the hardware does', () => {
    expect(registerFromEncoding(3, 2)?.text).toBe('s[2:3]');
    expect(registerFromEncoding(7, 4)?.text).toBe('s[4:7]');
    expect(registerFromEncoding(109, 2)?.text).toBe('ttmp[0:1]');
  });

  test('constants and unused codes are no registers', () => {
    expect([128, 208, 209, 240, 248, 249, 250, 255].map((e) => registerFromEncoding(e, 1))).toEqual(
      Array(8).fill(undefined),
    );
  });
});

describe('text', () => {
  test.each(['v0', 's[0:1]', 'a[0:15]', 'ttmp3', 'vcc', 'm0', 'exec_hi', 'src_scc', 'flat_scratch'])('%s', (text) => {
    expect(registerFromText(text)?.text).toBe(text);
  });

  test('aliases and unknown names', () => {
    expect(specialByName('scc')).toBe(specialByName('src_scc'));
    expect(specialByName('shared_base', 2)).toBe(special(235, 2));
    expect(registerFromText('q7')).toBeUndefined();
    expect(registerFromText('v[3:1]')).toBeUndefined();
  });
});
