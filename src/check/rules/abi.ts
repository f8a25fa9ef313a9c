// What the host, the loader and the command processor rely on: the entry, the user SGPRs, and with a baseline everything
// that code launching the baseline's kernels assumes. Source: LLVM's AMDGPUUsage, "Kernel Dispatch", "Initial Kernel
// Execution State", "Preloaded Kernel Arguments", "Code Object Metadata".

import { formatProcessorAndFeatures } from '../../codeobject/elf/target-id.ts';
import type { CodeObject, Kernel, KernelMetadata } from '../../codeobject/index.ts';
import {
  type Finding,
  type FindingParts,
  finding,
  type RuleId,
  setDirective,
  setMetadata,
} from '../../finding/index.ts';
import { PRELOAD_STUB } from '../../program/index.ts';
import { kernelCode } from '../code.ts';
import { preloadProblem, readPreloadStub } from '../entry.ts';
import type { CheckContext } from '../types.ts';

/** One text per explicit or hidden argument, in order: what the host writes into the kernarg segment. */
export function argumentLayout(metadata: KernelMetadata | undefined): string[] {
  return (metadata?.args ?? []).map((a) => `${a.valueKind} of ${a.size} bytes at ${a.offset}`);
}

/** The user SGPRs that a descriptor enables, in the order in which they are numbered. */
const USER_SGPRS = [
  ['enableSgprPrivateSegmentBuffer', 4, 'private_segment_buffer'],
  ['enableSgprDispatchPtr', 2, 'dispatch_ptr'],
  ['enableSgprQueuePtr', 2, 'queue_ptr'],
  ['enableSgprKernargSegmentPtr', 2, 'kernarg_segment_ptr'],
  ['enableSgprDispatchId', 2, 'dispatch_id'],
  ['enableSgprFlatScratchInit', 2, 'flat_scratch_init'],
  ['enableSgprPrivateSegmentSize', 1, 'private_segment_size'],
] as const;

/** Where each enabled user SGPR lies: `kernarg_segment_ptr s[4:5]`. */
function userSgprs(kernel: Kernel): { readonly names: readonly string[]; readonly count: number } {
  const { descriptor } = kernel;
  const names: string[] = [];
  let next = 0;
  if (descriptor === undefined) return { names, count: 0 };
  const place = (name: string, size: number): void => {
    names.push(`${name} ${size === 1 ? `s${next}` : `s[${next}:${next + size - 1}]`}`);
    next += size;
  };
  for (const [flag, size, name] of USER_SGPRS) if (descriptor.properties[flag] !== 0) place(name, size);
  if (descriptor.preload.length > 0) place('preloaded arguments', descriptor.preload.length);
  return { names, count: next };
}

/** The rules that need no baseline: the kernel can be started at all. */
export function checkEntry(context: CheckContext): Finding[] {
  const { kernel, codeObject, target } = context;
  if (kernel?.descriptor === undefined || kernel.entry === undefined) return [];
  const found: Finding[] = [];
  const { descriptor, entry, name } = kernel;
  const { count } = userSgprs(kernel);
  if (count > descriptor.rsrc2.userSgprCount) {
    found.push(
      finding({
        rule: 'abi/user-sgprs',
        severity: 'error',
        kernel: name,
        message: `Kernel '${name}' enables ${count} user SGPRs, but its descriptor loads only ${descriptor.rsrc2.userSgprCount}.`,
        place: { directive: '.amdhsa_user_sgpr_count' },
        advice: `Set .amdhsa_user_sgpr_count to ${count} or leave it out.`,
      }),
    );
  }
  if (!codeObject.isRelocatable && entry % PRELOAD_STUB !== 0) {
    found.push(
      finding({
        rule: 'abi/entry-alignment',
        severity: 'error',
        kernel: name,
        place: { pc: entry },
        message: `The entry point of kernel '${name}' is not aligned to ${PRELOAD_STUB} bytes.`,
        edits: [{ kind: 'align', label: name, log2: Math.log2(PRELOAD_STUB) }],
      }),
    );
  }
  if (descriptor.preload.length > 0) {
    const code = kernelCode(codeObject, kernel);
    const problem = preloadProblem(code && readPreloadStub(code, target));
    if (problem !== undefined) {
      found.push(
        finding({
          rule: 'abi/preload-entry',
          severity: 'error',
          kernel: name,
          place: { pc: entry },
          message:
            `Kernel '${name}' preloads ${descriptor.preload.length} SGPRs, so execution starts ${PRELOAD_STUB} bytes ` +
            `behind its entry point, but ${problem}.`,
          advice: 'Keep .p2align 8 behind the first block (loads, s_waitcnt, s_branch).',
        }),
      );
    }
  }
  return found;
}

