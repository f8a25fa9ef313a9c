// Error codes of `wavesmith evaluate` and `wavesmith optimize`, and of their ledger.
import type { ErrorPages } from './types.ts';

export const OPTIMIZE_ERRORS: ErrorPages = {
  'evaluate/assembly': [
    'The candidate is assembler text, or a patched text, that does not assemble.',
    "'wavesmith asm FILE' shows all errors. A patched text can be made with 'wavesmith disasm BASELINE' and 'patch'.",
  ],
  'evaluate/baseline': [
    'The captured kernel fails when it runs again on its own capture, so there is nothing to judge a candidate by.',
    "'wavesmith capture verify X.wscap' says what is wrong. Record the capture again.",
  ],
  'evaluate/no-result': [
    'The capture was imported and holds no memory after the dispatch.',
    "'wavesmith capture slim X.wscap' runs the dispatch on the virtual GPU and stores its result.",
  ],
  'evaluate/patch': [
    'A patch does not apply to the text of the baseline, or is no unified diff of one file.',
    "Make it anew from what 'wavesmith disasm BASELINE' prints: 'diff -u before.s after.s'.",
  ],
  'ledger/busy': [
    'Another process that still runs has the ledger open.',
    'Wait until it ends, or name another file with --ledger.',
  ],
  'ledger/damaged': [
    'The file is no SQLite database, was damaged, or was made by another version of Wavesmith.',
    'Name another file with --ledger. Nothing was changed in this one.',
  ],
  'optimize/stopped': [
    'A candidate was asked for when the search had been stopped.',
    'Run the command again; with --ledger it goes on.',
  ],
  'queue/lost': [
    'Redis or Valkey cannot be reached, or has not answered for ten seconds, or refuses the password.',
    'Start it, or mend the address. With --ledger the same command goes on: what was evaluated is kept.',
  ],
  'queue/no-blob': [
    'A worker found no candidate or capture of the name that a task gives, or its content is not what the name says.',
    'Give submitter and workers the same folder with --blobs, or let workers reach the submitter with --blob-host.',
  ],
  'queue/no-server': [
    'A port of this machine is taken, or the address is none of it.',
    'Choose another port, or the address of a network card of this machine.',
  ],
  'queue/not-installed': [
    'Queues and their dashboard need packages that are optional.',
    'Install them: bullmq and ioredis; for the dashboard hono, @hono/node-server and the packages of @bull-board.',
  ],
  'queue/poison': [
    'Whoever took a task died of it, three times.',
    'Give workers more memory. When it happens again, report the candidate: no kernel may end a worker.',
  ],
  'queue/unprotected': [
    'A queue of another machine has no password, so everybody there could give work to the workers.',
    'Give the address a user and a password, or say --allow-unprotected-queue in a network that you trust.',
  ],
  'tune/bad-space': [
    'A tune.yaml lacks a command, a model or a parameter, or a constraint or the first configuration makes no sense.',
    'The message says where. docs/optimize.md, "Configurations", has an example.',
  ],
  'tune/compile': [
    'The model of a tune.yaml does not compile before anything is changed: without the specification, and with the flags that hold no value.',
    "Run iree-compile by itself with the flags that the hint has; 'wavesmith doctor' says which one is used.",
  ],
  'tune/bad-module': [
    'The function of a model that is to be tuned cannot be run, dispatches nothing or too much, or it is not clear which one is meant.',
    "The message has the words of iree-run-module. 'function:' names one, 'inputs:' gives what it takes, 'weights:' its parameter archives.",
  ],
  'evaluate/not-measured': [
    'Times were asked for of a device that has no clock, or on which one of the two kernels fails.',
    "Measure on a GPU (--measure), or with --queue by a worker that was started with --target rocm. 'wavesmith selftest' says whether the GPU works.",
  ],
  'model/failed': [
    'A row of a ledger: the provider of a language model refused, failed, or answered nonsense, and the talk ended.',
    'The message has its words. The same command with the same ledger goes on, and asks for nothing twice.',
  ],
  'optimize/output-varies': [
    'A row of a ledger: the program prints something else in every run, so what it prints was not compared.',
    'Print what does not depend on time or order. The memory of the captured dispatch is compared all the same.',
  ],
  'model/insecure': [
    'A language model was asked for at an address that is neither encrypted nor on this machine.',
    'Give an address that begins with https, or run the server on this machine.',
  ],
  'model/no-key': [
    'The provider of a language model wants a key, and the environment holds none.',
    'Set ANTHROPIC_API_KEY or OPENAI_API_KEY for this command. Keys are taken from nowhere else, and kept nowhere.',
  ],
  'model/recording': [
    'The file after replay: is no conversation that was recorded with --record.',
    "Record one with 'wavesmith optimize … --provider NAME --record FILE'.",
  ],
  'model/upload-not-allowed': [
    'A language model works with the text of the kernel, which would leave this machine.',
    'Name the host with --allow-upload when you may send it there. A server on this machine needs no permission.',
  ],
  'optimize/build': [
    'The project does not build before anything was changed, or its compiler cannot preprocess the source.',
    'Run the command of --build in the folder of --project. The copy that is built lies elsewhere: absolute paths into the folder still lead to it.',
  ],
  'optimize/copy': [
    'A HIP project is copied before it is built, and the copy cannot be made: the disk is full, or a file cannot be read.',
    'Make room where temporary files are kept, or name another place with TMPDIR. The folder itself was not touched.',
  ],
  'optimize/configured': [
    'cmake or meson configured the project in its own folder, so every build of a copy would write into that folder.',
    'Remove CMakeCache.txt and CMakeFiles, and let --build configure in a folder of its own: cmake -B build . && cmake --build build.',
  ],
  'optimize/no-compiler': [
    'The build did not call a compiler by its name for the source, so its flags are not known.',
    'Let the build find hipcc, clang++ or clang on PATH, and name the file that it compiles with --source.',
  ],
  'optimize/no-kernel': [
    'The kernel that takes most of the time is not in the file that --source names.',
    'Name the file of that kernel, or choose another kernel with --kernel.',
  ],
  'optimize/run': [
    'The program dispatched no kernel that could be recorded, or failed before it did.',
    "Run it by itself: 'wavesmith capture -- PROGRAM' says more. --kernel must match the mangled name.",
  ],
  'optimize/too-large': [
    'A HIP project is copied before it is built, and the folder is larger than 2 GiB.',
    'Name a smaller folder with --project: that of the program, without data.',
  ],
  'mcp/outside': [
    'A tool of the MCP server was asked for a file that is not below the folder that the server was started for.',
    "Move the file there, or start the server with '--root DIR' for a folder that holds all files of the work.",
  ],
};
