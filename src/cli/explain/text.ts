// Error codes of text and of commands: assembler, disassembler, linker, checker, MLIR, the command line.
import { TARGET_LIST } from '../../isa/table/targets.ts';
import type { ErrorPages } from './types.ts';

export const TEXT_ERRORS: ErrorPages = {
  'asm/errors': [
    'The source has errors. Each is printed with its line and column; this error counts them.',
    'Mend the first message, then assemble again: later messages often follow from it.',
  ],
  'asm/no-target': [
    'The source does not say which GPU it is for, and no flag does.',
    "Name the target: '--target gfx942'.",
  ],
  'asm/target-conflict': [
    "The source's `.amdgcn_target` and `--target` name different GPUs.",
    "Give '--target' as the source has it, or leave the flag out.",
  ],
  'asm/too-large': [
    'Directives ask for more bytes than a code object may have.',
    'Check the counts of .fill, .zero, .org and .p2align.',
  ],
  'asm/too-long': [
    'Macros or repeats expand without end, or to more statements than are read.',
    'Look for a macro that calls itself without an end, or a `.rept` with a huge count.',
  ],
  'asm/unsupported-target': [
    'There is no instruction table for the named GPU.',
    `Supported are ${TARGET_LIST}; '--engine llvm' assembles others with clang.`,
  ],
  'check/assemble': ['The source has errors, so there is no code to check.', 'Mend the errors above first.'],
  'check/baseline': [
    'The file given as the list of known findings is not the JSON of an earlier check.',
    "Write it with 'wavesmith check FILE --json > known.json'.",
  ],
  'check/config': [
    '`wavesmith.json` is not what the checker reads.',
    'Mend `wavesmith.json` at the place that the message names; docs/check/README.md describes the file.',
  ],
  'check/fix-input': [
    'Fixes are made in the text of one code object; the file is a container or an object that is not linked.',
    "Take the code object out with 'wavesmith extract' first.",
  ],
  'check/target': [
    'There is no instruction table for the GPU of the code object.',
    `Supported are ${TARGET_LIST}; give code for one of them.`,
  ],
  'cli/bad-option': [
    'A flag has a value that the command does not know.',
    'The message lists the values; `--help` explains them.',
  ],
  'cli/missing-argument': [
    'The command needs one more argument.',
    'Write it after two dashes: wavesmith exec -- PROGRAM ARGS.',
  ],
  'explain/unknown-code': [
    'The text is neither an error code nor a rule.',
    "'wavesmith explain --list' lists the codes.",
  ],
  'cli/unknown-command': ['There is no command of this name.', "'wavesmith --help' lists the commands."],
  'cli/usage': ['The arguments do not fit together. The message says how.', 'Run the command with `--help`.'],
  'diff/assembly': ['One of the two texts has errors.', "'wavesmith asm FILE' shows all errors."],
  'diff/no-kernel': [
    '`--kernel` names a kernel that neither side has.',
    "'wavesmith inspect' lists the kernels of a file.",
  ],
  'disasm/file-type': [
    'The ELF file is neither an object nor a shared object.',
    'Give a code object (`.co`, `.hsaco`) or an object (`.o`).',
  ],
  'disasm/no-kernel': [
    '`--kernel` names a kernel that the file does not have.',
    '`wavesmith inspect FILE` lists the kernels.',
  ],
  'disasm/no-sections': [
    'The section headers were stripped, and the text needs them.',
    'Use the file as it was before it was stripped.',
  ],
  'disasm/not-amdgpu': [
    'The ELF file is for another machine.',
    'Give AMD GPU code; a host program can be given to `wavesmith extract`.',
  ],
  'disasm/target': [
    'There is no instruction table for the GPU of the code object.',
    `Supported are ${TARGET_LIST}; give code for one of them.`,
  ],
  'disasm/version': [
    'The code object has a version before 3 or an unknown one.',
    'Compile it again with `-mcode-object-version=5`.',
  ],
  'finding/policy': [
    'The configuration gives a rule a severity that does not exist.',
    'Write error, warning, note or off.',
  ],
  'finding/unknown-rule': [
    'The name is neither a rule nor an area of rules.',
    'The message lists the rules; `docs/check/README.md` explains them.',
  ],
  'isa/no-instruction': [
    'The dwords given to `wavesmith isa` are no instruction of the target, or its first dword is missing.',
    'Give the dword at the lowest address first, all that belong to the instruction, and the target that the code is for.',
  ],
  'isa/unknown-mnemonic': [
    'No instruction of the target has this name.',
    '`wavesmith isa --list` lists the mnemonics.',
  ],
  'link/bad-relocation': [
    'The relocation cannot refer to this symbol in a shared object.',
    "Make the symbol hidden or protected ('.protected NAME'), or use a GOT-relative or 64-bit reference.",
  ],
  'link/duplicate-symbol': [
    'Two objects define the same symbol.',
    'Remove one of the definitions, or make one weak or local.',
  ],
  'link/incompatible': [
    'The objects are for different targets or settings.',
    'Assemble all objects for the same target id and code object version.',
  ],
  'link/lds-symbol': [
    'An LDS variable would have to be placed by the linker.',
    'Give LDS variables fixed offsets with .set.',
  ],
  'link/no-input': ['No object was given.', 'Give at least one `.o` file.'],
  'link/out-of-range': [
    'A branch reaches further than its 16-bit offset.',
    'Place the code closer, or jump with s_setpc_b64.',
  ],
  'link/section-type': [
    'Sections of one name have types that cannot become one section.',
    'Rename one of the sections.',
  ],
  'link/undefined-symbol': [
    'A symbol is used and never defined.',
    'Define the symbol, or link the object that defines it.',
  ],
  'link/unknown-relocation': [
    'The object holds a relocation that AMDGPU does not define.',
    'Assemble the object again with LLVM 22 or `wavesmith asm -c`.',
  ],
  'link/unterminated-string': [
    'A section of mergeable strings ends without a zero byte.',
    'End the last string with `.asciz` or a zero byte.',
  ],
  'link/writable-merge': [
    'A mergeable section must not be writable.',
    'Remove the flag `w` or the flag `M` of the section.',
  ],
  'lsp/internal': [
    'The language server failed because of a bug in it.',
    "Report it with the source and the server's log.",
  ],
  'lsp/rename': ['The new name is not a name, or is taken.', 'Choose another name.'],
  'mlir/bad-dictionary': [
    'An attribute dictionary is not `{name = value, …}`.',
    'Mend the text at the place that the message names.',
  ],
  'mlir/bad-token': [
    'A character or word of the file cannot occur in MLIR text.',
    'Give MLIR text; bytecode can be turned into text with `iree-opt` or `mlir-opt`.',
  ],
  'mlir/invalid-utf8': [
    'MLIR text is UTF-8, and the file is not.',
    'Give MLIR text; bytecode can be turned into text with mlir-opt.',
  ],
  'mlir/no-module-body': ['The top module has no body.', 'Give a module whose body is written out.'],
  'mlir/too-deep': ['Brackets nest deeper than any compiler writes.', 'The file is damaged; get a fresh copy.'],
  'mlir/too-large': [
    'The module is larger than what is read.',
    'Pass weights as function arguments instead of constants in the text.',
  ],
  'mlir/unbalanced': ['A bracket is not closed, or closes nothing.', 'The text is cut off or damaged; get it whole.'],
  'mlir/unexpected': [
    'The text has something else where an operation has to begin.',
    'Give MLIR text, one operation after the other.',
  ],
  'program/relocatable': [
    'Control flow of an object that is not linked is not known: branches and calls still wait for their targets.',
    'Link it first: ld.lld -shared FILE.o -o FILE.co.',
  ],
  'program/target': [
    'There is no instruction table for the GPU of the code object.',
    `Supported are ${TARGET_LIST}; give code for one of them.`,
  ],
  'tools/cannot-run': [
    'A program was found and could not be started.',
    'Check its rights and that it is for this machine.',
  ],
  'tools/iree-not-found': [
    "IREE's tools were not found.",
    "Run 'npm run setup', or set IREE_COMPILE to an iree-compile.",
  ],
  'tools/llvm-not-found': [
    "LLVM's tools were not found.",
    "Run 'npm run setup', or set ROCM_LLVM to the folder that holds the tool.",
  ],
  'prove/assembly': ['A file given as text does not assemble.', "'wavesmith asm FILE' shows all messages."],
  'prove/bad-launch': [
    'The file of --launch is not JSON, or has a field or a value that a launch does not have.',
    'It is an object with grid, block (lists of numbers), dynamicLds (bytes), args (texts as for --arg) and noAlias.',
  ],
  'prove/no-code': [
    'The entry point that the kernel descriptor gives does not lie in code.',
    'The file is damaged, or an edit moved the kernel: assemble and link it anew.',
  ],
  'prove/no-common-kernel': [
    'Kernels are compared by name, and no name is in both files.',
    'Name one with --kernel and its counterpart with --edited-kernel.',
  ],
  'prove/no-such-kernel': ['A file has no kernel of this name.', '`wavesmith inspect FILE` lists the kernels.'],
  'prove/target': ['There is no instruction table for this GPU.', `Supported targets are ${TARGET_LIST}.`],
};
