import { expect, test } from 'vitest';
import { labelsByAddress, listing } from './listing.ts';

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.replaceAll(' ', '').match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function lines(hex: string, labels?: Map<number, string>) {
  return [...listing(bytesOf(hex), 0x1000, 'gfx942', { labels })].map((line) => ({
    address: line.address,
    text: line.text,
    words: line.words.map((w) => w.toString(16)),
  }));
}

test('instructions, undecodable words and a tail', () => {
  expect(lines('000080bf ff040a0278563412 ffffffff 000081bf 0102')).toEqual([
    { address: 0x1000, text: 's_nop 0', words: ['bf800000'] },
    { address: 0x1004, text: 'v_add_f32_e32 v5, 0x12345678, v2', words: ['20a04ff', '12345678'] },
    { address: 0x100c, text: '.long 0xffffffff', words: ['ffffffff'] },
    { address: 0x1010, text: 's_endpgm', words: ['bf810000'] },
    { address: 0x1014, text: '.byte 0x01, 0x02', words: ['1', '2'] },
  ]);
});

test('branches print the label at their target, or the number', () => {
  const loop = new Map([[0x1000, 'loop']]);
  expect(lines('000080bf feff85bf', loop).map((l) => l.text)).toEqual(['s_nop 0', 's_cbranch_scc1 loop']);
  expect(lines('000080bf feff85bf').map((l) => l.text)).toEqual(['s_nop 0', 's_cbranch_scc1 65534']);
  expect(lines('000080bf fdff85bf', loop).map((l) => l.text)).toEqual(['s_nop 0', 's_cbranch_scc1 65533']);
});

test('of several labels at an address the first by name counts; unusual names are quoted', () => {
  const symbols = ['b', 'a', 'c'].map((name) => ({ address: 0x1000, name }));
  expect(lines('ffff82bf', labelsByAddress(symbols)).map((l) => l.text)).toEqual(['s_branch a']);
  expect(lines('ffff82bf', new Map([[0x1000, 'a b']])).map((l) => l.text)).toEqual(['s_branch "a b"']);
});

test('no bytes, no lines', () => {
  expect(lines('')).toEqual([]);
});