/** The rules about the whole file against the baseline: target, version, and which kernels there are. */
export function checkFileAgainst(codeObject: CodeObject, baseline: CodeObject): Finding[] {
  const found: Finding[] = [];
  const [wanted, got] = [baseline, codeObject].map((o) => formatProcessorAndFeatures(o.target));
  if (wanted !== got || baseline.target.xnack !== codeObject.target.xnack) {
    found.push(
      finding({
        rule: 'abi/target',
        severity: 'error',
        message: `The code is for ${got}, the baseline for ${wanted}; a runtime that loads the baseline may refuse it.`,
        edits: [setDirective(undefined, '.amdgcn_target', `"amdgcn-amd-amdhsa--${wanted}"`)],
      }),
    );
  }
  const [before, after] = [baseline.version, codeObject.version];
  if (before !== after) {
    // Version 5 moved the hidden arguments; the others differ in the container only.
    const isLayout = (before ?? 0) >= 5 !== (after ?? 0) >= 5;
    found.push(
      finding({
        rule: 'abi/code-object-version',
        severity: isLayout ? 'error' : 'warning',
        message:
          `The code object has version ${after ?? 'unknown'}, the baseline ${before ?? 'unknown'}` +
          `${isLayout ? '; the hidden arguments lie elsewhere' : ''}.`,
        edits: before === undefined ? [] : [setDirective(undefined, '.amdhsa_code_object_version', before)],
      }),
    );
  }
  const present = new Set(codeObject.kernels.map((k) => k.name));
  for (const { name } of baseline.kernels) {
    if (present.has(name)) continue;
    found.push(
      finding({
        rule: 'abi/kernel-name',
        severity: 'error',
        kernel: name,
        message: `The baseline's kernel '${name}' is missing (no symbol '${name}.kd').`,
        advice: `Keep the label '${name}', its .amdhsa_kernel block, and .name and .symbol of the metadata.`,
      }),
    );
  }
  return found;
}

/** The rules about one kernel against the baseline's kernel of the same name. */
export function checkKernelAgainst(context: CheckContext): Finding[] {
  const { kernel, baseline } = context;
  const before = baseline?.kernels.find((k) => k.name === kernel?.name);
  if (kernel === undefined || before === undefined) return [];
  return [
    ...argumentFindings(before, kernel),
    ...launchFindings(before, kernel),
    ...descriptorFindings(before, kernel),
  ];
}

function argumentFindings(before: Kernel, after: Kernel): Finding[] {
  const found: Finding[] = [];
  const { name } = after;
  const report = (message: string, parts: Partial<FindingParts>): void => {
    found.push(finding({ rule: 'abi/kernarg-layout', kernel: name, message, ...parts }));
  };
  if (before.metadata !== undefined && after.metadata === undefined) {
    const advice = `Keep the kernel's entry in .amdgpu_metadata with .symbol: ${name}.kd.`;
    report(`The metadata does not list kernel '${name}', the baseline's does.`, { advice });
    return found;
  }
  const [wanted, got] = [argumentLayout(before.metadata), argumentLayout(after.metadata)];
  for (let i = 0; i < Math.max(wanted.length, got.length); i++) {
    if (wanted[i] === got[i]) continue;
    const message = `Argument ${i} of kernel '${name}' is ${got[i] ?? 'missing'}, the baseline's is ${wanted[i] ?? 'absent'}.`;
    report(message, { place: { metadata: '.args' }, advice: 'Keep .args: of the metadata as in the baseline.' });
    break;
  }
  const sizes = [
    { a: before.descriptor?.kernargSize, b: after.descriptor?.kernargSize, isMetadata: false },
    { a: before.metadata?.kernargSegmentSize, b: after.metadata?.kernargSegmentSize, isMetadata: true },
  ].filter(({ a, b }) => a !== undefined && a !== b);
  const [first] = sizes;
  if (first !== undefined) {
    report(`The kernarg segment of kernel '${name}' is ${first.b ?? 0} bytes, the baseline's ${first.a}.`, {
      edits: sizes.map(({ a = 0, isMetadata }) =>
        isMetadata ? setMetadata(name, '.kernarg_segment_size', a) : setDirective(name, '.amdhsa_kernarg_size', a),
      ),
    });
  }
  return found;
}

