// gen and merge where things go wrong: every failure of the original, plus time-outs and killed compilers, leaves the module
// with rocMLIR's own kernel and says why. No IREE is needed: stand-ins take its place.
import { describe, expect, test } from 'vitest';
import { Edits, moduleAttribute, setModuleAttribute } from '../src/mlir/edit.ts';
import { quoteBytes } from '../src/mlir/lex.ts';
import { parseMlir } from '../src/mlir/parse.ts';
import { generate, selectProgram } from '../src/rocmlir/gen.ts';
import { exportAttribute } from '../src/rocmlir/gpu-object.ts';
import { launchOperations } from '../src/rocmlir/launch.ts';
import { merge, readMerged } from '../src/rocmlir/merge.ts';
import type { LaunchSequence } from '../src/rocmlir/sequence.ts';
import {
  environment,
  hasMlirOpt,
  hostModule,
  mlirOpt,
  moduleToBinary,
  smallElf,
  standInCompiler,
} from './support/rocmlir.ts';

const MODULE = `module {
  func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
`;
const FALLBACK = MODULE.replace('module {', 'module attributes {iree.export = "[iree-error]: invocation failed"} {');
const options = { arch: 'gfx942', features: '+sramecc,-xnack' };

describe('gen: the checks of the pass', () => {
  const kernel = { sym_name: 'k', workgroup_sizes: [64, 1, 1], workgroup_memory: 0, workgroup_count: [2, 1, 1] };
  const binary = { $elf: '7F454C46', $kernels: ['k'], k: kernel };
  const sequence = { $elf: '7F454C46', scratch_bytes: 256, steps: [{ ...kernel, arguments: [{ scratch: 0 }] }] };
  test('a good sequence', () => {
    expect(selectProgram({ binaries: [], sequence }).sequence).toMatchObject({
      scratchBytes: 256,
      steps: [{ kernel: 'k', arguments: [{ kind: 'scratch', offset: 0 }] }],
    });
  });
  test('a good result', () => {
    expect(selectProgram({ binaries: [binary] })).toMatchObject({
      sequence: { scratchBytes: 0, steps: [{ kernel: 'k', workgroupCount: [2, 1, 1], workgroupMemory: 0 }] },
    });
  });
  test.each([
    [[], 'invalid JSON'],
    [{ error: 'invocation failed' }, 'invocation failed'],
    [{ error: 5 }, 'IREE invocation failed'],
    [{}, 'invalid JSON, expected `binaries` field'],
    [{ binaries: [binary, binary] }, 'more than one binary was found'],
    [{ binaries: [] }, 'expected at least one binary'],
    [{ binaries: ['x'] }, 'expected a dict for each binary'],
    [{ binaries: [{ ...binary, $elf: '' }] }, 'expected a valid ELF'],
    [{ binaries: [{ ...binary, $elf: 'xyz' }] }, 'expected a valid ELF'],
    [{ binaries: [{ ...binary, $kernels: ['k', 'l'] }] }, 'expected a valid kernel table'],
    [{ binaries: [{ ...binary, $kernels: [] }] }, 'expected a valid kernel table'],
    [{ binaries: [{ ...binary, $kernels: [''] }] }, 'expected a valid kernel name'],
    [{ binaries: [{ ...binary, k: 1 }] }, 'invalid kernel properties'],
    [{ binaries: [{ ...binary, k: { ...kernel, workgroup_sizes: [1] } }] }, 'expected a valid `workgroup_sizes` field'],
    [{ binaries: [{ ...binary, k: { ...kernel, workgroup_count: [] } }] }, 'expected a valid `workgroup_count` field'],
    [
      { binaries: [{ ...binary, k: { ...kernel, workgroup_memory: 'x' } }] },
      'expected a valid `workgroup_memory` field',
    ],
    [{ binaries: [], sequence: { ...sequence, steps: [] } }, 'invalid sequence'],
    [{ binaries: [], sequence: { ...sequence, scratch_bytes: -1 } }, 'invalid sequence'],
    [{ binaries: [], sequence: { ...sequence, $elf: 'x' } }, 'expected a valid ELF'],
    [{ binaries: [], sequence: { ...sequence, steps: [kernel] } }, 'invalid step of a sequence'],
    [
      { binaries: [], sequence: { ...sequence, steps: [{ ...kernel, arguments: [{ buffer: -1, offset: 0 }] }] } },
      'expected a buffer, scratch or constant',
    ],
  ])('%j: %s', (result, message) => expect(() => selectProgram(result)).toThrow(message));
});

