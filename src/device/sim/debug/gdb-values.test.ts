// How values of a C program are shown, computed with and set: as gdb 15 answers for the same functions on x86-64, floats with fewer digits where those
// say the same number.
import { describe, expect, test } from 'vitest';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int3 __attribute__((ext_vector_type(3)));
enum color { RED = 1, GREEN = 2, BLUE = 4 };
struct bits { unsigned a : 3; int b : 5; unsigned long c : 40; _Bool d : 1; };
union word { int i; float f; unsigned char b[4]; struct { short lo, hi; } h; };
struct deep { struct { int a; struct { short b[3]; char c; } in; }; int tail[2][3]; };
struct item { int id; struct bits bf; union word w; enum color col; };
__attribute__((noinline)) static int twice(int a) { int t = a + a; return t; }
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  int acc = 7;
  short sh = 70000;
  long big = -5000000000L;
  _Bool flag = 1;
  float4 v = {1.1f, 9.25f, -3, 9.5f};
  int3 iv = {1, -2, 3};
  char text[12] = "hello\\n\\001z";
  unsigned char raw[4] = {0, 65, 200, 255};
  struct deep dp = {{7, {{1, -2, 3}, 'q'}}, {{1, 2, 3}, {4, 5, 6}}};
  struct item item = {5, {4, -16, 135056262348ul, 1}, {1069547520}, BLUE};
  acc += twice(acc);
  out[0] = acc + sh + (int)big + flag + (int)v.x + iv.y + text[0] + raw[1] + dp.tail[1][2] + item.id;
}`;
const LINE = SOURCE.split('\n').findIndex((line) => line.includes('out[0] =')) + 1;

/** What commands answer; of `print EXPRESSION` and its like, what stands behind that. */
async function answersTo(commands: readonly string[]): Promise<string[]> {
  const { answers } = await debugSource(SOURCE, ['-O0'], [`input.c:${LINE}`], commands);
  return commands.map((command, n) => {
    const answer = answers[n + 1] as string;
    const name = `${command.replace(/^p\S* /, '').replace(/ = .*/, '')} = `;
    return answer.startsWith(name) ? answer.slice(name.length) : answer;
  });
}

const TABLE: readonly (readonly [command: string, answer: string])[] = [
  // Vectors are computed with element by element.
  ['p v', '{1.1, 9.25, -3, 9.5}'],
  ['p v * 2', '{2.2, 18.5, -6, 19}'],
  ['p 2 * v', '{2.2, 18.5, -6, 19}'],
  ['p v + v', '{2.2, 18.5, -6, 19}'],
  ['p -v', '{-1.1, -9.25, 3, -9.5}'],
  ['p v / 2', '{0.55, 4.625, -1.5, 4.75}'],
  ['p iv + 1', '{2, -1, 4}'],
  ['p ~iv', '{-2, 1, -4}'],
  ['p iv & 3', '{1, 2, 3}'],
  ['p v == v', '1'],
  ['p iv != iv', '0'],
  ['p iv == iv + 0', '1'],
  ['p iv == iv + 1', '0'],
  ['p v.y + v[2]', '6.25'],
  // Formats show the bits of a type in its size.
  ['p/d raw', '{0, 65, -56, -1}'],
  ['p/u raw', '{0, 65, 200, 255}'],
  ['p/z raw', '{0x00, 0x41, 0xc8, 0xff}'],
  ['p/f raw', '{0, 65, 200, 255}'],
  ['p/z sh', '0x1170'],
  ['p/f sh', '4464'],
  ['p/c sh', "112 'p'"],
  ['p/z flag', '0x01'],
  ['p/x iv', '{0x1, 0xfffffffe, 0x3}'],
  ['p/c iv', "{1 '\\001', -2 '\\376', 3 '\\003'}"],
  ['p/f v', '{1.1, 9.25, -3, 9.5}'],
  ['p/d v', '{1066192077, 1091829760, -1069547520, 1092091904}'],
  ['p/u v', '{1066192077, 1091829760, 3225419776, 1092091904}'],
  ['p/c v', "{1 '\\001', 9 '\\t', -3 '\\375', 9 '\\t'}"],
  ['p/a item.bf.b', '0xfffffffffffffff0'],
  ['p/f item.w.i', '1.5'],
  ['p/d item.w.f', '1069547520'],
  // Letters.
  ['p text', '"hello\\n\\001z"'],
  ['p/s text', '"hello\\n\\001z"'],
  ['p/c raw[1]', "65 'A'"],
  ['p dp', "{{a = 7, in = {b = {1, -2, 3}, c = 113 'q'}}, tail = {{1, 2, 3}, {4, 5, 6}}}"],
  // Numbers have the type that their letters say, and both values of a choice one type.
  ['p ~0u', '4294967295'],
  ['p 7u > -1', '0'],
  ['p -1 > 1u', '1'],
  ['p -1 > 1l', '0'],
  ['p 0x7fffffffu + 1', '2147483648'],
  ['p sizeof(1ul)', '8'],
  ['p/x -1', '0xffffffff'],
  ['p/x -5000000000', '0xfffffffed5fa0e00'],
  ['p/o -1', '037777777777'],
  ['p (flag ? -1 : 1u)', '4294967295'],
  ['p (flag ? acc : 2.5) / 2', '10.5'],
  ['p (flag ? 21 : 2.5) / 2', '10.5'],
  ['p flag ? item.col : item.col', 'BLUE'],
  ['p flag ? acc : *(int *)0', '21'],
  // What is set has the type of what it is set to.
  ['p flag = 7', 'true'],
  ['p flag', 'true'],
  ['p flag == true', '1'],
  ['p flag = false', 'false'],
  ['p acc = 1.9', '1'],
  ['p acc = -1.9', '-1'],
  ['p sh = 1e2', '100'],
  ['p v.y = 3', '3'],
  ['p v', '{1.1, 3, -3, 9.5}'],
  // Arrays and vectors are set by their elements.
  ['p v = {1, v.y + 2, -3.5, 4}', '{1, 5, -3.5, 4}'],
  ['p v.x + v.w', '5'],
  ['p iv = {iv.z, (7 + 1), 9}', '{3, 8, 9}'],
  [`p raw = {'"', 66, ',', 1}`, `{34 '"', 66 'B', 44 ',', 1 '\\001'}`],
  ['p dp.tail = {{7, 8, 9}, {1, 2, 3}}', '{{7, 8, 9}, {1, 2, 3}}'],
];

test('values, as gdb shows them', async () => {
  const said = await answersTo(TABLE.map(([command]) => command));
  expect(TABLE.map(([command], n) => [command, said[n]])).toEqual(TABLE);
});

describe('what cannot be', () => {
  test.each([
    ['p v < v', 'vectors have no order'],
    ['p v + iv', 'float4 and int3 do not go together'],
    ['p v.xy', "has no member 'xy'"],
    ['p acc = 1.0/0', 'is not a value of'],
    ['x/4fw v', 'is no number'],
    ['p v = {1, 2, 3}', "'v' has 4 elements, and 3 are listed."],
    ['p v = {1, 2, 3, }', 'there is nothing to evaluate'],
    ['p v = 1', "'v' of type float4 cannot be set as a whole"],
    ['p item.w = {1}', "'item.w' of type word cannot be set as a whole"],
    ['p dp.tail = {{1, 2, 3}, {1, 2}}', "'dp.tail[1]' has 3 elements, and 2 are listed."],
  ])('%s', async (command, why) => {
    expect((await answersTo([command]))[0]).toContain(why);
  });
});

test('a variable that has the name of a command is set', async () => {
  const named = SOURCE.replace(
    'int acc = 7;',
    'int acc = 7; int n = 1, k = 2; float4 p = {1, 2, 3, 4}; struct item c = {5};',
  );
  const commands = [
    'n = 4',
    'n <<= 1',
    'n++',
    'k = n',
    'p.x = 7',
    'p[1] = -1',
    'p p',
    'c.id -= 2',
    'p n == 9',
    'acc = 6',
  ];
  const { answers } = await debugSource(named, ['-O0'], [`input.c:${LINE}`], [...commands, 'n == 4', 'n 0', 'q = 1']);
  expect(answers.slice(1)).toEqual([
    'n = 4',
    'n = 8',
    'n = 9',
    'k = 9',
    'p.x = 7',
    'p[1] = -1',
    'p = {7, -1, 3, 4}',
    'c.id = 3',
    'n == 9 = 1',
    'acc = 6',
    expect.stringContaining("'==' is not a number of steps"),
    expect.stringContaining("'0' is not a number of steps"),
    // There is no variable q: it quits.
    '',
  ]);
});

test('structs on several lines', async () => {
  const [, said, , flat, refused] = await answersTo([
    'set print pretty on',
    'p item',
    'set print pretty off',
    'p item.bf',
    'set print pretty maybe',
  ]);
  expect(said).toBe(`{
  id = 5,
  bf = {
    a = 4,
    b = -16,
    c = 135056262348,
    d = true
  },
  w = {
    i = 1069547520,
    f = 1.5,
    b = {0 '\\000', 0 '\\000', 192 '\\300', 63 '?'},
    h = {
      lo = 0,
      hi = 16320
    }
  },
  col = BLUE
}`);
  expect(flat).toBe('{a = 4, b = -16, c = 135056262348, d = true}');
  expect(refused).toContain('on, or off');
});

test('what is shown at each stop is not shown where its name means nothing', async () => {
  const commands = ['display sh', 'display/i $pc', 'break twice', 'start', 'continue', 'continue'];
  const said = (await answersTo(commands)).slice(-2);
  expect(said.map((answer) => answer.includes('1: sh ='))).toEqual([false, true]);
  expect(said.map((answer) => answer.includes('2: /i $pc'))).toEqual([true, true]);
});

test('members without a name have a kind', async () => {
  expect((await answersTo(['ptype dp']))[0]).toContain('    struct {  // byte 0\n        int a;  // byte 0\n');
});
