// Error codes of moving code: the rewriter and what puts code into kernels.
import type { ErrorPages } from './types.ts';

export const REWRITE_ERRORS: ErrorPages = {
  'rewrite/backwards': [
    'An address computation that can only count forward would have to count backward after the code was laid out again.',
    'Put less code between the computation and its target, or none.',
  ],
  'rewrite/branch-range': [
    'A branch cannot reach its target any more, and nothing between is a place for a jump.',
    'Put less code in at one place: a branch reaches 128 KiB.',
  ],
  'rewrite/layout': [
    'Placing the code again did not converge: each round made a branch longer and moved others.',
    'This is a defect of wavesmith; the code object that shows it helps to mend it.',
  ],
  'rewrite/no-code': ['The code object has no section with instructions.', 'Give a linked code object with kernels.'],
  'rewrite/no-entry': [
    "A kernel's descriptor points outside the sections with code.",
    'The code object is damaged; `wavesmith inspect` shows its kernels.',
  ],
  'rewrite/no-instruction': [
    'An edit names an address at which no instruction begins that a kernel or function reaches.',
    'Take addresses from the lifted program, or from `wavesmith disasm`.',
  ],
  'rewrite/no-segment': [
    'No segment of the file loads the section with the code.',
    'The code object is damaged; get a fresh copy.',
  ],
  'rewrite/not-a-branch': [
    'Code was to be put on the way to the target of an instruction that does not branch to one known place.',
    'Use direct branches, or put the code at the target.',
  ],
  'rewrite/pc-value': [
    'The code takes its own address and computes with it in a way that is not followed, so moving it could change what it does.',
    'Leave this code as it is. The forms that compilers and Tensile make are followed. Probes leave such a kernel out and say so; other kernels of the file get theirs.',
  ],
  'rewrite/preload-stub': [
    'The first 256 bytes of a kernel with preloaded arguments are full, and the block in them is not one that can be moved.',
    'Put no code into that block.',
  ],
  'rewrite/replaced-branch': [
    'An instruction that depends on where it stands (a branch, a call, s_getpc_b64) was to be replaced.',
    'Put code before or behind it instead.',
  ],
  'rewrite/unresolved-branch': [
    'Code jumps to a place that is known only when it runs; code that was put in between could be missed or hit in the middle.',
    'Leave this kernel or function as it is; others in the file can be changed.',
  ],
};
