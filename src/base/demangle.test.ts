import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { demangle } from './demangle.ts';

/** Names that clang 22 gives to kernels, and what llvm-cxxfilt makes of them. */
const KERNELS: readonly (readonly [string, string])[] = [
  ['_Z5scalePffi', 'scale(float*, float, int)'],
  ['_Z3addPKfS0_Pfi', 'add(float const*, float const*, float*, int)'],
  ['_Z4manyIJEEvDpT_', 'void many<>()'],
  ['_ZN12_GLOBAL__N_16hiddenEi', '(anonymous namespace)::hidden(int)'],
  ['_ZN12_GLOBAL__N_17hiddenTIfEEvT_', 'void (anonymous namespace)::hiddenT<float>(float)'],
  ['_Z2fnIXadL_Z1giEEEvi', 'void fn<&g(int)>(int)'],
  ['_Z4manyIJifPfEEvDpT_', 'void many<int, float, float*>(int, float, float*)'],
  [
    '_Z11elementwiseIfZ3usevEUliE_EviT0_PT_',
    "void elementwise<float, use()::'lambda'(int)>(int, use()::'lambda'(int), float*)",
  ],
  [
    '_Z6reduceILN2ck2OpE1ELb1ENS0_8SequenceILi3EJLin1ELi2EEEELc120ELln5EEvT1_PKfRKNS0_5TupleIdEE',
    'void reduce<(ck::Op)1, true, ck::Sequence<3, -1, 2>, (char)120, -5l>(ck::Sequence<3, -1, 2>, float const*, ck::Tuple<double> const&)',
  ],
  [
    '_Z3vecDv4_fDF16_DF16bPFiicEPA3_iPU3AS1fMN2ck6TensorEi',
    'vec(float vector[4], _Float16, std::bfloat16_t, int (*)(int, char), int (*) [3], float AS1*, int ck::Tensor::*)',
  ],
  ['_Z4takeRA4_KcOiPVKd', 'take(char const (&) [4], int&&, double const volatile*)'],
  ['_ZNK1AcvbEv', 'A::operator bool() const'],
];

describe('C++ names', () => {
  test.each(KERNELS)('%s', (symbol, name) => expect(demangle(symbol)).toBe(name));

  test.each([
    'main',
    '',
    '_Z',
    '_Z5scal',
    '_ZN',
    '_ZNSsC1Ev',
    '_ZTV1A',
    '_Z1fT_',
    '_Z1fS9_',
    `_Z1f${'P'.repeat(9999)}i`,
  ])('without one stay as they are: %.20s', (symbol) => expect(demangle(symbol)).toBe(symbol));

  const cxxfilt = ['/usr/lib/llvm-22/bin/llvm-cxxfilt'].find((path) => existsSync(path));
  test.skipIf(cxxfilt === undefined)('are what llvm-cxxfilt prints', () => {
    const input = KERNELS.map(([symbol]) => symbol).join('\n');
    const { stdout } = spawnSync(cxxfilt ?? '', [], { input, encoding: 'utf8' });
    expect(KERNELS.map(([, name]) => name)).toEqual(stdout.split('\n').slice(0, KERNELS.length));
  });

  test('cut anywhere never throw', () => {
    for (const [symbol] of KERNELS)
      for (let at = 0; at < symbol.length; at++) expect(typeof demangle(symbol.slice(0, at))).toBe('string');
  });
});
