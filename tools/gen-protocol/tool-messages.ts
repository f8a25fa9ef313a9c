// What the tools library (native/tool) and Wavesmith say to each other: the one source of src/runtime/generated/tool-messages.ts and
// native/common/tool_protocol.h (`node scripts/run-ts.mjs tools/gen-protocol/main.ts`).
import {
  bytes,
  type Constant,
  constant,
  type Enumeration,
  enumeration,
  fromDevice,
  fromProgram,
  type Protocol,
  place,
  type Struct,
  text,
  u32,
  u64,
} from './schema.ts';

const WHO_WAITS = [
  'The program connects and greets. It asks about every code object that it has loaded, and waits for the answer.',
  'The answer names kernels and what is to be done with their dispatches; it may carry a code object that replaces some of them.',
  'A dispatch that is isolated stops the program: it asks, before it runs, whose memory it is to send.',
  'Everything else the program tells without waiting.',
  'Memory of a replacement that a plan names is told while the program runs, when it has waited for kernels, and before the memory ends.',
  'Bytes of a connection that ends between IsolatedBegin and IsolatedEnd are an incomplete record.',
] as const;

const CONSTANTS: readonly Constant[] = [
  constant(
    'TOOL_SOCKET_VARIABLE',
    'WAVESMITH_TOOL_SOCKET',
    'Environment of the program: where Wavesmith listens for the tools library.',
  ),
  constant('TOOL_PROTOCOL_VERSION', 3, 'Of this file: both sides must have the same.'),
  constant(
    'CHUNK_BYTES',
    65536,
    'Memory is copied and sent in chunks of this size, counted from the start of its allocation.',
  ),
];

const ENUMERATIONS: readonly Enumeration[] = [
  enumeration(
    'ToolMessage',
    'What a message is. From 100 on Wavesmith sends it, below the program; 100 and 101 are as in `wavesmith exec`.',
    [
      ['Hello', 1, 'ToolHello → ToolWelcome'],
      ['CodeLoaded', 2, 'CodeObject → CodePlan, then `kernels` times KernelRule, then `patches` times Patch'],
      ['CodeUnloaded', 3, 'CodeHandle. No answer'],
      ['CodeReplaced', 4, 'Replacement: what became of a CodePlan with code. No answer'],
      ['Dispatch', 5, 'DispatchRecord. No answer'],
      ['IsolatedBegin', 6, 'IsolatedDispatch, then `allocations` times AllocationRecord → IsolationScope'],
      ['Memory', 7, 'MemoryChunk. No answer'],
      ['IsolatedEnd', 8, 'IsolatedResult. No answer'],
      ['Note', 9, 'NoteRecord. No answer'],
      ['Watched', 10, 'WatchedChunk. No answer'],
      ['WatchedEnd', 11, 'CodeHandle: everything of its watched memory was told. No answer'],
    ],
  ),
  enumeration('RuleFlag', 'What is done with dispatches of a kernel; a sum.', [
    ['Report', 1, 'every dispatch is told, not only the first of each shape'],
    ['Isolate', 2, 'memory before and after chosen dispatches is sent'],
    ['Replace', 4, 'dispatches run the replacement'],
    ['Compare', 8, 'with Isolate and Replace: the original runs first on the same memory, which is then put back'],
    ['Choose', 16, 'with Replace: only chosen dispatches run the replacement'],
  ]),
  enumeration(
    'PatchKind',
    'How a Patch is computed from the address S that it names and the address P where it is written.',
    [
      ['Rel32Low', 1, 'low half of S − P'],
      ['Rel32High', 2, 'high half of S − P'],
      ['Abs64', 3, 'S'],
      ['Abs32Low', 4, 'low half of S'],
      ['Abs32High', 5, 'high half of S'],
    ],
  ),
  enumeration('MemoryKind', 'What an allocation is.', [
    ['Coarse', 1, 'device memory, coarse grained'],
    ['Fine', 2, 'device memory, fine grained'],
    ['Host', 3, 'host memory that the runtime allocated'],
    ['Kernarg', 4, 'of a pool for kernel arguments'],
    ['Locked', 5, 'memory of the program that it made accessible'],
    ['Virtual', 6, 'mapped into reserved addresses'],
    ['Module', 7, 'a loaded code object with its variables'],
  ]),
  enumeration('MemoryScope', 'Whose contents are sent before and after an isolated dispatch.', [
    ['None', 0, 'nothing: whoever runs the dispatch records what it touches'],
    ['Reachable', 1, 'of memory that a pointer leads to from the arguments, the code object, or such memory'],
    ['All', 2, 'all live memory'],
  ]),
  enumeration('Phase', 'When memory was read.', [
    ['Before', 0, 'before the dispatch'],
    ['After', 1, 'after it'],
    ['Original', 2, 'after the original, of a compared dispatch'],
  ]),
  enumeration('IsolatedStatus', 'How an isolated dispatch ended.', [
    ['Done', 0],
    ['OriginalFailed', 1, 'the queue stopped while the original ran'],
    ['Failed', 2, 'the queue stopped while it ran'],
    ['NotIsolated', 3, 'it ran with the others: a note says why'],
  ]),
];