describe('gen: compilers that fail', () => {
  const run = (body: string, timeout?: number, text = MODULE) =>
    generate(text, {
      ...options,
      timeout,
      environment: environment({ IREE_BIN: standInCompiler(body), IREE_DEBUG: '2' }),
    });

  test.each([
    [
      'a failing compiler',
      'echo "m.mlir:1:1: error: no" >&2; exit 1',
      'rocmlir/compiler-failed',
      /exit code 1.*error: no/,
    ],
    ['a killed compiler', 'kill -9 $$', 'rocmlir/compiler-killed', /signal/],
    ['a compiler that writes no output', 'exit 0', 'io/read', /module\.vmfb/],
  ])('%s', async (_, body, code, message) => {
    const result = await run(body);
    expect(result).toMatchObject({ status: 'fallback', text: FALLBACK, sequence: undefined });
    expect(result.failure?.code).toBe(code);
    expect(result.failure?.message).toMatch(message);
    expect(result.messages.some((line) => line.startsWith('Error[iree-gen:invocation]: '))).toBe(true);
  });

  test('a compiler that writes nonsense', async () => {
    const result = await run('for a in "$@"; do last=$a; done; echo nonsense > "$last"');
    expect(result).toMatchObject({ status: 'fallback', text: FALLBACK });
    expect(result.failure?.code).toBe('vmfb/not-vmfb');
  });

  test('a compiler that hangs is ended', async () => {
    const result = await run('exec sleep 1000', 500);
    expect(result).toMatchObject({ status: 'fallback', text: FALLBACK });
    expect(result.failure?.code).toBe('rocmlir/compiler-timeout');
  });

  test('IREE_DEBUG=2 shows the command and what it printed', async () => {
    const { messages } = await run('echo out; echo err >&2; exit 3');
    expect(messages.join('\n')).toMatch(/Command: `.*--iree-rocm-target=gfx942.*`\nstdout:\nout\n\nstderr:\nerr\n/);
  });

  test.each([
    ['no compiler in IREE_BIN', { IREE_BIN: '/nonexistent' }, {}, 'rocmlir/no-compiler', 'fallback'],
    ['no architecture', {}, { arch: '' }, 'rocmlir/arch', 'unchanged'],
    ['a wrong architecture', {}, { arch: 'gfx942 --evil' }, 'rocmlir/arch', 'fallback'],
    ['wrong features', {}, { features: '+dot' }, 'rocmlir/features', 'fallback'],
  ])('%s', async (_, variables, more, code, status) => {
    const result = await generate(MODULE, { ...options, ...more, environment: environment(variables) });
    expect([result.failure?.code, result.status]).toEqual([code, status]);
    expect(result.text).toBe(status === 'unchanged' ? MODULE : FALLBACK);
  });

  test('a missing IREE_CONFIG', async () => {
    const variables = { IREE_BIN: standInCompiler('exit 0'), IREE_CONFIG: '/nonexistent.yaml' };
    const result = await generate(MODULE, { ...options, environment: environment(variables) });
    expect([result.failure?.code, result.text]).toEqual(['rocmlir/config', FALLBACK]);
  });

  test('IREE_DISABLE=1 leaves the module alone', async () => {
    const result = await generate(MODULE, { ...options, environment: environment({ IREE_DISABLE: '1' }) });
    expect(result).toMatchObject({ status: 'unchanged', text: MODULE, failure: undefined });
  });

  test('an operation that is not lowered', async () => {
    const text = MODULE.replace(
      '    return',
      '    %0 = migraphx.pooling %arg0 {mode = "max"} : tensor<4xf32> -> tensor<4xf32>\n    return',
    );
    const result = await run('exit 0', undefined, text);
    expect(result.failure).toMatchObject({ code: 'rocmlir/unsupported-operation', position: { line: 3, column: 5 } });
    expect(result.text).toContain('migraphx.pooling');
    expect(result.text).toContain('iree.export = "[iree-error]: invocation failed"');
  });
});

const facts = { kernel: 'k', workgroupSizes: [64, 1, 1], workgroupCount: [3, 2, 1], workgroupMemory: 16 };
const attributeOf = (changes: Partial<typeof facts> = {}, elf = smallElf(['k'], 3)): string =>
  exportAttribute('gfx942', { scratchBytes: 0, steps: [{ ...facts, ...changes, arguments: undefined }] }, elf);
/** The binary's kernel table as rocMLIR has it. */
const TABLE =
  'kernels = <[#gpu.kernel_metadata<"rock_kernel", !llvm.func<void (ptr, ptr, ptr)>, arg_attrs = [{}, {}, {rock.out}], ' +
  'metadata = {lds_size = 4 : i64, original_func = @mixr}>]>, ';
