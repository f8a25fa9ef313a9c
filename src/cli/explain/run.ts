// Error codes of running kernels: devices, the virtual GPU, the debugger, and the device process of `wavesmith exec`.
import type { ErrorPages } from './types.ts';

export const RUN_ERRORS: ErrorPages = {
  'device/hsa': [
    'A function of the HSA runtime failed; the message says which, and what the runtime says of it.',
    "'rocminfo' shows whether the runtime works at all; what only newer runtimes can do needs ROCm 6.0.",
  ],
  'device/no-code-address': [
    'Code was asked for at a chosen address, and the driver of this GPU has no shared virtual memory, which alone is executable at chosen addresses.',
    "It needs ROCm 5.0 or later and a Linux kernel with HMM for the GPU; '--device sim' places code anywhere.",
  ],
  'device/no-gpu': [
    'The HSA runtime was loaded and finds no GPU, or fewer than the number that was asked for.',
    'Check that the amdgpu driver is loaded, that /dev/kfd may be opened (groups render and video), and ROCR_VISIBLE_DEVICES.',
  ],
  'device/no-rocm': [
    "The HSA runtime library, 'libhsa-runtime64.so.1', cannot be loaded, or lacks a function.",
    "Install ROCm's hsa-rocr or Debian's libhsa-runtime64-1; WAVESMITH_HSA names a library in another place.",
  ],
  'device/address-taken': [
    'Memory was to be mapped at an address that is in use, or that the device does not have.',
    'Choose another address.',
  ],
  'device/arguments': [
    "The values given for a kernel's arguments do not fit what its metadata lists.",
    'Give a buffer for a pointer, and bytes for a structure.',
  ],
  'device/bad-address': [
    'A program named an address that is not in an allocation of the device.',
    'Check that the memory was allocated by this device and not freed.',
  ],
  'device/bad-block': ['The workgroup has no, or too many, work-items for this kernel.', 'Pass a smaller --block.'],
  'device/bad-descriptor': [
    'The kernel descriptor contradicts the metadata, or holds impossible values.',
    'Assemble or compile the code object again.',
  ],
  'device/bad-grid': [
    'The size of the grid is not a whole number of workgroups, or is zero or too large.',
    'Give the grid in workgroups, each dimension from 1 on.',
  ],
  'device/bad-image': [
    'The segments of the code object ask for an impossible amount of memory.',
    'Give a linked code object; get a fresh copy if it is one.',
  ],
  'device/bad-mapping': [
    'A second mapping was asked for memory that was freed or never allocated.',
    'Map memory while its allocation exists.',
  ],
  'device/bad-metadata': [
    "The metadata lists arguments outside the kernel's argument segment, or impossible sizes.",
    'The code object is damaged; assemble or compile it again.',
  ],
  'device/bad-relocation': [
    'The code object refers to a symbol that neither it nor another loaded module defines.',
    'Link the object that defines the symbol; the message names it.',
  ],
  'device/bad-segment': [
    'A dispatch packet points at memory that is in no allocation of the device.',
    'Check the address of the kernel arguments and that they were not freed.',
  ],
  'device/bad-size': [
    'An allocation of no, a negative number of, or too many bytes was asked for.',
    'Ask for a whole number of bytes that the device has.',
  ],
  'device/bad-workgroup': [
    'A dispatch was to run a workgroup that is not in its grid.',
    'Name workgroups by their number, from 0 to one less than there are.',
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
  'device/unknown-device': ['There is no device of this kind.', "Use 'sim', or 'rocm' for a GPU of this machine."],
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
    'The native addon was called with an argument of the wrong type, which is a bug of Wavesmith.',
    'Please report it with the command.',
  ],
  'native/system-call': [
    'A call of the operating system failed in the device process; the message names it.',
    'Run `wavesmith doctor`; check limits on memory, files and processes.',
  ],
  'dap/bad-launch': [
    'A field of the launch configuration that the editor sent has another type than it must have.',
    '`docs/debugging.md` has a launch configuration; its fields mean what the options of `wavesmith run` mean.',
  ],
  'dap/bad-hit-condition': [
    'The hit count of a breakpoint is not a number.',
    'Write `5` or `>= 5` to stop from the fifth time on, `> 5` from the sixth.',
  ],
  'dap/not-launched': [
    'The editor asked something of the debugger before a kernel was launched, or after the launch failed.',
    'Start the debug session again; the message of the launch says what was wrong with it.',
  ],
  'dap/bad-frame': [
    'What came on standard input of `wavesmith dap` is not a message of the Debug Adapter Protocol: its header does not say how long it is, or what follows is no JSON object.',
    'Let an editor start the adapter. A client of your own sends `Content-Length: BYTES`, an empty line, and so many bytes of JSON.',
  ],
  'dap/bad-request': [
    'A request of the editor has not what the Debug Adapter Protocol says it must have, or is of a kind that this adapter does not know.',
    'Look at the capabilities that `initialize` answers, and at the arguments of the request in the protocol.',
  ],
  'dap/not-stopped': [
    'The editor asked for a step, or to go on, while nothing is stopped: the kernel runs, or has ended.',
    'Pause it first; start the debug session again when it has ended.',
  ],
  'dap/unknown-id': [
    'The editor asked for a thread or a stack frame that the debugger has not told it of, or whose id ended when the program went on.',
    'Ask for the threads and their stack traces again.',
  ],
  'run/bad-expression': [
    'An expression of the debugger is not written as it must be, or names what is not there.',
    'Write it as in C: `v3 == 7 && lane < 32`, `*f32(x + 4)`. docs/debugging.md lists what an expression may contain.',
  ],
  'run/bad-address': [
    'The debugger was asked for memory that is not allocated, or for more than is there.',
    '`info arguments` shows the buffers with their addresses and sizes.',
  ],
  'run/no-history': [
    'The debugger cannot go back: other tools observe the run and would see parts of it twice, or the memory of the dispatch is too large to keep.',
    'Leave out `--trace`, `--counters` and `--profile`, or use smaller buffers. A capture (`--capture`) holds only what the kernel touches.',
  ],
  'run/bad-command': ['The debugger does not know the command or its arguments.', 'Type `help` at the prompt.'],
  'run/bad-filter': [
    'A filter of workgroups, waves or addresses is not written as it should be.',
    '`wavesmith run --help` shows the forms.',
  ],
  'run/bad-register': [
    'The name is no register.',
    'Registers: s0, s[4:7], v3, v[0:3], a0, vcc, exec, m0, scc, mode, flat_scratch, ttmp0.',
  ],
  'run/bad-value': [
    'The text is not a value that a register can hold.',
    'Write an integer, a hexadecimal number, or a float like 1.5.',
  ],
  'run/no-such-place': [
    'The kernel has no instruction at this place.',
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
    'The native addon was built for another version of Node or of Wavesmith.',
    "Delete the build folder that the message names and run 'wavesmith doctor --build-native'.",
  ],
  'runtime/bad-address': [
    'A packet or message names memory that is in no allocation of the device, or is not aligned.',
    'Check the addresses of signals, arguments and packets.',
  ],
  'runtime/bad-handle': [
    'A message names a module, queue or allocation that was released or never made.',
    'Check the order in which modules, queues and memory are released.',
  ],
  'runtime/bad-kernel-object': [
    'A dispatch packet does not name a loaded kernel.',
    'Check that the code object stays loaded until its dispatches have ended; else the packet is damaged.',
  ],
  'runtime/bad-message': [
    'Bytes on the socket are no message of the protocol between program and device process.',
    'Use the runtime libraries and the device process of one Wavesmith version.',
  ],
  'runtime/bad-queue': ['The size of a queue is not possible.', 'Use a power of two from 1 to 1,048,576 packets.'],
  'runtime/cannot-build': [
    'Tools to build the native libraries are missing.',
    'Install the packages that the message names.',
  ],
  'runtime/host-memory': [
    'Programs wrote more device memory than this machine has. The virtual GPU keeps what is written in memory of the host.',
    'Use smaller arrays. Memory that nothing wrote takes none, nor do zeros of hipMemset (256 MiB and more).',
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
    'The program submitted an AQL packet of a type that is not supported.',
    'Use kernel dispatch, barrier-AND, barrier-OR or AMD barrier-value packets.',
  ],
  'runtime/version': [
    'The program was started with runtime libraries of another Wavesmith version.',
    'Run `wavesmith doctor --build-native`, then start the program again with `wavesmith exec`.',
  ],
  'sim/aborted': [
    'The dispatch was ended from outside, by a signal or a time limit.',
    'Nothing has to be done: the message says how far the dispatch came.',
  ],
  'sim/bad-pc': [
    'Execution left the code: a jump to a wrong address, or a kernel without s_endpgm.',
    'Look at the last jump with `wavesmith run --trace`.',
  ],
  'rocm/budget': [
    'A kernel on a GPU ran longer than its budget. A GPU does not count instructions: each stands for a microsecond.',
    'Raise --budget, or look for a loop that does not end: the virtual GPU shows where it is.',
  ],
  'rocm/instruction': [
    'A kernel on a GPU reached a word that is no instruction.',
    'Run it with --device sim, which names the place; a branch may lead outside of the code.',
  ],
  'rocm/memory-fault': [
    'A kernel on a GPU accessed memory that is not mapped. The GPU tells the page, not the instruction.',
    'Run it with --device sim, which names the instruction, the lane and the nearest allocation.',
  ],
  'rocm/trap': [
    'A kernel on a GPU executed s_trap, or raised a hardware exception.',
    'Run it with --device sim, which names the place; compilers put s_trap where an assertion failed.',
  ],
  'selftest/failed': [
    'The device does something else than the virtual GPU. The line says what.',
    'Attach the report (-o FILE.json) to an issue.',
  ],
  'sim/budget': [
    'The kernel executed more instructions than allowed: often an endless loop.',
    'Raise `--budget`, or look where it loops with `--break` or `--trace-limit`.',
  ],
  'sim/grid-barrier': [
    'Some workgroups of the grid wait at its barrier (ds_gws_barrier), and the others can never come: they have ended, or do not fit beside them.',
    'Launch with hipLaunchCooperativeKernel, which checks the size, and let every workgroup come to the barrier.',
  ],
  'sim/halted': ['The wave executed s_sethalt, and nothing can start it again.', 'Remove s_sethalt, or its condition.'],
  'sim/illegal-instruction': [
    'The bytes at the program counter are not an instruction of the target.',
    'Check jumps and the end of the code; data may be executed.',
  ],
  'sim/memory-fault': [
    'The kernel accessed an address outside every allocation.',
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
    'A typed buffer access uses a data format that the manual does not define.',
    'Check the format of the instruction or of the buffer descriptor.',
  ],
  'sim/unsupported-instruction': [
    'The target has this instruction, and the virtual GPU does not execute it.',
    'Run the kernel on a GPU, or replace the instruction.',
  ],
  'sim/unsupported-register': [
    'The virtual GPU does not have this hardware register.',
    'Remove the access, or run the kernel on a GPU.',
  ],
  'sim/worker-lost': [
    'A worker thread of the virtual GPU ended unexpectedly, often for lack of memory.',
    'Give `--workers 1` to see where it ends, or lift the limit on memory.',
  ],
  'timing/bad-chip': [
    'A chip file lacks a number, or has one without a source, an unknown one or an impossible one. The message names the field.',
    "Correct the field; a file with a 'base' needs only what differs from that chip (docs/timing.md).",
  ],
  'timing/no-code': [
    'There is nothing to analyse: the text does not assemble, its marks do not match, or no instruction lies where it was asked for.',
    'Mark a piece with LLVM-MCA-BEGIN and LLVM-MCA-END, or choose one with --kernel or --from and --to.',
  ],
  'timing/too-many-waves': [
    'A workgroup has more waves than a compute unit of the chip holds, or mca was asked for more than a SIMD holds.',
    'Choose a smaller workgroup, fewer waves or another chip; registers and LDS often allow fewer still (wavesmith inspect).',
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
