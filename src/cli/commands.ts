// The command registry: name, one-line summary, lazy module. Each module exports `run(argv)` and owns its flags.

export interface CommandModule {
  /** Runs with the arguments after the command's name; resolves to the exit code. */
  run(argv: string[]): Promise<number>;
}

interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  inspect: {
    summary: 'show containers, code objects, kernels, resources and occupancy',
    load: () => import('./inspect.ts'),
  },
  extract: { summary: 'write every embedded code object to a file', load: () => import('./extract.ts') },
  disasm: { summary: 'code object to text that assembles to the same bytes', load: () => import('./disasm.ts') },
  mc: { summary: 'drop-in for llvm-mc on AMDGPU assembly', load: () => import('./mc.ts') },
  mca: { summary: 'how long the turns of loops take, without running them', load: () => import('./mca.ts') },
  isa: { summary: 'explain an instruction', load: () => import('./isa.ts') },
  explain: { summary: 'say what causes an error and what to do next', load: () => import('./explain.ts') },
  diff: { summary: 'compare two code objects kernel by kernel', load: () => import('./diff.ts') },
  asm: { summary: 'assemble AMDGPU assembly to a code object', load: () => import('./asm.ts') },
  check: { summary: 'find what is wrong with a kernel before it runs', load: () => import('./check.ts') },
  prove: { summary: 'whether an edited kernel is still the same function', load: () => import('./prove.ts') },
  lsp: { summary: 'language server for editors: diagnostics, hover, completion', load: () => import('./lsp.ts') },
  run: { summary: 'run one kernel on the virtual GPU', load: () => import('./run.ts') },
  dap: { summary: 'debug adapter for editors: breakpoints, steps forwards and back', load: () => import('./dap.ts') },
  probe: { summary: 'put a probe into kernels: counts, addresses, values', load: () => import('./probe.ts') },
  exec: { summary: 'run a HIP or HSA program with the virtual GPU as its GPU', load: () => import('./exec.ts') },
  capture: {
    summary: 'captured dispatches: info, verify, slim, diff, import, export, annotate',
    load: () => import('./capture.ts'),
  },
  replay: { summary: 'run a captured dispatch again at its addresses and compare', load: () => import('./replay.ts') },
  evaluate: {
    summary: 'judge a candidate kernel: is it right, and is it faster?',
    load: () => import('./evaluate.ts'),
  },
  optimize: {
    summary: 'make a captured kernel faster, every step proved or tested exactly',
    load: () => import('./optimize.ts'),
  },
  worker: {
    summary: 'evaluate candidates for optimize --queue, on as many machines as there are',
    load: () => import('./worker.ts'),
  },
  mcp: {
    summary: 'the same verbs as tools for agents (Model Context Protocol)',
    load: () => import('./mcp.ts'),
  },
  selftest: { summary: 'test whether a GPU does what the virtual GPU does', load: () => import('./selftest.ts') },
  doctor: { summary: 'show what this machine has and what will be used', load: () => import('./doctor.ts') },
  hijack: {
    summary: 'edit the machine code inside an IREE module, prove it, compare',
    load: () => import('./hijack.ts'),
  },
  rocmlir: { summary: 'IREE as kernel generator for rocMLIR modules', load: () => import('./rocmlir.ts') },
  profile: {
    summary: 'roofline, critical path and bottlenecks from profiler output',
    load: () => import('./profile.ts'),
  },
  trace: { summary: 'list the instructions of a thread trace with cycles', load: () => import('./trace.ts') },
};
