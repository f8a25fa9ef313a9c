// Functions by what users call them.
import { expect, test } from 'vitest';
import { isFunctionNamed } from './function-name.ts';

const SIZE = '_ZNK3geo3BoxIdE4sizeEv';
const PAIR = '_Z4pairIifEvT_T0_';
const SUM = '_Z3sumIiEvPT_S0_';

test.each([
  ['_Z6addmulii', 'addmul'],
  ['_Z6addmulii', 'addmul(int,int)'],
  ['_Z6addmulii', 'addmul( int, int )'],
  [SIZE, 'size'],
  [SIZE, 'Box::size'],
  [SIZE, 'geo::Box::size'],
  [SIZE, 'geo::Box<double>::size'],
  [SIZE, 'geo::Box<double>::size() const'],
  ['_Z5scaleRKN3geo3VecEf', 'scale(geo::Vec const&, float)'],
  [SUM, 'sum'],
  [SUM, 'sum<int>'],
  [SUM, 'sum<int>(int*, int)'],
  ['_ZNK15__HIP_ThreadIdxclEj', 'operator()'],
  ['_ZNK15__HIP_ThreadIdxclEj', '__HIP_ThreadIdx::operator()'],
  [PAIR, 'pair<int, float>'],
  [PAIR, 'pair'],
  ['main', 'main'],
])('%s is %s', (symbol, text) => {
  expect(isFunctionNamed(symbol, text)).toBe(true);
});

test.each([
  ['_Z6addmulii', 'mul'],
  ['_Z6addmulii', 'addmul(int)'],
  ['_Z6addmulii', 'geo::addmul'],
  [SIZE, 'x::size'],
  [SIZE, 'geo::Box<float>::size'],
  [SUM, 'void sum'],
  ['main', 'ain'],
])('%s is not %s', (symbol, text) => {
  expect(isFunctionNamed(symbol, text)).toBe(false);
});