function launchFindings(before: Kernel, after: Kernel): Finding[] {
  const found: Finding[] = [];
  const { name } = after;
  const report = (rule: RuleId, message: string, parts: Partial<FindingParts>): void => {
    found.push(finding({ rule, kernel: name, message, ...parts }));
  };
  const [a, b] = [before.metadata, after.metadata];
  if (a !== undefined && b !== undefined) {
    const size = (m: KernelMetadata): string => m.reqdWorkgroupSize?.join('×') ?? 'any';
    if (size(a) !== size(b)) {
      const message = `Kernel '${name}' requires workgroups of ${size(b)}, the baseline's of ${size(a)}.`;
      const place = { metadata: '.reqd_workgroup_size' };
      report('abi/workgroup-size', message, { place, advice: 'Keep .reqd_workgroup_size: as in the baseline.' });
    } else if (b.maxFlatWorkgroupSize < a.maxFlatWorkgroupSize) {
      const message = `Kernel '${name}' allows ${b.maxFlatWorkgroupSize} work-items per workgroup, the baseline's ${a.maxFlatWorkgroupSize}.`;
      const edits = [setMetadata(name, '.max_flat_workgroup_size', a.maxFlatWorkgroupSize)];
      report('abi/workgroup-size', message, { edits });
    }
    if (a.wavefrontSize !== b.wavefrontSize) {
      const message = `Kernel '${name}' has wavefronts of ${b.wavefrontSize}, the baseline's of ${a.wavefrontSize}.`;
      report('abi/wavefront-size', message, { edits: [setMetadata(name, '.wavefront_size', a.wavefrontSize)] });
    }
  }
  const [was, is] = [userSgprs(before).names, userSgprs(after).names];
  const moved = was.findIndex((text, i) => text !== is[i]);
  if (moved >= 0 || is.length > was.length) {
    const at = moved < 0 ? was.length : moved;
    const isCountSame = before.descriptor?.rsrc2.userSgprCount === after.descriptor?.rsrc2.userSgprCount;
    report(
      'abi/user-sgprs-changed',
      `Kernel '${name}' starts with other user SGPRs than the baseline: ${is[at] ?? 'none'} instead of ${was[at] ?? 'none'}.`,
      {
        severity: isCountSame ? 'warning' : 'error',
        advice: 'Keep the .amdhsa_user_sgpr_ directives of the baseline, unless the code reads the new places.',
      },
    );
  }
  return found;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

/** Fields of the descriptor that decide what the code finds when it starts. */
function descriptorFindings(before: Kernel, after: Kernel): Finding[] {
  const [a, b] = [before.descriptor, after.descriptor];
  if (a === undefined || b === undefined) return [];
  const { name } = after;
  const found: Finding[] = [];
  const report = (rule: RuleId, message: string, directive: string, value: number): void => {
    found.push(
      finding({
        rule,
        severity: 'error',
        kernel: name,
        place: { directive },
        message,
        edits: [setDirective(name, directive, value)],
      }),
    );
  };
  if (a.preload.length !== b.preload.length || a.preload.offset !== b.preload.offset) {
    const text = (d: typeof a): string => `${d.preload.length} dwords from dword ${d.preload.offset}`;
    const message = `Kernel '${name}' preloads ${text(b)} of its arguments, the baseline ${text(a)}.`;
    const isLength = a.preload.length !== b.preload.length;
    const directive = `.amdhsa_user_sgpr_kernarg_preload_${isLength ? 'length' : 'offset'}`;
    report('abi/preload-changed', message, directive, isLength ? a.preload.length : a.preload.offset);
  }
  if (a.rsrc2.userSgprCount !== b.rsrc2.userSgprCount && isSameList(userSgprs(before).names, userSgprs(after).names)) {
    const message =
      `Kernel '${name}' starts with ${b.rsrc2.userSgprCount} user SGPRs, the baseline with ${a.rsrc2.userSgprCount}: ` +
      'the workgroup ids behind them move.';
    report('abi/user-sgprs-changed', message, '.amdhsa_user_sgpr_count', a.rsrc2.userSgprCount);
  }
  const systems = [
    ['enableSgprWorkgroupIdX', '.amdhsa_system_sgpr_workgroup_id_x'],
    ['enableSgprWorkgroupIdY', '.amdhsa_system_sgpr_workgroup_id_y'],
    ['enableSgprWorkgroupIdZ', '.amdhsa_system_sgpr_workgroup_id_z'],
    ['enableSgprWorkgroupInfo', '.amdhsa_system_sgpr_workgroup_info'],
    ['enableVgprWorkitemId', '.amdhsa_system_vgpr_workitem_id'],
  ] as const;
  for (const [field, directive] of systems) {
    if (a.rsrc2[field] === b.rsrc2[field]) continue;
    const message = `Kernel '${name}' has ${directive} ${b.rsrc2[field]}, the baseline ${a.rsrc2[field]}: it starts with other registers.`;
    report('abi/user-sgprs-changed', message, directive, a.rsrc2[field]);
  }
  const size = (k: Kernel): number =>
    Math.max(k.descriptor?.groupSegmentFixedSize ?? 0, k.metadata?.groupSegmentFixedSize ?? 0);
  if (size(after) < size(before)) {
    const directive = '.amdhsa_group_segment_fixed_size';
    found.push(
      finding({
        rule: 'resources/lds-shrunk',
        kernel: name,
        place: { directive },
        message: `Kernel '${name}' has ${size(after)} bytes of LDS, the baseline ${size(before)}.`,
        edits: [
          setDirective(name, directive, size(before)),
          ...(after.metadata === undefined ? [] : [setMetadata(name, '.group_segment_fixed_size', size(before))]),
        ],
        advice: 'Unless the code uses less now.',
      }),
    );
  }
  return found;
}
