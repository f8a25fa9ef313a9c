// Error codes of files: what is wrong with a file, or with what it holds.
import { TARGET_LIST } from '../../isa/table/targets.ts';
import type { ErrorPages } from './types.ts';

export const FILES_ERRORS: ErrorPages = {
  'bundle/bad-zlib': [
    'The compressed part of an offload bundle cannot be unpacked.',
    'Get a fresh copy of the file; it is damaged.',
  ],
  'bundle/bad-zstd': [
    'The compressed part of an offload bundle cannot be unpacked.',
    'Get a fresh copy of the file; it is damaged.',
  ],
  'bundle/damaged': [
    'The table of an offload bundle points outside the file or has impossible sizes.',
    'Get a fresh copy of the file.',
  ],
  'bundle/method': [
    'The bundle is compressed in a way that clang did not use when this tool was written.',
    'Unpack it with `clang-offload-bundler --unbundle`, then give the result.',
  ],
  'bundle/not-bundle': [
    'The file does not begin as a clang offload bundle does.',
    'Give the file to `wavesmith inspect`, which recognises formats by content.',
  ],
  'bundle/truncated': ['The file ends before the bundle does.', 'Get a fresh copy of the file.'],
  'bundle/version': ['The compressed bundle has a version that is not known.', 'Versions 1 to 3 are supported.'],
  'bundle/wrong-size': [
    "The unpacked content has another size than the bundle's header says.",
    'The file is damaged; get a fresh copy.',
  ],
  'bytes/truncated': [
    'The file ends inside a structure that was being read.',
    'Get a fresh copy of the file; it is cut off or damaged.',
  ],
  'container/ambiguous': [
    'The file holds several code objects and the command works on one.',
    'Pick one with --object N or --object TARGET, or extract it first.',
  ],
  'container/depth': [
    'Containers are nested deeper than 8 levels: the file is damaged or hostile.',
    'Extract the inner file by hand and give that.',
  ],
  'container/empty': [
    'The file is a container, and nothing in it is a code object.',
    '`wavesmith inspect FILE` shows what it holds.',
  ],
  'container/no-gpu-code': [
    'The host program carries no GPU code, or keeps it where this tool does not look.',
    "A HIP program keeps its GPU code in '.hip_fatbin'.",
  ],
  'container/no-object': [
    '`--object` names a code object that the file does not have.',
    "'wavesmith inspect FILE' lists them.",
  ],
  'container/unknown': [
    'The content of the file is none of the formats that are known.',
    'Give a code object (.co, .hsaco, .o), a host binary with a fat binary, an offload bundle or an IREE .vmfb.',
  ],
  'descriptor/range': [
    'A field of a kernel descriptor was set to a value that its bits cannot hold.',
    'Give a smaller value; LLVM\'s AMDGPUUsage, "Kernel Descriptor", has the widths.',
  ],
  'descriptor/reserved': [
    'The bytes that a `.kd` symbol names set bits that no kernel descriptor of these targets sets.',
    'Get a fresh copy of the code object. If the symbol is no kernel descriptor, give it a name that does not end in `.kd`.',
  ],
  'descriptor/truncated': [
    'A kernel descriptor has 64 bytes, and its section ends before that.',
    'Get a fresh copy of the code object.',
  ],
  'elements/unknown-type': [
    'The text names no element type.',
    'Use a name like f16, bf16, f32, i8, i32; the message lists all.',
  ],
  'elf/bad-alignment': ['An alignment is not a power of two.', 'Mend the directive, or get a fresh copy of the file.'],
  'elf/bad-header': [
    'A field of the ELF header has an impossible value.',
    'Get a fresh copy of the file; it is damaged.',
  ],
  'elf/bad-note': ['An ELF note has sizes that do not fit its section.', 'Get a fresh copy of the file.'],
  'elf/bad-relocation': [
    'A relocation names a symbol or a place that does not exist.',
    'Get a fresh copy of the file, or assemble it again.',
  ],
  'elf/bad-string': ['A name lies outside its string table.', 'Get a fresh copy of the file.'],
  'elf/bad-symbol': [
    'A symbol names a section that does not exist or cannot hold it.',
    'Get a fresh copy of the file, or assemble it again.',
  ],
  'elf/bad-symbol-table': ['A symbol table has impossible sizes or no string table.', 'Get a fresh copy of the file.'],
  'elf/big-endian': [
    'The file is for a big-endian machine; AMD GPUs are little-endian.',
    'Give an AMDGPU code object.',
  ],
  'elf/not-64-bit': ['The file is a 32-bit ELF file; AMD GPU code is 64-bit ELF.', 'Give an AMDGPU code object.'],
  'elf/not-amdgpu': [
    'The ELF file is for another machine.',
    'Give an AMDGPU code object, or a host program with GPU code inside to `wavesmith extract`.',
  ],
  'elf/not-elf': [
    'The file does not begin with the ELF magic.',
    'Give an AMDGPU code object; `wavesmith inspect` recognises containers.',
  ],
  'elf/not-relocatable': [
    'Only objects can be linked; this file is linked already, or is for another machine.',
    "Linked code objects (.co, .hsaco) cannot be linked again; give the '.o'.",
  ],
  'elf/rel-unsupported': [
    'The object holds relocations without addends (SHT_REL), which AMDGPU tools do not write.',
    'Assemble it with LLVM or with `wavesmith asm -c`.',
  ],
  'elf/section-bounds': ['A section lies outside the file.', 'Get a fresh copy of the file; it is cut off or damaged.'],
  'elf/segment-bounds': ['A segment lies outside the file.', 'Get a fresh copy of the file; it is cut off or damaged.'],
  'elf/too-big': [
    'The linked file would be far larger than its content.',
    'Lower the alignment of the sections; one of them is excessive.',
  ],
  'elf/too-many-sections': [
    'An object may have at most 65,279 sections here.',
    'Put code and data into fewer sections.',
  ],
  'elf/truncated': ['The file ends inside a structure.', 'Get a fresh copy of the file.'],
  'elf/unknown-mach': [
    'The header names a GPU that is not known.',
    'Give code for one of the supported targets; a newer Wavesmith may know this one.',
  ],
  'flatbuffer/overlap': [
    'The data refers to itself in circles or shares bytes in a way that only damage does.',
    'Get a fresh copy of the module.',
  ],
  'flatbuffer/truncated': ['The data refers to bytes outside itself.', 'Get a fresh copy of the module.'],
  'io/read': ['A file could not be read.', 'Check the path and the rights.'],
  'io/write': [
    'A file or folder could not be written. Nothing half-written was left.',
    'Check the path, the rights and the space on the disk.',
  ],
  'metadata/bad-field': [
    'The metadata note has a value of the wrong type.',
    'Mend the value in `.amdgpu_metadata`, or compile the code object again.',
  ],
  'metadata/bad-yaml': [
    'The metadata text is not the YAML that LLVM reads.',
    'Mend the line that the message names; indentation counts.',
  ],
  'metadata/binary': [
    'The metadata holds values that its YAML form cannot show.',
    'Look at the note with a MessagePack tool; LLVM cannot print this metadata either.',
  ],
  'msgpack/bad-byte': ['The metadata note is not MessagePack.', 'The code object is damaged; get a fresh copy.'],
  'msgpack/bad-key': [
    'A key of the metadata is not a string or number.',
    'The code object is damaged; get a fresh copy.',
  ],
  'msgpack/bad-text': ['A string of the metadata is not UTF-8.', 'The code object is damaged; get a fresh copy.'],
  'msgpack/depth': [
    'The metadata nests deeper than any compiler writes.',
    'The code object is damaged; get a fresh copy.',
  ],
  'msgpack/duplicate-key': [
    'A map of the metadata has a key twice.',
    'Remove one of the two in `.amdgpu_metadata`, or get a fresh copy.',
  ],
  'msgpack/range': ['An integer of the metadata does not fit 64 bits.', 'Mend the value in `.amdgpu_metadata`.'],
  'msgpack/trailing': ['Bytes follow the metadata in its note.', 'The code object is damaged; get a fresh copy.'],
  'msgpack/truncated': ['The metadata note ends inside a value.', 'The code object is damaged; get a fresh copy.'],
  'npy/bad-file': [
    'The file is not an array that NumPy wrote, or of a type that is not known.',
    'Write the array with numpy.save.',
  ],
  'npy/size': ['The file does not have as many bytes as its header says.', 'Write the array again with `numpy.save`.'],
  'npy/truncated': ['The file ends before the array does.', 'Write the array again with `numpy.save`.'],
  'target/bad-id': [
    'The text is not a target id.',
    "A target id looks like 'gfx942' or 'amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-'.",
  ],
  'target/unknown': ['No AMD GPU has this name.', `Supported are ${TARGET_LIST}.`],
  'vmfb/bad-executable': [
    'An executable of the module is not what IREE writes.',
    'Compile the module again, with IREE 3.8 to 3.13.',
  ],
  'vmfb/bad-export': [
    'An executable lists a kernel without its name or size.',
    'The module is damaged; compile it again.',
  ],
  'vmfb/bytecode-too-complex': [
    'The host program of the module has more paths than Wavesmith follows.',
    'Give `--grid` and `--constant` by hand.',
  ],
  'vmfb/bytecode-version': [
    "The module's bytecode is of an IREE that is not known.",
    'Versions 15 to 17 are supported (IREE 3.8 to 3.13). Give `--grid` by hand.',
  ],
  'vmfb/compressed': ['A segment of the module is compressed.', 'Compile the module without compression.'],
  'vmfb/embedded-too-big': [
    "The new code is larger than the old code, which lies inside the module's FlatBuffer, where nothing can grow.",
    'Make the kernel smaller, or recompile with the substitution (--via compile).',
  ],
  'vmfb/executable-version': [
    'An executable of the module has a version that is not known.',
    'Use a newer Wavesmith, or compile the module with IREE 3.8 to 3.13.',
  ],
  'vmfb/no-image': ['An executable of the module holds no code.', 'Compile the module again.'],
  'vmfb/no-such-image': ['The named image is not in the module.', "'wavesmith inspect FILE' lists the executables."],
  'vmfb/not-elf': ['The new code is not a code object.', 'Give a linked code object.'],
  'vmfb/not-executable': ['A segment that should hold GPU code does not.', 'Compile the module again.'],
  'vmfb/not-vmfb': ['The file is not an IREE module.', "Give the '.vmfb' that iree-compile wrote."],
  'vmfb/patch-lost': [
    'The written module does not hold the new code.',
    'Give every image of the module one new code object at most.',
  ],
  'vmfb/truncated': ['The module ends early.', 'Get a fresh copy, or compile it again.'],
  'vmfb/unknown-opcode': [
    'The host program of the module uses an operation that Wavesmith does not know.',
    'Give `--grid` and `--constant` by hand, and report the version of IREE.',
  ],
  'vmfb/unnamed-segment': [
    "A segment of the module is not in its archive's directory.",
    'Use the module as iree-compile wrote it: another tool changed the archive.',
  ],
  'zip/compressed': [
    'An entry of the archive is compressed.',
    'Use the module as iree-compile wrote it: IREE stores entries, another tool compressed them.',
  ],
  'zip/damaged': [
    "The archive's directory contradicts its entries.",
    'Get a fresh copy of the module, or compile it again.',
  ],
  'zip/truncated': ['The file ends before its archive does.', 'Get a fresh copy, or compile the module again.'],
};