/** A module after gpu-module-to-binary, written by hand. */
const binaryModule = (
  attribute: string | undefined,
  table = TABLE,
): string => `module attributes {gpu.container_module${
  attribute === undefined ? '' : `, iree.export = ${attribute}`
}, a.z = "last"} {
  gpu.binary @rock_module  [#gpu.object<#rocdl.target<O = 3, chip = "gfx942">, properties = {rock_kernel = {x = 1 : i64}}, ${table}bin = "\\7FELF">]
  func.func @host(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr) {  // the host
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func  @rock_module::@rock_kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)  args(%a : !llvm.ptr, %b : !llvm.ptr, %c : !llvm.ptr)
    %lds = arith.constant 4 : i32
    gpu.launch_func  @rock_module::@rock_kernel blocks in (%c64, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %lds args(%b : !llvm.ptr, %a : !llvm.ptr, %c : !llvm.ptr)
    return
  }
}
`;

describe('merge', () => {
  test('rewrites the binary and every launch, and nothing else', () => {
    const before = binaryModule(attributeOf());
    const result = merge(before, environment({ IREE_DEBUG: '1' }));
    expect(result).toMatchObject({ status: 'merged', launches: 2, messages: ['[iree-merge]: success'] });
    const { text } = result;
    expect(text).not.toContain('iree.export');
    expect(text).not.toContain('rock_kernel');
    expect(text).toContain(
      '#gpu.object<#rocdl.target<O = 3, chip = "gfx942">, properties = {"k" = {x = 1 : i64}}, kernels = ',
    );
    expect(text).toContain(
      '<[#gpu.kernel_metadata<"k", !llvm.func<void (ptr, ptr, ptr)>, arg_attrs = [{}, {}, {rock.out}], metadata = ' +
        '{block_size = array<i64: 64, 1, 1>, grid_size = array<i64: 3, 2, 1>, lds_size = 16 : i64, original_func = @mixr, ' +
        'rock.shared_buffer_size = 16 : i64}>]>, bin = ',
    );
    const { sequence, elf } = readMerged(text);
    expect(elf).toEqual(smallElf(['k'], 3));
    expect(sequence).toEqual({ scratchBytes: 0, steps: [{ ...facts, arguments: undefined }] });
    const launches = launchOperations(parseMlir(text));
    expect(launches.map((launch) => [launch.constants, launch.dynamicLdsBytes, launch.arguments])).toEqual([
      [[3, 2, 1, 64, 1, 1], 16, ['%a', '%b', '%c']],
      [[3, 2, 1, 64, 1, 1], 16, ['%b', '%a', '%c']],
    ]);
    // What is neither the attribute, the binary nor a launch keeps its bytes.
    for (const line of before.split('\n')) {
      if (!/iree\.export|gpu\.binary|launch_func/.test(line)) expect(text).toContain(line);
    }
    expect(text).toContain('module attributes {gpu.container_module, a.z = "last"} {\n');
  });

  test.skipIf(!hasMlirOpt())(
    'what it writes verifies, in the pretty and the generic form, with index and i64 sizes',
    () => {
      const attribute = attributeOf();
      for (const sizes of ['index', 'i64'] as const) {
        const pretty = moduleToBinary(hostModule(3, { attribute, sizes }));
        const generic = mlirOpt(pretty, ['--mlir-print-op-generic']);
        const texts = [pretty, generic].map((text) => merge(text, environment()));
        expect(texts.map((result) => result.status)).toEqual(['merged', 'merged']);
        const printed = texts.map((result) => mlirOpt(result.text));
        expect(printed[0]).toBe(printed[1]);
        expect(printed[0]).toContain('@rock_module::@k blocks in');
        expect(printed[0]).toContain('dynamic_shared_memory_size');
      }
      expect(mlirOpt(merge(binaryModule(attributeOf()), environment()).text)).toContain('gpu.kernel_metadata<"k"');
    },
  );

  describe('several launches in the place of one', () => {
    const step = { ...facts, workgroupMemory: 0 };
    const sequence: LaunchSequence = {
      scratchBytes: 512,
      steps: [
        {
          ...step,
          arguments: [
            { kind: 'buffer', position: 1, offset: 0 },
            { kind: 'scratch', offset: 256 },
          ],
        },
        {
          ...step,
          kernel: 'l',
          workgroupCount: [7, 1, 1],
          arguments: [
            { kind: 'scratch', offset: 256 },
            { kind: 'buffer', position: 2, offset: 64 },
          ],
        },
      ],
    };
    const elf = smallElf(['k', 'l'], 2);
    const attribute = (changed: LaunchSequence = sequence): string => exportAttribute('gfx942', changed, elf);

    test('each launch becomes the sequence, and reads back as it was meant', () => {
      const one = binaryModule(attribute()).replace(/^ {4}%lds.*\n.*launch_func.*\n/m, '');
      const result = merge(one, environment());
      expect(result.failure?.message).toBeUndefined();
      expect(result).toMatchObject({ status: 'merged', launches: 1, sequence });
      expect(result.text).toContain('gpu.alloc () : memref<512xi8>');
      expect(result.text.match(/gpu\.dealloc/g)).toHaveLength(1);
      expect(result.text).not.toContain('rock_kernel');
      expect(readMerged(result.text)).toEqual({ elf, sequence });
    });

    test.skipIf(!hasMlirOpt())('it verifies: pointers and memrefs, index and i64, pretty and generic', () => {
      const memrefs = binaryModule(attribute()).replaceAll('!llvm.ptr', 'memref<64xf32>');
      for (const text of [
        binaryModule(attribute()),
        memrefs,
        mlirOpt(binaryModule(attribute()), ['--mlir-print-op-generic']),
      ]) {
        const result = merge(text, environment());
        expect(result.failure?.message).toBeUndefined();
        const printed = mlirOpt(result.text);
        expect(printed.match(/gpu\.launch_func/g)).toHaveLength(4);
        expect(printed.match(/gpu\.kernel_metadata</g)).toHaveLength(2);
        expect(readMerged(printed).elf).toEqual(elf);
      }
      const sizes = moduleToBinary(hostModule(3, { attribute: attribute(), sizes: 'i64' }));
      const result = merge(sizes, environment());
      expect(result.failure?.message).toBeUndefined();
      expect(readMerged(mlirOpt(result.text)).sequence).toEqual(sequence);
    });

    test.each([
      [
        'more arguments than the launch passes',
        {
          ...sequence,
          steps: [
            {
              ...sequence.steps[0],
              arguments: [
                { kind: 'buffer', position: 3, offset: 0 },
                { kind: 'scratch', offset: 0 },
              ],
            },
          ],
        },
        'argument-count',
        /passes 3 argument\(s\), IREE's kernel takes 4/,
      ],
      [
        'other arguments than the kernel has',
        { ...sequence, steps: [{ ...sequence.steps[0], arguments: [] }] },
        'argument-count',
        /which takes 2/,
      ],
      ['scratch outside', { ...sequence, scratchBytes: 256 }, 'sequence', /outside the 256 bytes/],
    ] as readonly [string, LaunchSequence, string, RegExp][])(
      '%s keeps the module as it is',
      (_, changed, code, message) => {
        const text = binaryModule(attribute(changed));
        const result = merge(text, environment());
        expect([result.status, result.failure?.code, result.text]).toEqual(['fallback', `rocmlir/${code}`, text]);
        expect(result.failure?.message).toMatch(message);
      },
    );

    test('an asynchronous launch stays', () => {
      const text = binaryModule(attribute()).replace(/gpu\.launch_func {2}@/, '%t = gpu.launch_func async @');
      expect(merge(text, environment()).failure?.code).toBe('rocmlir/async-launch');
    });
  });

  test('without launches the one kernel of the table is replaced', () => {
    const text = binaryModule(attributeOf()).replace(/^ {4}gpu\.launch_func.*\n/gm, '');
    const result = merge(text, environment());
    expect(result).toMatchObject({ status: 'merged', launches: 0 });
    expect(result.text).toContain('gpu.kernel_metadata<"k"');
    expect(readMerged(result.text).sequence.steps).toEqual([]);
  });

  const damaged = smallElf(['k'], 3);
  damaged[4] = 9;
  const good = binaryModule(attributeOf());
  const edited = (from: string | RegExp, to: string): string => {
    const text = good.replace(from, to);
    expect(text).not.toBe(good);
    return text;
  };
  const CASES: readonly [string, () => string, string, RegExp][] = [
    ['no attribute', () => binaryModule(undefined), 'no-export', /failed to find the `iree\.export` attribute/],
    ['a failed gen', () => binaryModule('"[iree-error]: invocation failed"'), 'no-export', /failed to find/],
    [
      'two binaries',
      () => edited(/^( {2}gpu\.binary @)rock_module(.*)$/m, '$1rock_module$2\n$1second$2'),
      'several-binaries',
      /expected a single binary/,
    ],
    ['no binary', () => edited(/^ {2}gpu\.binary.*\n/m, ''), 'no-binary', /expected at least one binary/],
    [
      'two kernels',
      () => edited(/rock_kernel blocks in \(%c64/, 'another blocks in (%c64'),
      'several-kernels',
      /expected at most one kernel/,
    ],
    [
      'a launch of another module',
      () => edited(/@rock_module::@rock_kernel blocks in \(%c64/, '@m::@rock_kernel blocks in (%c64'),
      'several-kernels',
      /expected at most one kernel/,
    ],
    [
      'no properties',
      () => edited(/properties = \{kernel.*?\}, bin/, 'bin'),
      'no-properties',
      /expected a property dictionary/,
    ],
    [
      'no memory',
      () => edited('workgroup_memory = 16 : i64', 'x = 1'),
      'workgroup-memory',
      /invalid `workgroup_memory` field/,
    ],
    [
      'no count',
      () => edited('workgroup_count = array<i64: 3, 2, 1>', 'x = 1'),
      'workgroup-count',
      /invalid `workgroup_count` field/,
    ],
    [
      'a dynamic count',
      () => edited('workgroup_count = array<i64: 3, 2, 1>', 'workgroup_count = array<i64>'),
      'workgroup-count',
      /invalid `workgroup_count` field/,
    ],
    ['a zero count', () => edited('array<i64: 3, 2, 1>', 'array<i64: 3, 0, 1>'), 'workgroup-count', /invalid/],
    [
      'wrong sizes',
      () => edited('workgroup_sizes = array<i64: 64, 1, 1>', 'workgroup_sizes = array<i32: 64, 1, 1>'),
      'workgroup-sizes',
      /invalid `workgroup_sizes` field/,
    ],
    [
      'sizes the kernel does not allow',
      () => binaryModule(attributeOf({ workgroupSizes: [32, 1, 1] })),
      'workgroup-sizes',
      /requires workgroups of 64×1×1/,
    ],
    ['no kernel name', () => edited('kernel = "k"', 'kernel = 5 : i64'), 'kernel-name', /invalid `kernel` field/],
    ['a corrupt ELF', () => binaryModule(attributeOf({}, damaged)), 'elf', /expected a valid ELF/],
    [
      'a truncated ELF',
      () => binaryModule(attributeOf({}, smallElf(['k'], 3).slice(0, 100))),
      'elf',
      /expected a valid ELF/,
    ],
    [
      'an ELF without the kernel',
      () => binaryModule(attributeOf({ kernel: 'other' })),
      'elf-kernel',
      /no complete kernel 'other'/,
    ],
    [
      'another number of arguments',
      () => binaryModule(attributeOf({}, smallElf(['k'], 2))),
      'argument-count',
      /passes 3 argument\(s\), IREE's kernel takes 2/,
    ],
    [
      'another chip',
      () => edited('chip = "gfx942">, properties = {rock', 'chip = "gfx90a">, properties = {rock'),
      'chip',
      /for gfx90a/,
    ],
    [
      'a table without the kernel',
      () => edited('kernel_metadata<"rock_kernel"', 'kernel_metadata<"else"'),
      'rock-kernel',
      /no 'rock_kernel'/,
    ],
    ['an object that is none', () => edited(/\[#gpu\.object.*\]\n/, '["text"]\n'), 'binary-object', /invalid object/],
  ];
  test.each(CASES)('%s keeps the module as it is', (_, make, code, message) => {
    const text = make();
    const result = merge(text, environment({ IREE_DEBUG: '1' }));
    expect([result.status, result.failure?.code]).toEqual(['fallback', `rocmlir/${code}`]);
    expect(result.failure?.message).toMatch(message);
    expect(result.text).toBe(text);
    expect(result.messages).toEqual([`Error[iree-merge:${code}]: ${result.failure?.message}`]);
    expect(merge(text, environment()).messages).toEqual([]);
  });

  test('IREE_DISABLE=1 leaves the module alone', () => {
    expect(merge(good, environment({ IREE_DISABLE: '1' }))).toMatchObject({ status: 'unchanged', text: good });
  });

  test('a text that is no module is an error', () => {
    expect(() => merge('module {', environment())).toThrow(expect.objectContaining({ code: 'mlir/unbalanced' }));
  });

  test('the attribute reads back byte for byte', () => {
    const elf = Uint8Array.from({ length: 4096 }, (_, i) => (i * 7) & 255);
    const edits = new Edits();
    setModuleAttribute(parseMlir(MODULE), edits, 'iree.export', `#gpu.object<#rocdl.target, bin = ${quoteBytes(elf)}>`);
    const document = parseMlir(edits.apply(MODULE));
    expect(moduleAttribute(document, 'iree.export')).toMatchObject({ kind: 'dialect', name: 'gpu.object' });
  });
});