const STRUCTS: readonly Struct[] = [
  fromProgram('ToolHello', 'The first message.', [
    u32('version'),
    u32('pid'),
    text('program', 'path of the executable'),
  ]),
  fromDevice(
    'ToolWelcome',
    'Which dispatches of the kernels with Isolate or Choose are chosen, counted over all of them from 0.',
    [
      u32('version'),
      u32('reserved'),
      u64('first'),
      u64('last', 'inclusive'),
      u64('step', 'from 1'),
      u64('limit', 'bytes of memory to send above which a dispatch is not isolated'),
    ],
  ),
  fromProgram('CodeObject', 'A code object that was loaded.', [
    u64('code', 'handle of it for the messages about it'),
    place('load_base'),
    place('load_size'),
    place('delta', 'load address of virtual address 0 of the file'),
    text('uri'),
    bytes('bytes', 'the file'),
  ]),
  fromDevice('CodePlan', 'What to do about a loaded code object.', [
    u32('kernels'),
    u32('patches'),
    place('watched', 'virtual address in the replacement of memory whose content is told'),
    place('watched_size', 'bytes of it; 0 for none'),
    bytes('code', 'the replacement; empty for none'),
  ]),
  fromDevice('KernelRule', 'What to do with dispatches of one kernel.', [
    place('kernel_object', 'address of its descriptor'),
    place('replacement', 'virtual address of the descriptor in the replacement'),
    u32('flags', 'RuleFlag'),
    u32('private_segment', 'of the replacement'),
    u32('group_segment', 'static LDS of the kernel'),
    u32('replacement_group', 'static LDS of the replacement'),
    u32('kernarg_size', 'of the kernel'),
    u32('reserved'),
  ]),
  fromDevice('Patch', 'A reference of the replacement to memory of the original. It is written after loading.', [
    place('place', 'virtual address in the replacement'),
    place('target', 'address in memory, addend included'),
    u32('kind', 'PatchKind'),
    u32('reserved'),
  ]),
  fromProgram('CodeHandle', 'Names a code object.', [u64('code')]),
  fromProgram('Replacement', 'The outcome of loading a replacement.', [
    u64('code', 'what it replaces'),
    place('delta', 'load address of its virtual address 0'),
    u32('status', 'hsa_status_t; 0 when it is in place'),
    u32('reserved'),
    text('why', 'what failed'),
  ]),
  fromProgram('DispatchRecord', 'A dispatch that was submitted.', [
    u64('sequence', 'of all dispatches of the process, from 0'),
    u64('queue', 'its identifier'),
    place('kernel_object', 'of the packet as the program wrote it'),
    u32('grid_x', 'work-items'),
    u32('grid_y'),
    u32('grid_z'),
    u32('block_x'),
    u32('block_y'),
    u32('block_z'),
    u32('private_segment'),
    u32('group_segment'),
    u32('header', 'first 32 bits of the packet'),
    u32('replaced', '1 when the replacement runs'),
  ]),
  fromProgram('IsolatedDispatch', 'A chosen dispatch, while nothing else runs.', [
    u64('sequence'),
    u64('index', 'among the dispatches of kernels with Isolate or Choose'),
    u64('code', 'code object of the kernel'),
    place('queue', 'address of its hsa_queue_t'),
    u32('allocations'),
    u32('is_compared', '1 when the original runs first'),
    bytes('packet', 'the 64 bytes as the program wrote them'),
    bytes('kernarg', 'the arguments as they were before it'),
  ]),
  fromDevice('IsolationScope', 'What to send of an isolated dispatch. The dispatch runs after it.', [
    u32('scope', 'MemoryScope'),
    u32('reserved'),
  ]),
  fromProgram('AllocationRecord', 'Live memory.', [
    u64('id', 'of the process, never used twice'),
    place('address'),
    place('size'),
    u32('kind', 'MemoryKind'),
    u32('flags', "HSA's flags of the memory pool"),
    text('origin', 'the call that made it'),
  ]),
  fromProgram(
    'MemoryChunk',
    'Bytes of an allocation. Before: its first chunk, and all others that are not zero. After and Original: all that changed.',
    [u64('sequence'), u64('allocation'), place('offset'), u32('phase', 'Phase'), u32('reserved'), bytes('bytes')],
  ),
  fromProgram('WatchedChunk', 'Bytes of watched memory that changed; it begins as zeros.', [
    u64('code', 'whose replacement has the memory'),
    place('offset'),
    bytes('bytes'),
  ]),
  fromProgram('IsolatedResult', 'The end of a chosen dispatch.', [
    u64('sequence'),
    u64('nanoseconds', 'of the dispatch; 0 when not known'),
    u32('status', 'IsolatedStatus'),
    u32('reserved'),
  ]),
  fromProgram('NoteRecord', 'What could not be seen, or was not done, and why.', [
    u64('sequence', 'of the dispatch it is about; all ones for none'),
    text('code', 'a word for programs'),
    text('text'),
  ]),
];

export const TOOL_PROTOCOL: Protocol = {
  says: 'The messages between the tools library (native/tool) in a program and Wavesmith.',
  whoWaits: WHO_WAITS,
  source: 'tool-messages.ts',
  typescript: 'src/runtime/generated/tool-messages.ts',
  cpp: 'native/common/tool_protocol.h',
  namespace: 'wavesmith::tool',
  constants: CONSTANTS,
  enumerations: ENUMERATIONS,
  structs: STRUCTS,
};
