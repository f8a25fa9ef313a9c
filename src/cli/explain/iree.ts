// Error codes of IREE and rocMLIR: the hijack loop and the generator of kernels.
import { TARGET_LIST } from '../../isa/table/targets.ts';
import type { ErrorPages } from './types.ts';

export const IREE_ERRORS: ErrorPages = {
  'hijack/assemble': [
    'The edited text has an error.',
    'Correct this line; messages after the first one are usually its consequences.',
  ],
  'hijack/assembler-llvm': [
    'The installed LLVM does not know the target of the text.',
    'Use --engine wavesmith, or point ROCM_LLVM at an LLVM that knows this target (gfx950 needs 20 or newer).',
  ],
  'hijack/bad-manifest': [
    'manifest.json is damaged, or does not belong to the files beside it.',
    'Make the folder anew with hijack init.',
  ],
  'hijack/baseline-failed': [
    'The unedited module did not run on the virtual GPU, so there is nothing to compare with.',
    'Its inputs may not fit (--input), or the virtual GPU lacks something: wavesmith exec shows more.',
  ],
  'hijack/check': [
    'The checker finds an error in the edited kernel that the baseline did not have.',
    "'wavesmith check FILE' shows everything; --force builds anyway.",
  ],
  'hijack/compile-failed': [
    'iree-compile ended with an error, which the message quotes.',
    'The message ends with the command; run it by hand to see all output.',
  ],
  'hijack/damaged-module': [
    'The module launches a kernel that its executable does not have.',
    'The module is damaged; compile it again.',
  ],
  'hijack/does-not-fit': [
    'The edited kernel uses so many registers that a workgroup of its size can never start.',
    'Use fewer vector registers (VGPRs and AGPRs together); the message says how many fit.',
  ],
  'hijack/dynamic-shape': [
    "An input's shape is only known at run time.",
    'Give every input with its shape, for example `--input 4x8xf16`.',
  ],
  'hijack/element-type': [
    'The text names no element type.',
    'Use a name like f16, bf16, f32, i8, i32; the message lists all.',
  ],
  'hijack/empty': ['The edited file has no text.', 'Restore it from the baseline folder.'],
  'hijack/entry': [
    'The kernel descriptor gives an entry point outside the code.',
    'Assemble or compile the code object again.',
  ],
  'hijack/folder-exists': [
    'The output folder exists and holds files.',
    'Choose another folder, or give --force to replace a hijack folder (edits in it are lost).',
  ],
  'hijack/input-count': [
    '`--input` was given for some inputs but not for all, or for more than there are.',
    'Give --input once for each; the message lists the inputs.',
  ],
  'hijack/input-function': [
    '`--input` was given for a module with several functions.',
    'Give --function with one of the names in the message.',
  ],
  'hijack/input-size': [
    'The data of an input does not have the size of its shape.',
    'Give a file with exactly the elements of the shape.',
  ],
  'hijack/input-type': [
    'An input was given with another element type or shape than the function takes.',
    'Give the type that the message names.',
  ],
  'hijack/kernarg-layout': [
    "The edited kernel's metadata lists other arguments than the module passes.",
    'Keep `.args` and `.kernarg_segment_size` of the baseline.',
  ],
  'hijack/kernel-name': [
    'The edited text does not define a kernel that the module launches.',
    'The module looks kernels up by name: keep the label, .amdhsa_kernel and the metadata’s .name and .symbol.',
  ],
  'hijack/lds-limit': [
    'The edited kernel uses more LDS than the target gives a workgroup.',
    'Lower `.amdhsa_group_segment_fixed_size` and what the code uses.',
  ],
  'hijack/link': [
    'The linker refused the assembled object.',
    'Mend the symbol that the linker names: references outside the file cannot be resolved.',
  ],
  'hijack/linked-assembly': [
    'The dump holds several executables that IREE linked into one.',
    "Dump with --iree-hal-link-executables=false and edit one dispatch, or use 'wavesmith hijack init', which does that itself.",
  ],
  'hijack/modified-failed': [
    'The edited kernel did not run to its end where the baseline did.',
    'The message has the fault, its place and the instruction; `wavesmith run --check` shows more.',
  ],
  'hijack/no-constant': [
    'The module does not record a value that the kernel is launched with.',
    'Give --constant N=VALUE (a 32-bit integer).',
  ],
  'hijack/no-executables': [
    'The module holds no GPU code.',
    'Was it compiled for another device, or does it only move data? See wavesmith inspect.',
  ],
  'hijack/no-folder': [
    'The folder was not made by `hijack init`.',
    "Make one with 'wavesmith hijack init INPUT.mlir -o DIR --target gfx942'.",
  ],
  'hijack/no-function': [
    'The module exports no such function.',
    '`wavesmith inspect` and the message list the functions.',
  ],
  'hijack/no-code': [
    'The program or file gave no code object with a kernel that was asked for.',
    "Check that the program uses the GPU, that it has code for the device ('--device sim:TARGET'), and what --kernel says.",
  ],
  'hijack/no-grid': [
    'The module does not record how many workgroups the kernel is launched with.',
    'It depends on run-time shapes, or the module does not tell: give --grid X,Y,Z (workgroups).',
  ],
  'hijack/no-input': [
    'The module does not tell the type of an input.',
    'Give every input with --input, as iree-run-module takes it: --input 4x8xf16=@data.bin, or --input 4x8xf16 to be seeded.',
  ],
  'hijack/no-kernels': ['The module holds no GPU code.', 'Compile the model for a GPU target.'],
  'hijack/no-metadata': [
    'The metadata of the edited text lacks a kernel.',
    'Keep the kernel’s entry in .amdgpu_metadata; the HIP runtime needs it to launch the kernel.',
  ],
  'hijack/no-modified': ['There is no edited module yet.', "Build it with 'wavesmith hijack build FOLDER'."],
  'hijack/no-parameters': [
    'The weights of the module are in other files.',
    'Give --parameters=SCOPE=FILE (.irpa, .safetensors or .gguf); repeat it for several.',
  ],
  'hijack/no-rocm-backend': [
    'This iree-compile cannot compile for AMD GPUs.',
    "Use the iree-base-compiler wheel for Linux ('npm run setup' installs it).",
  ],
  'hijack/no-program': [
    'The folder was made from a file of code objects, which does not say what program loads it.',
    'Give the program: wavesmith hijack run DIR -- PROGRAM ARGS.',
  ],
  'hijack/no-size': [
    'The module does not record how large a buffer is.',
    'Give --buffer N=BYTES:TYPE, for example --buffer 0=16384:f32.',
  ],
  'hijack/no-strict': [
    'The objections of strict mode were asked for on a device that has no strict mode.',
    'Use the virtual GPU (`--device sim`), or leave out `--check`.',
  ],
  'hijack/no-such-dispatch': [
    'The name is neither a kernel nor an executable of the module.',
    'The message lists the kernels.',
  ],
  'hijack/no-such-executable': ['The name is not an executable of the module.', 'The message lists the executables.'],
  'hijack/no-type': [
    'The module does not record what a buffer holds.',
    'Give --buffer N=TYPE, for example --buffer 0=f16.',
  ],
  'hijack/not-iree': [
    'The program that was found as iree-compile is something else.',
    'Check IREE_COMPILE, or which iree-compile is installed.',
  ],
  'hijack/not-loadable': [
    'The ELF image is an object and cannot be loaded.',
    'Link it with ld.lld -shared, or let this tool assemble the text.',
  ],
  'hijack/not-proven': [
    'The written module was opened again and does not hold exactly the edit.',
    'The file was removed. Try the other of --via patch and --via compile, and report this.',
  ],
  'hijack/not-substituted': [
    'iree-compile did not use the given object, and only warned about it.',
    'Check the name of the executable; the message lists those of the module.',
  ],
  'hijack/other-compiler': [
    'The folder was made with another version of IREE.',
    'Set IREE_COMPILE to the compiler of the baseline, run hijack init again, or use --via patch.',
  ],
  'hijack/output-flag': [
    'An extra flag for iree-compile would change where the output goes.',
    'Leave the flag out; `-o` of the command decides.',
  ],
  'hijack/parameters': [
    'The given archives do not hold a parameter that the module loads.',
    'Names and scope must be those of the compilation: --parameters=SCOPE=FILE.',
  ],
  'hijack/preload-alignment': [
    'A kernel with preloaded arguments must begin at a multiple of 256 bytes, with a first block of 256 bytes.',
    'Keep .p2align 8 before the kernel’s label and after the first block (loads, s_waitcnt, s_branch): the hardware may start 256 bytes after the label.',
  ],
  'hijack/register-count': [
    'The code uses a register that the descriptor does not allocate.',
    'Raise `.amdhsa_next_free_vgpr`, `.amdhsa_next_free_sgpr` or `.amdhsa_accum_offset`.',
  ],
  'hijack/stale-asm': [
    'The assembly and the module are of different compilations.',
    'Assembly and module must come from the same input and the same flags; pass the flags of the dump.',
  ],
  'hijack/stale-baseline': [
    'baseline.vmfb was replaced since the folder was made.',
    'The assembly must come from the same compilation as the baseline: run hijack init again and redo the edit.',
  ],
  'hijack/stale-compile': [
    'Compiling again gives other code than the baseline has.',
    'Use --via patch, or run hijack init again.',
  ],
  'hijack/stale-input': [
    'The input changed since the folder was made.',
    'Run hijack init again: assembly of one compilation does not fit another.',
  ],
  'hijack/stray-file': [
    'A file in the folder belongs to no executable.',
    'Edit the files that belong to executables, or take this one away.',
  ],
  'hijack/target': [
    'There is no instruction table for the GPU of the module.',
    `Supported are ${TARGET_LIST}; give code for one of them.`,
  ],
  'hijack/target-flag': [
    'An extra flag for iree-compile names another target than --target, GPU_TARGET or the assembly.',
    'Give the target once; the compiler’s own spelling of the flag is found out by asking it.',
  ],
  'hijack/target-mismatch': [
    'GPU_TARGET and the assembly name different GPUs.',
    'Set GPU_TARGET to the target of the assembly, or take assembly of a compilation for the other.',
  ],
  'hijack/variable': [
    'The edited code gives a variable of the code object another initial value, or refers to it in a way that cannot be pointed at the variable that the program has loaded.',
    'Leave variables of the code object as they are: the host and other kernels know them. A new variable needs a new name.',
  ],
  'hijack/text-not-code': [
    "The unedited text no longer assembles to the module's code.",
    'The folder is of an older version: run hijack init again and redo the edit.',
  ],
  'hijack/too-large': [
    "The inputs of the function are larger than the virtual GPU's memory.",
    'Compile the model with smaller shapes, or give smaller ones with --input.',
  ],
  'hijack/unknown-flag': [
    'iree-compile does not know an extra flag.',
    'See `iree-compile --help`; flags differ between IREE releases.',
  ],
  'hijack/workgroup-size': [
    'The edited kernel requires another workgroup size than the module launches.',
    'Keep `.reqd_workgroup_size` of the baseline.',
  ],
  'hijack/wrong-executable': [
    'The edited kernel belongs to another executable than the one named.',
    'Give the executable that the message names, or leave the name out.',
  ],
  'iree/unreadable-dump': [
    "IREE's text dump has a form that this version does not understand.",
    'Please report it with the dump: iree-compile --dump-compilation-phases-to=FOLDER.',
  ],
  'rocmlir/arch': ['No GPU was named, or the name is no GPU.', `Give -a TARGET; targets are ${TARGET_LIST}.`],
  'rocmlir/argument-count': [
    "The launch and IREE's kernel have different numbers of arguments.",
    'Compile the module that launches it: both must be of one function.',
  ],
  'rocmlir/binary-object': [
    'The `gpu.binary` holds no object of the form that rocMLIR writes.',
    "Give the module as rocMLIR's pipeline printed it.",
  ],
  'rocmlir/compiler-failed': [
    'iree-compile ended with an error, which the message quotes.',
    'The message ends with the command; run it by hand to see all output.',
  ],
  'rocmlir/compiler-killed': [
    'iree-compile was ended by a signal.',
    'The machine may be out of memory; run the command by hand to see.',
  ],
  'rocmlir/compiler-timeout': [
    'iree-compile took too long.',
    'Make the module smaller, or compile it with iree-compile by hand.',
  ],
  'rocmlir/config': [
    'IREE_CONFIG is not a file of flags that can be read.',
    'Give one flag a line, or unset IREE_CONFIG.',
  ],
  'rocmlir/dynamic-shape': ["A tensor's shape is only known at run time.", 'Give every dimension a number.'],
  'rocmlir/element-type': [
    'A tensor has elements that kernels here cannot hold.',
    'Use one of the types that the message lists.',
  ],
  'rocmlir/elf': [
    'The binary in `iree.export` is not a code object.',
    'The binary in iree.export is damaged; generate it again.',
  ],
  'rocmlir/elf-kernel': [
    'The code object does not hold the kernel that the module names.',
    'Generate the module again: binary and name are of different compilations.',
  ],
  'rocmlir/features': [
    'The target features are not written as LLVM writes them.',
    'Give -f with sramecc and xnack only, for example -f +sramecc,-xnack.',
  ],
  'rocmlir/invocation': [
    'The export program reported an error, which the message quotes.',
    "Mend what the message says; rocMLIR's own kernel is kept.",
  ],
  'rocmlir/no-kernel': [
    'IREE made no kernel of the function, because the function only passes values on.',
    'Nothing has to be done: such a function needs no kernel.',
  ],
  'rocmlir/kernel-table': [
    'IREE made no kernel or several of the function, and rocMLIR takes exactly one.',
    "Split the function, or let rocMLIR's own kernel be used.",
  ],
  'rocmlir/workgroup-sizes': [
    'The code object requires another workgroup size than the module gives.',
    'Generate the module again: binary and launch facts are of different compilations.',
  ],
  'rocmlir/chip': [
    "The module's binary and IREE's kernel are for different GPUs.",
    'Give `wavesmith rocmlir gen` the same architecture with `-a`.',
  ],
  'rocmlir/async-launch': [
    'An asynchronous launch cannot be replaced by several launches.',
    "Merge before `gpu-async-region`, or let rocMLIR's own kernel be used.",
  ],
  'rocmlir/host-program': [
    'The host program that IREE made around the kernels has a form that is not understood.',
    "Report it with the module and the version of IREE; rocMLIR's own kernel is kept.",
  ],
  'rocmlir/merged': [
    'The module that was to be written reads back as something else, so it was not kept.',
    'Report it with the module.',
  ],
  'rocmlir/not-evaluated': [
    'The direct reference does not know an operation of the function.',
    'Compare with IREE on the CPU: `--reference cpu`.',
  ],
  'rocmlir/scratch-size': [
    'The size of the scratch memory that the kernels share is only known at run time.',
    'Give every dimension of the function a number.',
  ],
  'rocmlir/sequence': [
    "A launch points outside the function's arguments, results and scratch memory.",
    'Generate the module again with this version of Wavesmith.',
  ],
  'rocmlir/sequence-command': [
    'Between its launches the host program does something that a sequence of launches cannot express.',
    "Let rocMLIR's own kernel be used, or split the module.",
  ],
  'rocmlir/sequence-copy': [
    'The host program copies between buffers in a way that a sequence of launches cannot express.',
    "Let rocMLIR's own kernel be used, or split the module.",
  ],
  'rocmlir/setup': [
    'A step of `rocmlir setup` could not be done: something of another owner is in the way, or a tool or package is missing.',
    'Do what the message says; `--dry-run` shows what the steps would do, `--root` chooses another folder.',
  ],
  'rocmlir/too-much-work': [
    'The function is too large to be evaluated directly.',
    'Compare with IREE on the CPU: `--reference cpu`.',
  ],
  'rocmlir/workgroup-count': [
    'The number of workgroups of a launch is only known at run time.',
    'Give every dimension of the function a number.',
  ],
  'rocmlir/json': [
    'What the export program printed is not the JSON that the pass reads.',
    'Run `wavesmith rocmlir export` by hand and look at its output.',
  ],
  'rocmlir/kernel-arguments': [
    "IREE's kernel takes buffers that are no arguments of the function.",
    'IREE keeps large constants and intermediate results in buffers of its own; pass weights as arguments.',
  ],
  'rocmlir/kernel-name': [
    "The name of IREE's kernel is missing or empty.",
    'Generate the module again with `wavesmith rocmlir gen`.',
  ],
  'rocmlir/kernel-properties': [
    'The JSON of the export program lacks the launch facts of the kernel.',
    'Use the `iree-export` of this Wavesmith version.',
  ],
  'rocmlir/literal': [
    'A constant in the module is not a dense tensor of its type.',
    "Write the constant as `dense<…>` with the type's elements.",
  ],
  'rocmlir/malformed': [
    'An operation does not have the form that its dialect prints.',
    "Mend the operation at the place, or print the module with rocMLIR's tools.",
  ],
  'rocmlir/missing-attribute': [
    'An operation lacks an attribute that says what it computes.',
    'Add the attribute; the message names it and its type.',
  ],
  'rocmlir/no-binary': ['The module has no `gpu.binary` yet.', 'Run `gpu-module-to-binary` before the merge.'],
  'rocmlir/no-compiler': [
    'There is no iree-compile where IREE_BIN says.',
    'Unset IREE_BIN to have iree-compile found, or point it at a folder that holds it.',
  ],
  'rocmlir/no-export': [
    'The module has no attribute `iree.export`.',
    "Run `wavesmith rocmlir gen` first; rocMLIR's own kernel is kept.",
  ],
  'rocmlir/no-launch': [
    'The module does not launch the kernel, or with sizes that are not constant.',
    'Give a module that wavesmith rocmlir merge wrote.',
  ],
  'rocmlir/no-properties': [
    'A `#gpu.object` has no properties, so nothing says how to launch it.',
    'Give the module that `wavesmith rocmlir gen` wrote.',
  ],
  'rocmlir/no-runner': [
    'The comparison needs iree-run-module, and it was not found.',
    "Run 'npm run setup', or set IREE_BIN to a folder that holds it.",
  ],
  'rocmlir/reference': [
    "IREE's CPU backend could not compute the reference.",
    'Run it without a comparison: `--reference none`.',
  ],
  'rocmlir/rock-kernel': [
    "The launch names a kernel that the binary's table does not have.",
    "Give the module as rocMLIR's pipeline printed it.",
  ],
  'rocmlir/several-binaries': [
    'IREE made several binaries, or the module has several, and rocMLIR takes one.',
    'Split the module into one function with one kernel.',
  ],
  'rocmlir/several-functions': [
    'The module has no function or more than one, and one becomes the kernel.',
    'Give a module with exactly one function: it becomes the kernel.',
  ],
  'rocmlir/several-kernels': [
    'IREE made several kernels of the function, and rocMLIR takes one.',
    'rocMLIR takes one launch: split the module, or let rocMLIR’s own kernel be used.',
  ],
  'rocmlir/shape': [
    "An operation's result has another shape than its type says.",
    "Correct the operation's types or attributes.",
  ],
  'rocmlir/strides': [
    'The strides of a tensor describe no layout that a kernel can read.',
    'Make the value contiguous before the kernel.',
  ],
  'rocmlir/type': [
    'A type is written in a form that is not known.',
    'Mend the type at the place that the message names.',
  ],
  'rocmlir/unsupported-operation': [
    'The operation, or this form of it, is not lowered.',
    "Let rocMLIR's own kernel be used for this module, or rewrite the operation.",
  ],
  'rocmlir/workgroup-memory': [
    'The `workgroup_memory` of a `#gpu.object` is not an integer.',
    'Generate the module again with `wavesmith rocmlir gen`.',
  ],
};
