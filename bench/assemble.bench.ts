// Assembly as its users have it: whole processes, start-up included, on the text of the largest code there is that does not
// repeat itself. `asm` against `clang -c` and ld.lld, `mc` against llvm-mc, printing and writing an object.
// Run: npm run bench assemble. Needs LLVM 22.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { disassembleCodeObject } from '../src/asm/index.ts';
import { compare, llvm, printHeader, program, wavesmith, withFolder } from './support/processes.ts';
import { benchObjects } from './support/texts.ts';

const ROUNDS = 5;

withFolder((folder) => {
  const out = join(folder, 'out');
  console.log(
    'Whole processes, start-up included, output to a file; in turn, after one run that fills the caches; the ratio is the median pair by pair.\n',
  );
  printHeader();
  for (const { name, target, path } of benchObjects(folder)) {
    const source = join(folder, 'source.s');
    const text = disassembleCodeObject(readFileSync(path));
    writeFileSync(source, text);
    console.log(`${name}, ${text.split('\n').length} lines`);
    const clang = ['-x', 'assembler', '-target', 'amdgcn-amd-amdhsa', `-mcpu=${target}`, '-c', source];
    const object = join(folder, 'theirs.o');
    const build = {
      script: 'clang=$1; lld=$2; o=$3; shift 3; "$clang" "$@" -o "$o" && "$lld" -shared "$o" -o "$o.co"',
      args: [llvm('clang'), llvm('ld.lld'), object, ...clang],
    };
    const asm = program(wavesmith, 'asm', source, '-o', join(folder, 'ours.co'));
    compare('  asm              | clang -c, ld.lld', asm, build, out, 1, ROUNDS);
    for (const filetype of ['asm', 'obj']) {
      const flags = ['-triple=amdgcn-amd-amdhsa', `-mcpu=${target}`, `-filetype=${filetype}`, source];
      const ours = program(wavesmith, 'mc', ...flags, '-o', join(folder, 'ours.mc'));
      const theirs = program(llvm('llvm-mc'), ...flags, '-o', join(folder, 'theirs.mc'));
      compare(`  mc -filetype=${filetype} | llvm-mc`, ours, theirs, out, 2, ROUNDS);
    }
  }
});
