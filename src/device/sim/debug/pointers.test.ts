// Pointers that are no addresses of memory: into LDS and scratch alone, which have 32 bits, and to functions.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
#define LDS __attribute__((address_space(3)))
struct cell { int key; short v[3]; };
static __attribute__((address_space(3), loader_uninitialized)) struct cell table[64];
typedef int (*op_t)(int, int);
struct both { LDS struct cell *cell; __attribute__((address_space(5))) int *own; int *any; op_t op; };
__attribute__((noinline)) static int op_add(int a, int b) { int r = a + b; return r; }
__attribute__((noinline)) static int op_mul(int a, int b) { int r = a * b; return r; }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  int i = __builtin_amdgcn_workitem_id_x();
  int local[3] = {7, 8, 9};
  LDS struct cell *mine = &table[i];
  mine->key = 3 * i;
  for (int j = 0; j < 3; j++) mine->v[j] = j * i;
  op_t op = out[1] == 12345 ? op_mul : op_add;
  struct both all = {mine, (__attribute__((address_space(5))) int *)local, &local[1], op};
  out[i] = all.op(i, local[1]) + *all.own + *all.any + all.cell->key;
}`;
const LINE = SOURCE.split('\n').findIndex((line) => line.includes('out[i] =')) + 1;

async function answersTo(commands: readonly string[]): Promise<string[]> {
  const { answers } = await debugSource(SOURCE, ['-O0'], [`input.c:${LINE}`], commands);
  return answers.slice(1);
}

test.skipIf(!hasLlvm())('pointers into LDS and scratch', async () => {
  const table = [
    ['p *mine', '{key = 15, v = {0, 5, 10}}'],
    ['p mine->v[1]', '5'],
    ['p mine[1].key', '18'],
    ['p (mine - 1)->key', '12'],
    ['p mine == &table[5]', '1'],
    ['p mine - &table[0]', '5'],
    ['p mine', '0x100000000003c'],
    ['p/x mine', '0x3c'],
    ['p sizeof(mine)', '4'],
    ['p sizeof(all)', '24 (0x18)'],
    ['p all.cell->v[2]', '10'],
    ['p *all.own', '7'],
    ['p all.own[2]', '9'],
    ['p all.own + 1 == &local[1]', '1'],
    ['p *all.any', '8'],
    ['p mine = &table[4]', '0x1000000000030'],
    ['p mine->key', '12'],
    ['p mine->key = 77', '77'],
    ['p table[4].key', '77'],
  ] as const;
  const said = await answersTo(['lane 5', ...table.map(([command]) => command), 'x/2dw mine']);
  expect(table.map(([command], n) => [command, said[n + 1]?.replace(/^.*? = /, '')])).toEqual(
    table.map(([command, answer]) => [command, answer]),
  );
  expect(said[table.length + 1]?.trim()).toBe('0x1000000000030  77  262144');
});

test.skipIf(!hasLlvm())('pointers to functions are places in the code', async () => {
  const said = await answersTo([
    'p op',
    'p *op',
    'p all.op',
    'ptype *op',
    'whatis op',
    'p op == op_add',
    'p op != op_mul',
    'p op == all.op',
    'info symbol op',
    'x/1i op',
    'break *op',
  ]);
  expect(said[0]).toMatch(/^op = 0x\w+ <op_add>$/);
  expect(said[1]).toMatch(/^\*op = \{int \(int, int\)\} 0x\w+ <op_add>$/);
  expect(said[2]).toMatch(/^all\.op = 0x\w+ <op_add>$/);
  expect(said[3]).toBe('type = int (int, int)');
  expect(said[4]).toBe('type = op_t');
  expect(said.slice(5, 8)).toEqual(['op == op_add = 1', 'op != op_mul = 1', 'op == all.op = 1']);
  expect(said[8]).toMatch(/^0x\w+ <op_add> at .*input\.c:7$/);
  expect(said[9]).toMatch(/op_add:\n.*s_waitcnt/);
  expect(said[10]).toMatch(/^breakpoint 2 at 0x\w+ <op_add>/);
});
