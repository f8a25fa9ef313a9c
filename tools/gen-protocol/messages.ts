// What a program's runtime libraries and the device process say to each other: the one source of src/runtime/generated/messages.ts and
// native/common/protocol.h (`node scripts/run-ts.mjs tools/gen-protocol/main.ts`).
import {
  type Constant,
  type Enumeration,
  i64,
  type Protocol,
  place,
  rest,
  type Struct,
  text,
  u32,
  u64,
} from './schema.ts';

const WHO_WAITS = [
  'The program connects and greets, and the device answers with its facts; the program then maps the memory that both share.',
  'Every request has an id, and the program waits for the reply or error with that id; the device waits for nobody to answer.',
  'Kernels are not sent: the program writes packets into a queue in shared memory and sends a doorbell, which has no answer.',
  'The program waits for kernels by sleeping on the futex of a signal; the device changes the signal and wakes the futex.',
  'A queue of the device waits for signals by counting itself in `device_waits`; a program that changes such a signal sends a kick.',
] as const;

const CONSTANTS: readonly Constant[] = [
  {
    name: 'SOCKET_VARIABLE',
    value: 'WAVESMITH_SOCKET',
    says: "Environment of the program: the device process's socket.",
  },
  {
    name: 'FRESH_VARIABLE',
    value: 'WAVESMITH_FRESH_MEMORY',
    says: 'Environment of the program, 1: memory pools give freed memory back, so that every allocation is one of the device.',
  },
  { name: 'PROTOCOL_VERSION', value: 3, says: 'Of this file: both sides must have the same.' },
  {
    name: 'MAX_PAYLOAD',
    value: 2 ** 28,
    says: 'Longest payload either side accepts; a code object is the largest thing sent.',
  },
];

const ENUMERATIONS: readonly Enumeration[] = [
  {
    name: 'MessageType',
    says: 'What a message is. From 100 on the device sends it, below the program.',
    values: [
      ['Hello', 1, 'HelloRequest → HelloReply'],
      ['Allocate', 2, 'AllocateRequest → AddressReply'],
      ['Free', 3, 'AddressRequest → empty'],
      ['Load', 4, 'ELF bytes → LoadReply, then `count` times SymbolRecord'],
      ['Unload', 5, 'HandleRequest (module) → empty'],
      ['QueueCreate', 6, 'QueueRequest → HandleReply'],
      ['QueueDestroy', 7, 'HandleRequest (queue) → empty'],
      ['Doorbell', 8, 'HandleRequest (queue): packets were written. No answer'],
      ['Kick', 9, 'Empty: a signal whose `device_waits` is not 0 was changed by the program. No answer'],
      [
        'Adopt',
        10,
        'AdoptRequest: pages of the program become device memory at their own address → AddressReply: byte offset in the memfd',
      ],
      ['Disown', 11, 'AddressRequest → empty'],
      ['Map', 12, 'MapRequest: an allocation, or part of it, a second time at a fixed address → empty'],
      ['Unmap', 13, 'AddressRequest → empty'],
      ['Reply', 100, 'The answer of the request with the same id'],
      ['Error', 101, 'ErrorReply of the request with the same id'],
      ['Fault', 102, 'FaultEvent: a queue is in error, its packets will not run'],
    ],
  },
  {
    name: 'ErrorCode',
    says: 'Why a request was refused.',
    values: [
      ['BadMessage', 1],
      ['OutOfMemory', 2],
      ['BadAddress', 3],
      ['WrongTarget', 4, 'The text names the target of the code object'],
      ['BadCodeObject', 5],
      ['Unsupported', 6],
      ['Busy', 7],
    ],
  },
  {
    name: 'FaultKind',
    says: 'What stopped a queue.',
    values: [
      ['Memory', 1],
      ['IllegalInstruction', 2],
      ['Trap', 3],
      ['Budget', 4],
      ['Strict', 5],
      ['Other', 6],
    ],
  },
];

