// Addresses by the names of functions and of variables of the whole program, and the names of addresses.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
namespace geo {
static __attribute__((address_space(1))) int counter = 5;
static __attribute__((address_space(1))) int table[4] = {1, 2, 3, 4};
}
extern "C" __attribute__((noinline)) int fact(int n) {
  return n <= 1 ? 1 : n * fact(n - 1);
}
extern "C" __attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  int own = fact(3);
  geo::counter++;
  out[0] = own + geo::counter + geo::table[out[1]];
}`;

test.skipIf(!hasLlvm())('&FUNCTION is a place, and addresses of data have names', async () => {
  const commands = ['break *fact', 'break *&fact', 'break *&fact+8', 'print &own'];
  const symbols = ['geo::counter', '&geo::counter', '&geo::table[2]', 'geo::table', 'fact', 'own'];
  const asked = [...commands, ...symbols.map((name) => `info symbol ${name}`)];
  const { answers } = await debugSource(SOURCE, ['-O0', '-xc++'], ['input.c:12'], [...asked, 'quit']);
  const said = answers.slice(1);
  expect(said[1]).toMatch(/^breakpoint 3 at 0x\w+ <fact> .*, where 2 is, too$/);
  expect(said[2]).toMatch(/^breakpoint 4 at 0x\w+ <fact\+0x8>/);
  expect(said[3]).toMatch(/^&own = 0x\w+/);
  expect(said[4]).toMatch(/^0x\w+ <geo::counter>$/);
  expect(said[5]).toBe(said[4]);
  expect(said[6]).toMatch(/^0x\w+ <geo::table\+0x8>$/);
  expect(said[7]).toMatch(/^0x\w+ <geo::table>$/);
  expect(said[8]).toMatch(/^0x\w+ <fact> at /);
  expect(said[9]).toContain("'own'");
});
