// What the guard of HIP sources sees in preprocessed text.
import { describe, expect, test } from 'vitest';
import { guardBreak, type SourceFacts } from './guard.ts';
import { sourceItems } from './items.ts';

const PLAIN = `constexpr int N = 4;
extern "C" {
__attribute__((global)) void k(int *x) { if (x) { x[0] = 1; } }
}
namespace app {
struct Pair { int a; int b; };
template <typename T> __attribute__((device)) T twice(T x) { return x + x; }
__attribute__((host)) __attribute__((device)) int both(int x) { return x; }
int table[] = { 1, 2 };
}
int main() { const char *s = "}{;\\""; return app::both('{') + s[0]; }
`;

/** As clang -E prints a source k.hip that includes a header. */
const preprocessed = (text: string, headers: readonly string[] = ['/usr/include/a.h']): string =>
  ['# 1 "k.hip"', ...headers.flatMap((h) => [`# 1 "${h}" 1 3`, 'int of_header;', '# 2 "k.hip" 2']), text].join('\n');

const facts = (text: string, headers?: readonly string[]): SourceFacts => ({
  ...sourceItems(preprocessed(text, headers), 'k.hip'),
  signature: 'void (int *)',
});

test('declarations of the host, in namespaces and language blocks too', () => {
  expect(facts(PLAIN).host).toEqual([
    '#include /usr/include/a.h',
    'constexpr int N = 4;',
    'extern "C" {',
    '}',
    'namespace app {',
    'struct Pair { int a; int b; };',
    '__attribute__((host)) __attribute__((device)) int both(int x) { return x; }',
    'int table[] = { 1, 2 };',
    '}',
    `int main() { const char *s = "}{;\\""; return app::both('{') + s[0]; }`,
  ]);
});

describe('changes', () => {
  const change = (from: string, to: string): string | undefined => {
    expect(PLAIN).toContain(from);
    return guardBreak(facts(PLAIN), facts(PLAIN.replace(from, to)));
  };
  test.each([
    ['a kernel', 'x[0] = 1;', 'x[0] = 1; __syncthreads();'],
    ['a device function', 'return x + x;', 'return 2 * x;'],
    ['a new device function', 'constexpr int N', '__attribute__((device)) int f() { return 1; }\nconstexpr int N'],
    ['a new constant', 'extern "C"', 'constexpr int TILE = 32;\nextern "C"'],
    ['lines', 'int main() {', 'int main()\n\n{'],
    ['a loop', 'x[0] = 1;', '\n#pragma unroll 4\nfor (int i = 0; i < N; i++) x[0] = 1;'],
    ['a new type', 'extern "C"', 'typedef float vec4 __attribute__((ext_vector_type(4)));\nextern "C"'],
    ['a new alias', 'extern "C"', 'using Word = unsigned;\nextern "C"'],
    [
      'a new class template',
      'extern "C"',
      'template <int M> struct Tile { static constexpr int m = M; __attribute__((device)) int at(int i) { return i; } };\nextern "C"',
    ],
    [
      'a template of the device',
      'extern "C"',
      'template <int M> __attribute__((device)) int f() { return M; }\nextern "C"',
    ],
    ['a table of the device', 'extern "C"', '__attribute__((constant)) static const int t[2] = { 1, 2 };\nextern "C"'],
  ])('of %s are allowed', (_what, from, to) => {
    expect(change(from, to)).toBeUndefined();
  });

  test.each([
    ['main', 'return app::both', 'return 0 * app::both'],
    ['a constant of the host', 'N = 4', 'N = 8'],
    ['a host function', 'int both(int x) { return x; }', 'int both(int x) { return 0; }'],
    ['data', '1, 2', '1, 3'],
    ['a constant that hides a name of the host', 'struct Pair', 'constexpr int table = 1;\nstruct Pair'],
    ['a constructor', 'int main', '__attribute__((constructor)) void first() {}\nint main'],
    ['assembly', 'int main', '__asm__(".incbin \\"/etc/passwd\\"");\nint main'],
    ['a pragma', 'int main', '#pragma weak main\nint main'],
    ['a declaration that is gone', 'int table[] = { 1, 2 };\n', ''],
    ['data beside the word of an attribute', 'int main', 'int e = f("__attribute__((device))");\nint main'],
    [
      'data in a scope that bears an attribute',
      'int main',
      'namespace __attribute__((device)) { int e = f(); }\nint main',
    ],
    ['a type that bears one', 'int main', 'struct __attribute__((device)) S { S() { f(); } } e;\nint main'],
    ['a type with data', 'int main', 'struct S { static inline int e = f(); };\nint main'],
    ['a type that the host would find', 'int main', 'struct Pair2 { friend int both(Pair2) { return 1; } };\nint main'],
    [
      'another spelling of host',
      'int main',
      '__attribute__((device)) __attribute__((__host__)) int f() { return 1; }\nint main',
    ],
    ['lines that say to be of another file', 'int main', '# 1 "other.h"\nint e = f();\n# 20 "k.hip"\nint main'],
    ['the name of a function', 'namespace app {', 'namespace app {\n__attribute__((device)) int main() { return 1; }'],
    ['what follows a kernel', 'x[0] = 1;', '\n#pragma clang force_cuda_host_device begin\nx[0] = 1;'],
  ])('of %s are not', (_what, from, to) => {
    expect(change(from, to)).toMatch(/^Code of the host/);
  });

  test('of what is included and of the signature are not', () => {
    expect(guardBreak(facts(PLAIN), facts(PLAIN, ['/usr/include/b.h']))).toMatch(/^Code of the host/);
    expect(guardBreak(facts(PLAIN), { ...facts(PLAIN), signature: 'void (long *)' })).toMatch(/signature/);
  });
});
