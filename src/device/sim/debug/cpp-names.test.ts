// Names of C++ as gdb takes them: types, enumerators and constants with what is around them, functions with parameters; and how types are written.
import { expect, test } from 'vitest';
import { hasLlvm } from '../../../../tests/support/build.ts';
import { debugSource } from '../../../../tests/support/debugged.ts';

const SOURCE = `
namespace geo {
struct Vec { float x, y, z; };
enum class Color : unsigned char { Red = 1, Green = 2, Blue = 4 };
enum Flags { A = 1, B = 2, C = 4 };
enum Level { LOW = 3, HIGH = 7 };
template <typename T> struct Box {
  static const int SIDES = 6;
  T lo, hi;
  struct { int a; } in;
  __attribute__((noinline)) T size() const { return hi - lo; }
};
}
static __attribute__((noinline)) int add(int a, int b) { return a + b; }
extern "C" __attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) int *out) {
  int i = __builtin_amdgcn_workitem_id_x();
  int arr[4] = {i, i + 1, i + 2, i + 3};
  int (*rows)[4] = &arr;
  int *list[2] = {arr, arr + 1};
  int (*fp)(int, int) = add;
  geo::Vec v[2] = {{1, 2, (float)i}, {4, 5, 6}};
  geo::Vec *pv = v, &rv = v[1];
  int &ri = arr[2];
  geo::Color color = geo::Color::Green;
  geo::Flags flags = geo::Flags(geo::A | geo::C), more = geo::Flags(9);
  geo::Level level = geo::Level(5);
  geo::Box<double> box = {1, 2.5, {i}};
  out[i] = add(i, box.size()) + fp(1, 2) + color + flags + more + level + pv->x + rv.x + ri + list[0][0] + (*rows)[1];
}`.replace('+ color', '+ (int)color');
const LINE = SOURCE.split('\n').findIndex((line) => line.includes('out[i]')) + 1;

test.skipIf(!hasLlvm())('values, types and places', async () => {
  const asked: readonly (readonly [command: string, answer: string | RegExp])[] = [
    ['lane 5', 'lane 5'],
    ['print color', 'color = geo::Color::Green'],
    ['print flags', 'flags = (geo::A | geo::C)'],
    ['print more', 'more = (geo::A | unknown: 0x8)'],
    ['print level', 'level = 5'],
    ['print color == geo::Color::Green', 'color == geo::Color::Green = 1'],
    ['print geo::A | geo::B', 'geo::A | geo::B = 3'],
    ['print geo::Level::HIGH', 'geo::Level::HIGH = geo::HIGH'],
    ['print color = Blue', 'color = geo::Color::Blue'],
    ['print color = geo::Color::Red', 'color = geo::Color::Red'],
    [`print 'geo::Box<double>::SIDES'`, `'geo::Box<double>::SIDES' = 6`],
    ['print sizeof(geo::Vec)', /= 12 /],
    // A pointer means what this lane has there.
    ['print *(geo::Vec *)pv', '*(geo::Vec *)pv = {x = 1, y = 2, z = 5}'],
    ['print *(arr + 2)', '*(arr + 2) = 7'],
    ['print (&arr[1])[2]', '(&arr[1])[2] = 8'],
    ['print (*rows)[1]', '(*rows)[1] = 6'],
    ['whatis pv', 'type = geo::Vec *'],
    ['whatis rv', 'type = geo::Vec &'],
    ['whatis rv.x', 'type = float'],
    ['whatis &rv', 'type = geo::Vec *'],
    ['whatis ri', 'type = int &'],
    ['whatis ri + 1', 'type = int'],
    ['ptype rv', /^type = struct geo::Vec \{\n[^}]*\} & {2}\/\/ 12 bytes$/],
    ['print ri', 'ri = 7'],
    ['whatis &pv', 'type = geo::Vec **'],
    ['whatis fp', 'type = int (*)(int, int)'],
    ['whatis rows', 'type = int (*)[4]'],
    ['whatis list', 'type = int *[2]'],
    ['whatis v', 'type = geo::Vec[2]'],
    ['ptype box', /^type = struct geo::Box<double> \{\n.*\n.*\n {4}struct \{\.\.\.\} in; {2}\/\/ byte 16\n/],
    ['print add(1, 2)', /functions are not called from here/],
    ['break geo::Box<double>::size', /^breakpoint 2 at 0x\w+ <_ZNK3geo3BoxIdE4sizeEv\+0x\w+> at \S+input\.c:11$/],
    ['break Box::size() const', /, where 2 is, too$/],
    ['break add(int, int)', /^breakpoint 4 at .*input\.c:14$/],
    ['break input.c:add', /, where 4 is, too$/],
    ['break add(float)', /neither an address nor a label/],
    ['info breakpoints', /^4 {2}0x\w+ <_ZL3addii\+0x\w+> at \S+input\.c:14, hit 0 times$/m],
  ];
  const commands = [...asked.map(([command]) => command), 'quit'];
  const { answers } = await debugSource(SOURCE, ['-O0', '-xc++'], [`input.c:${LINE}`], commands);
  for (const [n, [command, answer]] of asked.entries()) {
    if (typeof answer === 'string') expect([command, answers[n + 1]]).toEqual([command, answer]);
    else expect([command, answers[n + 1]]).toEqual([command, expect.stringMatching(answer)]);
  }
});
