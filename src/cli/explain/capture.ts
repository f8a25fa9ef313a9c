// Error codes of captures and their replay.
import type { ErrorPages } from './types.ts';

export const CAPTURE_ERRORS: ErrorPages = {
  'capture/bad-annotation': [
    'A description of a buffer is not of the form PLACE=TYPE[SHAPE], or names no captured memory.',
    "Name an argument or an address that 'wavesmith capture info' lists; the shape must fit into the allocation.",
  ],
  'capture/bad-import': [
    'The folder is no capture of rocm-perf-lab or kerncap and no .hrr archive, or its files contradict each other.',
    'Give the folder that holds dispatch.json, memory_regions.json and kernel.hsaco, or the one that holds events.bin.',
  ],
  'capture/bad-manifest': [
    'The manifest or trailer of a capture contradicts itself, or is not what the format says.',
    'The capture is damaged or was changed; record it again.',
  ],
  'capture/bad-path': [
    'The archive holds an entry that no capture has, such as a path that leads out of its folder. Nothing of it was read.',
    'Ask whoever gave you the archive; do not unpack it.',
  ],
  'capture/damaged': [
    'A part of the capture does not have the content that its SHA-256 says.',
    'The capture was changed or damaged after it was written; record it again, or copy it again.',
  ],
  'capture/exists': [
    'There is something at the path already, and nothing is replaced unasked.',
    'Remove it, choose another name, or pass --force. --force replaces captures only.',
  ],
  'capture/incomplete': [
    'The recording of the capture was interrupted, or a part of it was lost: the message says what is missing.',
    "Record it again. 'wavesmith capture info' shows what there is.",
  ],
  'capture/no-allocation': [
    'Memory was given to a capture at an address where it has no allocation.',
    'List the allocation in the description that the writer is created with.',
  ],
  'capture/no-arguments': [
    'The capture does not hold the kernarg segment, so its dispatch has no arguments.',
    'Record it again.',
  ],
  'capture/needs-virtual-gpu': [
    'A capture of what a dispatch touches was asked for on a device that does not follow bytes.',
    "On a GPU use --memory reachable or --memory full; 'wavesmith capture slim' then keeps what the dispatch touches.",
  ],
  'capture/no-dispatch': [
    'The program ended, and none of its dispatches matched --kernel and --dispatch.',
    'The hint lists the kernels that it dispatched and how often; --dispatch counts from 0 among those that match.',
  ],
  'capture/not-a-capture': [
    'The path is neither a folder nor a ZIP file.',
    "'wavesmith run … --capture X.wscap' makes a capture.",
  ],
  'capture/not-complete': [
    'Run again from the capture, the dispatch touches memory that the capture does not hold, or ends in another way than it did.',
    'The kernel depends on time, or on memory that nobody wrote: run it with --check. --no-proof records it all the same.',
  ],
  'capture/nothing': [
    'A recording was to be written, but no dispatch ran with its monitor.',
    'Give the monitor of the recorder to the dispatch, alone, and let it complete.',
  ],
  'capture/too-much-memory': [
    'The dispatch touches more memory than a capture holds: 4 GiB, and at most a tenth of what this machine has. Chunks of 64 KiB are counted, and one touched byte is enough.',
    'Capture a dispatch of a smaller problem, or one that touches less. The program ran on as it would without being captured.',
  ],
  'capture/version': [
    'The capture was written by a newer version of the format, or needs a section that this version does not know.',
    'Use a newer Wavesmith.',
  ],
  'capture/waits-for-others': [
    'The dispatch waits for what the program, or another dispatch, does while it runs. A replay has one dispatch, and nobody who does that.',
    'The program ran on as it would without being captured. Capture other dispatches, or a version of the kernel that does not wait.',
  ],
  'replay/assembly': ['The text given with --code does not assemble.', "'wavesmith asm FILE' shows all messages."],
  'replay/iteration': [
    'A later iteration of a replay faulted although the first one did not.',
    'With --no-recopy the kernel runs on what it left in memory; leave that option out.',
  ],
  'replay/relocated': [
    'The device put something at another address than the captured one. A replay never goes on then. Code may be elsewhere on a GPU that cannot choose its place, unless captured memory points into it.',
    "'wavesmith replay reserve-check' names what is in the way; '--device sim' places code anywhere.",
  ],
};