const STRUCTS: readonly Struct[] = [
  {
    name: 'MessageHeader',
    says: 'Before every payload.',
    fields: [u32('size', 'of the payload'), u32('type'), u64('id')],
  },
  {
    name: 'HelloRequest',
    sender: 'program',
    says: 'The first message of a program.',
    fields: [u32('version'), u32('pid')],
  },
  {
    name: 'HelloReply',
    sender: 'device',
    says: 'What a new program is told.',
    fields: [
      u32('version'),
      u32('device_pid'),
      u32('memory_descriptor', 'in the device process: open /proc/<device_pid>/fd/<memory_descriptor>'),
      u32('compute_units'),
      place('window_address', 'where byte 0 of the memfd is mapped in every process; GPU pointers are host pointers'),
      place('window_size'),
      u32('wavefront_size'),
      u32('max_workgroup_size'),
      u32('lds_bytes', 'of one workgroup'),
      u32('clock_khz', 'of s_memrealtime and of kernel times'),
      text('target', 'gfx942'),
      text('name', 'of the board'),
    ],
  },
  {
    name: 'AllocateRequest',
    sender: 'program',
    says: 'Memory of the device.',
    fields: [
      place('size'),
      place('alignment', 'power of two, at most 2 MiB'),
      place('address', '0, or the fixed address asked for'),
      place('is_data', "1: device memory that the program asked for; 0: the libraries' own"),
    ],
  },
  {
    name: 'AddressRequest',
    sender: 'program',
    says: 'Names what begins at an address.',
    fields: [place('address')],
  },
  { name: 'AddressReply', sender: 'device', says: 'Where something is.', fields: [place('address')] },
  { name: 'HandleRequest', sender: 'program', says: 'Names a module or queue.', fields: [u64('handle')] },
  { name: 'HandleReply', sender: 'device', says: 'A new queue.', fields: [u64('handle')] },
  {
    name: 'LoadReply',
    sender: 'device',
    says: 'A loaded code object; `count` times SymbolRecord follows.',
    fields: [u64('module'), place('load_address'), place('load_size'), u32('count'), u32('reserved')],
  },
  {
    name: 'SymbolRecord',
    sender: 'device',
    says: 'A symbol of a loaded code object.',
    fields: [
      u32('kind', '0 variable, 1 kernel'),
      u32('kernarg_size', 'kernels'),
      u32('kernarg_alignment'),
      u32('group_segment', 'static LDS bytes'),
      u32('private_segment', 'scratch bytes per work-item'),
      u32('dynamic_stack', '0 or 1'),
      place(
        'address',
        'kernel: of the kernel descriptor, which is the `kernel_object` of AQL packets; variable: of its bytes',
      ),
      place('size', 'variable: bytes'),
      text('name'),
    ],
  },
  {
    name: 'QueueRequest',
    sender: 'program',
    says: 'A queue in shared memory.',
    fields: [
      place('ring', 'address of the AQL packets'),
      place('write_index', 'address of the u64 write index'),
      place('read_index', 'address of the u64 read index'),
      u32('packets', 'power of two'),
      u32('reserved'),
    ],
  },
  {
    name: 'AdoptRequest',
    sender: 'program',
    says: 'Pages of the program.',
    fields: [place('address', 'page aligned, in the program'), place('size', 'whole pages')],
  },
  {
    name: 'MapRequest',
    sender: 'program',
    says: 'A second place of an allocation.',
    fields: [
      place('address', 'page aligned, outside the window'),
      place('size'),
      place('source', 'address in an allocation'),
      u64('access', '1 read, 2 write, 3 both'),
    ],
  },
  {
    name: 'ErrorReply',
    sender: 'device',
    says: 'A refused request.',
    fields: [u32('code', 'ErrorCode'), rest('text')],
  },
  {
    name: 'FaultEvent',
    sender: 'device',
    says: 'A queue stopped.',
    fields: [
      u64('queue'),
      u32('kind', 'FaultKind'),
      u32('reserved'),
      place('address', 'a memory fault: the address; otherwise 0'),
      rest('text'),
    ],
  },
  {
    name: 'Signal',
    says: "A signal; the handle of hsa_signal_t is its address. The first fields are those of ROCr's amd_signal_t.",
    shared: { alignment: 64, size: 64 },
    fields: [
      i64('kind', '1 user'),
      i64('value'),
      u64('event_mailbox'),
      u32('event_id'),
      u32('device_waits', 'how many waits of the device name it; the device alone writes it'),
      u64('start_ticks', 'of the dispatch that completed it, in ticks of `clock_khz`'),
      u64('end_ticks'),
      u32('sleepers', 'processes sleeping on `futex`: who changes the value then wakes them'),
      u32('futex', 'counts changes'),
      u64('owner', "private to the program's runtime"),
    ],
  },
];

export const EXEC_PROTOCOL: Protocol = {
  says: "The messages between a program's runtime libraries and the device process (`wavesmith exec`), and what both have in shared memory.",
  whoWaits: WHO_WAITS,
  source: 'messages.ts',
  typescript: 'src/runtime/generated/messages.ts',
  cpp: 'native/common/protocol.h',
  namespace: 'wavesmith',
  constants: CONSTANTS,
  enumerations: ENUMERATIONS,
  structs: STRUCTS,
};
