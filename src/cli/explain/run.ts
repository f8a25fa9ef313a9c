// Error codes of running kernels: devices, the virtual GPU, the stepper, and the device process of `wavesmith exec`.
import type { ErrorPages } from './types.ts';

export const RUN_ERRORS: ErrorPages = {
  'device/address-taken': [
    'Memory was to be mapped at an address that is in use, or that the device does not have.',
    'Choose another address.',
  ],
  'device/arguments': [
    "The values given for a kernel's arguments do not fit what its metadata lists.",
    'Give a buffer for a pointer, and bytes for a structure.',
  ],
  'device/bad-address': [
    'A program named an address that is not live device memory.',
    'Check that the memory was allocated by this device and not freed.',
  ],
  'device/bad-block': ['The workgroup has no, or too many, work-items for this kernel.', 'Pass a smaller --block.'],
  'device/bad-descriptor': [
    'The kernel descriptor contradicts the metadata, or holds impossible values.',
    'The kernel descriptor is damaged.',
  ],
  'device/bad-grid': [
    'The size of the grid is not a whole number of workgroups, or is zero or too large.',
    'Give the grid in workgroups, each dimension from 1 on.',
  ],
  'device/bad-image': [
    'The segments of the code object ask for an impossible amount of memory.',
    'It is damaged, or not a linked code object.',
  ],
  'device/bad-mapping': ['The memory to be mapped again is not live.', 'Map it while its allocation lives.'],
  'device/bad-metadata': [
    "The metadata lists arguments outside the kernel's argument segment, or impossible sizes.",
    'The code object is damaged; assemble or compile it again.',
  ],
  'device/bad-relocation': [
    'The code object needs an address that nobody provides.',
    'The code object refers to a symbol that no loaded module defines.',
  ],
  'device/bad-segment': [
    'A dispatch packet points at memory that is not live.',
    'Check the address of the kernel arguments and that they were not freed.',
  ],
  'device/bad-size': [
    'An allocation of zero, negative or too many bytes was asked for.',
    'Ask for a whole number of bytes that the device has.',
  ],
  'device/bad-workers': ['The number of threads is not possible.', 'Give a number from 1 to 256, or leave it out.'],
  'device/closed': ['The device was closed, and something still used it.', 'Open a new device, or close it last.'],
  'device/double-free': [
    'A buffer was freed twice, or it belongs to another device.',
    'Free each buffer once, on the device that made it.',
  ],
  'device/kernarg-too-large': [
    "The kernel's argument segment is larger than the device allows.",
    'The metadata is damaged, or pass large values in a buffer.',
  ],
  'device/lds-too-large': [
    'The workgroup asks for more LDS than the target has.',
    'Use less LDS, or give less dynamic LDS with the dispatch.',
  ],
  'device/no-such-kernel': [
    'The code object has no kernel of this name.',
    '`wavesmith inspect FILE` lists the kernels.',
  ],
  'device/no-tools': ['A tool was asked for that only the virtual GPU has.', 'Use --device sim.'],
  'device/no-workers': [
    'Several threads were asked for on a device that has none.',
    'Open it with a worker host and shared memory, or leave out the number of workers.',
  ],
  'device/not-linked': [
    'The file is an object as the assembler writes it; devices load linked code objects.',
    'Link it first (asm without -c, or ld.lld -shared).',
  ],
  'device/not-loaded': [
    'The kernel belongs to another device, or its module was unloaded.',
    'Load the module on this device and get the kernel from it.',
  ],
  'device/out-of-bounds': [
    'Bytes outside a buffer were read or written by the host, or the buffer was freed.',
    "Check offset and size against the buffer's.",
  ],
  'device/out-of-memory': [
    'The host cannot give the memory that the device needs.',
    'Lift the limit on virtual memory (ulimit -v), or close other devices.',
  ],
  'device/scratch-too-large': [
    "The kernel's scratch memory for all resident waves is more than the device has.",
    'Use less scratch per lane, or smaller workgroups.',
  ],
  'device/unknown-device': ['There is no device of this kind.', "Use 'sim'."],
  'device/unsupported-target': [
    'No device runs code for this GPU.',
    'Give code for one of the supported targets; `wavesmith isa --help` lists them.',
  ],
  'device/wrong-target': [
    'The code object is for another GPU than the device.',
    'Open a device of that target (`--target`), or take the code object for this one.',
  ],
  'launch/bad-argument': [
    'A kernel argument was described in a form that is not known.',
    'Write TYPE[COUNT]=zeros|iota|random:SEED|NUMBER|@FILE.npy for a buffer, TYPE=NUMBER for a scalar.',
  ],
  'launch/bad-dimensions': [
    'A grid or workgroup size is not one to three whole numbers.',
    'Write X, X,Y or X,Y,Z, each from 1 on.',
  ],
  'launch/wrong-file': [
    'The array in the file has another type or shape than the argument.',
    'Give a file that fits, or change the type of the argument.',
  ],
  'native/bad-argument': [
    'The native addon was called with an argument of the wrong type: a bug.',
    'Please report it.',
  ],
  'native/system-call': [
    'A call of the operating system failed in the device process; the message names it.',
    'Run `wavesmith doctor`; check limits on memory, files and processes.',
  ],
  'run/bad-command': ['The stepper does not know the command or its arguments.', 'Type `help` at the prompt.'],
  'run/bad-filter': [
    'A filter of workgroups, waves or addresses is not written as it should be.',
    '`wavesmith run --help` shows the forms.',
  ],
  'run/bad-register': [
    'The name is no register.',
    'Registers: s0, s[4:7], v3, v[0:3], a0, vcc, exec, m0, scc, mode, flat_scratch, ttmp0.',
  ],
  'run/bad-value': ['The text is no value.', 'Write an integer, a hexadecimal number, or a float like 1.5.'],
  'run/no-such-place': [
    'The place is no instruction of the kernel.',
    "'wavesmith disasm --listing' shows the addresses.",
  ],
  'run/not-an-object': [
    'Several files were given, and one of them is linked already.',
    'Give one linked code object, or object files only: those are linked together.',
  ],
  'runtime/aborted': [
    'The queue was destroyed while work waited in it.',
    'Wait for completion before the queue is destroyed.',
  ],
  'runtime/bad-addon': [
    'The native addon is of another Node or another build.',
    "Delete the build folder that the message names and run 'wavesmith doctor --build-native'.",
  ],
  'runtime/bad-address': [
    'A packet or message names memory that is not live or not aligned.',
    'Check the addresses of signals, arguments and packets.',
  ],
  'runtime/bad-handle': [
    'A message names something that was released or never made.',
    'Check the order in which modules, queues and memory are released.',
  ],
  'runtime/bad-kernel-object': [
    'A dispatch packet does not name a loaded kernel.',
    'The packet is damaged, or the code object was unloaded.',
  ],
  'runtime/bad-message': [
    'What came over the socket is no message of this protocol.',
    'The peer is not a Wavesmith runtime library of this version.',
  ],
  'runtime/bad-queue': ["A queue's size is not possible.", 'Use a power of two from 1 to 1,048,576 packets.'],
  'runtime/cannot-build': [
    'Tools to build the native libraries are missing.',
    'The message names the packages to install.',
  ],
  'runtime/no-device': [
    'The device process ended before the program connected.',
    'Run `wavesmith doctor`; the status says how it ended.',
  ],
  'runtime/not-built': [
    'The native runtime libraries have not been built yet.',
    "Run 'wavesmith doctor --build-native' (it needs cmake and a C++20 compiler); in a checkout 'npm run setup'.",
  ],
  'runtime/unsupported-packet': [
    'A packet of a type was submitted that is not supported.',
    'Kernel dispatch, barrier-AND, barrier-OR and AMD barrier-value packets are.',
  ],
  'runtime/version': [
    'The program was started with libraries of another version.',
    'Its runtime libraries are of another Wavesmith version.',
  ],
  'sim/aborted': [
    'The dispatch was ended from outside, by a signal or a time limit.',
    'Nothing: the message says how far it came.',
  ],
  'sim/bad-pc': [
    'Execution left the code: a jump to a wrong address, or a kernel without s_endpgm.',
    'Look at the last jump with `wavesmith run --trace`.',
  ],
  'sim/budget': [
    'The kernel executed more instructions than allowed: often an endless loop.',
    'Raise `--max-instructions`, or look where it loops with `--step`.',
  ],
  'sim/halted': ['The wave stopped itself and nothing can start it again.', 'Remove s_sethalt, or its condition.'],
  'sim/illegal-instruction': [
    'The bytes at the program counter are no instruction of the target.',
    'Check jumps and the end of the code; data may be executed.',
  ],
  'sim/memory-fault': [
    'An access went outside of all live memory.',
    'Check buffer sizes, the grid and the kernel arguments.',
  ],
  'sim/register-range': [
    'M0 selects a register that does not exist.',
    'Check the value written to M0 before the relative move.',
  ],
  'sim/trap': [
    'The kernel executed a trap: an assertion, abort or a failed check of the compiler.',
    'Look at what leads to the s_trap with `wavesmith run --trace`.',
  ],
  'sim/unsupported-format': [
    'A typed buffer access uses a format that has no meaning.',
    'Check the format of the instruction or of the buffer descriptor.',
  ],
  'sim/unsupported-instruction': [
    'The instruction is real, and the virtual GPU does not execute it.',
    'Run the kernel on a GPU, or replace the instruction.',
  ],
  'sim/unsupported-register': ['The hardware register is not part of the virtual GPU.', 'Leave out the access.'],
  'sim/worker-lost': [
    'A worker thread of the virtual GPU ended unexpectedly, often for lack of memory.',
    'Use one worker to see where.',
  ],
  'timing/bad-chip': [
    'A chip file lacks a number, or has one without a source, an unknown one or an impossible one. The message names the field.',
    "Correct the field; a file with a 'base' needs only what differs from that chip (docs/timing.md).",
  ],
  'timing/unknown-chip': [
    'No chip of that name is known.',
    'Use a name that the message lists, or the path of a chip file that ends in .json.',
  ],
  'timing/wrong-target': [
    'The chip whose time was to be modelled runs code of another target.',
    'Choose a chip of the code object’s target, or another code object.',
  ],
};
