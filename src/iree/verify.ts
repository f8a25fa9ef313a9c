// Whether an edited code object can stand in for the baseline's: everything the host side of the module relies on must be
// unchanged (kernel names, kernarg layout, workgroup size), and the edited kernels must be able to start on the target.
// Sources: IREE runtime/src/iree/hal/drivers/hip/native_executable.c; LLVM's AMDGPUUsage, "Preloaded Kernel Arguments".

import { WavesmithError } from '../base/index.ts';
import { preloadProblem, readPreloadStub } from '../check/entry.ts';
import { instructionsIn, registerUse } from '../check/register-use.ts';
import { argumentLayout } from '../check/rules/abi.ts';
import { workgroupFit } from '../check/rules/resources.ts';
import { formatProcessorAndFeatures } from '../codeobject/elf/target-id.ts';
import { descriptorRegisters } from '../codeobject/kernel/descriptor.ts';
import { type TargetInfo, targetInfo } from '../isa/table/targets.ts';
import type { TargetName } from '../isa/types.ts';
import { PRELOAD_STUB } from '../program/index.ts';
import type { Source } from './engine.ts';
import { type CodeObjectFacts, type KernelFacts, sameKernel } from './facts.ts';

/** What the module around the code object fixes for a kernel. */
export interface HostContract {
  readonly name: string;
  readonly workgroupSize: readonly [number, number, number];
}

/**
 * Throws the first reason why `edited` cannot replace `baseline`; returns remarks about what is allowed but suspicious.
 * `contracts` are the kernels the module launches.
 */
export function verifyReplacement(
  baseline: CodeObjectFacts,
  edited: CodeObjectFacts,
  contracts: readonly HostContract[],
  source: Source,
): string[] {
  verifyTarget(baseline, edited, source);
  const remarks: string[] = [];
  const info = targetInfo(edited.targetName);
  for (const contract of contracts) {
    const before = baseline.kernels.get(contract.name);
    if (before === undefined) continue;
    const after = findKernel(edited, contract.name, source);
    verifyArguments(before, after, source);
    verifyWorkgroup(after, contract, source);
    verifyLds(after, info, source, remarks);
    if (!sameKernel(before, after)) verifyRegisters(after, edited.targetName, source, remarks);
    verifyFits(after, contract, info, source);
    verifyEntry(before, after, edited, source, remarks);
  }
  for (const name of edited.kernels.keys()) {
    if (!baseline.kernels.has(name)) remarks.push(`kernel '${name}' is new; nothing in the module launches it.`);
  }
  return remarks;
}

/** File and line of the first match (behind the first match of `after` in the same file), for the position of an error. */
function placeOf({ main, included }: Source, pattern: RegExp, after?: RegExp): { file: string; line?: number } {
  for (const { path, text } of [main, ...included]) {
    const lines = text.split('\n');
    const from = after === undefined ? 0 : lines.findIndex((line) => after.test(line));
    const found = from < 0 ? -1 : lines.findIndex((line, i) => i >= from && pattern.test(line));
    if (found >= 0) return { file: path, line: found + 1 };
  }
  return { file: main.path };
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const descriptorOf = (name: string): RegExp =>
  new RegExp(`^\\s*\\.amdhsa_kernel\\s+"?${literal(name)}"?\\s*(?:$|[;/])`);

function verifyTarget(baseline: CodeObjectFacts, edited: CodeObjectFacts, source: Source): void {
  const wanted = formatProcessorAndFeatures(baseline.target);
  const got = formatProcessorAndFeatures(edited.target);
  if (wanted === got && baseline.target.xnack === edited.target.xnack) return;
  throw new WavesmithError(
    'hijack/target-mismatch',
    `The edited code is for ${got}, the module's code is for ${wanted}; the runtime would refuse to load it.`,
    {
      ...placeOf(source, /^\s*\.amdgcn_target\b/),
      hint: `Keep the .amdgcn_target line as the compiler wrote it (…${wanted}), or compile the baseline for ${got}.`,
    },
  );
}

function findKernel(edited: CodeObjectFacts, name: string, source: Source): KernelFacts {
  const kernel = edited.kernels.get(name);
  const present = [...edited.kernels.keys()];
  if (kernel === undefined) {
    throw new WavesmithError(
      'hijack/kernel-name',
      `The edited code has no kernel '${name}' (no symbol '${name}.kd')` +
        `${present.length === 0 ? '' : `; it has '${present.slice(0, 4).join("', '")}'`}.`,
      {
        ...placeOf(source, /^\s*\.amdhsa_kernel\b/),
        hint: 'The module looks kernels up by name: keep the label, .amdhsa_kernel and the metadata’s .name and .symbol.',
      },
    );
  }
  if (kernel.metadata === undefined) {
    throw new WavesmithError(
      'hijack/no-metadata',
      `The metadata of the edited code does not list kernel '${name}' with .symbol '${name}.kd'.`,
      {
        ...placeOf(source, /^\s*\.symbol:|\.amdgpu_metadata/),
        hint: 'Keep the kernel’s entry in .amdgpu_metadata; the HIP runtime needs it to launch the kernel.',
      },
    );
  }
  return kernel;
}

function verifyArguments(before: KernelFacts, after: KernelFacts, source: Source): void {
  const [wanted, got] = [argumentLayout(before.metadata), argumentLayout(after.metadata)];
  const hint =
    'The host code passes the arguments; take the assembly of the same compilation, or keep this part unedited.';
  for (let i = 0; i < Math.max(wanted.length, got.length); i++) {
    if (wanted[i] === got[i]) continue;
    throw new WavesmithError(
      'hijack/kernarg-layout',
      `Argument ${i} of kernel '${after.name}' is ${got[i] ?? 'missing'}, but the module passes ${wanted[i] ?? 'none'}.`,
      { ...placeOf(source, /^\s*(?:- )?\.args:/), hint },
    );
  }
  const [a, b] = [before.descriptor.kernargSize, after.descriptor.kernargSize];
  if (a === b) return;
  throw new WavesmithError(
    'hijack/kernarg-layout',
    `The kernarg segment of kernel '${after.name}' is ${b} bytes, but the module passes ${a}.`,
    {
      ...placeOf(source, /^\s*\.amdhsa_kernarg_size\b/, descriptorOf(after.name)),
      hint,
    },
  );
}

function verifyWorkgroup(after: KernelFacts, contract: HostContract, source: Source): void {
  const wanted = contract.workgroupSize;
  const required = after.metadata?.reqdWorkgroupSize;
  const position = (pattern: RegExp) => ({
    ...placeOf(source, pattern),
    hint: 'The module’s host code launches this workgroup size; it cannot change with the assembly.',
  });
  if (required?.some((n, i) => n !== wanted[i])) {
    throw new WavesmithError(
      'hijack/workgroup-size',
      `Kernel '${after.name}' requires workgroups of ${required.join('×')}, but the module launches ${wanted.join('×')}.`,
      position(/\.reqd_workgroup_size:/),
    );
  }
  const items = wanted[0] * wanted[1] * wanted[2];
  const maximum = after.metadata?.maxFlatWorkgroupSize ?? items;
  if (maximum >= items) return;
  throw new WavesmithError(
    'hijack/workgroup-size',
    `Kernel '${after.name}' allows ${maximum} work-items per workgroup, but the module launches ${items}.`,
    position(/\.max_flat_workgroup_size:/),
  );
}

function verifyLds(after: KernelFacts, info: TargetInfo, source: Source, remarks: string[]): void {
  const bytes = after.descriptor.groupSegmentFixedSize;
  if (bytes > info.ldsBytes) {
    throw new WavesmithError(
      'hijack/lds-limit',
      `Kernel '${after.name}' asks for ${bytes} bytes of LDS; ${info.name} has ${info.ldsBytes} per workgroup.`,
      {
        ...placeOf(source, /^\s*\.amdhsa_group_segment_fixed_size\b/, descriptorOf(after.name)),
        hint: 'Use less LDS: the runtime rejects the module at load time.',
      },
    );
  }
  const listed = after.metadata?.groupSegmentFixedSize;
  if (listed !== undefined && listed !== bytes) {
    remarks.push(
      `kernel '${after.name}': metadata .group_segment_fixed_size is ${listed}, the descriptor's is ${bytes}; set both.`,
    );
  }
}

function verifyRegisters(after: KernelFacts, target: TargetName, source: Source, remarks: string[]): void {
  const has = descriptorRegisters(after.descriptor);
  const wrong = (file: string, used: number, allocated: number, directive: string, hint: string): WavesmithError =>
    new WavesmithError(
      'hijack/register-count',
      `Kernel '${after.name}' uses ${file}${used - 1}, but its descriptor allocates only ${allocated} ${file === 's' ? 'SGPRs' : file === 'a' ? 'AGPRs' : 'VGPRs'}.`,
      {
        ...placeOf(source, new RegExp(`^\\s*\\.${directive}\\b`), descriptorOf(after.name)),
        hint,
      },
    );
  const { vgprs, agprs, sgprs } = registerUse(instructionsIn(after.code, target));
  if (vgprs > has.vgprs) {
    const hint = `Raise .amdhsa_accum_offset to ${Math.ceil(vgprs / 4) * 4} and .amdhsa_next_free_vgpr accordingly, and .vgpr_count.`;
    throw wrong('v', vgprs, has.vgprs, vgprs > has.totalVgprs ? 'amdhsa_next_free_vgpr' : 'amdhsa_accum_offset', hint);
  }
  if (agprs > has.agprs) {
    const next = (after.descriptor.rsrc3.accumOffset + 1) * 4 + agprs;
    throw wrong(
      'a',
      agprs,
      has.agprs,
      'amdhsa_next_free_vgpr',
      `Raise .amdhsa_next_free_vgpr to ${next}, and .vgpr_count.`,
    );
  }
  if (sgprs > has.sgprs) {
    throw wrong(
      's',
      sgprs,
      has.sgprs,
      'amdhsa_next_free_sgpr',
      `Raise .amdhsa_next_free_sgpr to ${sgprs}, and .sgpr_count.`,
    );
  }
  const listed = after.metadata;
  if (listed === undefined) return;
  const listedVgprs = listed.agprCount === undefined ? listed.vgprCount : listed.vgprCount - listed.agprCount;
  if (listedVgprs < vgprs) {
    remarks.push(
      `kernel '${after.name}': metadata .vgpr_count says ${listed.vgprCount}, the code uses v${vgprs - 1}; profilers read it.`,
    );
  }
  if ((listed.agprCount ?? agprs) < agprs) {
    remarks.push(
      `kernel '${after.name}': metadata .agpr_count says ${listed.agprCount}, the code uses a${agprs - 1}; profilers read it.`,
    );
  }
}

function verifyFits(after: KernelFacts, contract: HostContract, info: TargetInfo, source: Source): void {
  const items = contract.workgroupSize[0] * contract.workgroupSize[1] * contract.workgroupSize[2];
  const { waves, fitting, mostVgprs } = workgroupFit(after.descriptor, items, info);
  if (waves <= fitting) return;
  const { totalVgprs } = descriptorRegisters(after.descriptor);
  throw new WavesmithError(
    'hijack/does-not-fit',
    `A workgroup of ${items} work-items of kernel '${after.name}' cannot start: with ${totalVgprs} vector registers a ` +
      `compute unit holds ${fitting} wavefronts, the workgroup has ${waves}.`,
    {
      ...placeOf(source, /^\s*\.amdhsa_next_free_vgpr\b/, descriptorOf(after.name)),
      hint: `Use at most ${mostVgprs} vector registers (VGPRs and AGPRs together).`,
    },
  );
}

function verifyEntry(
  before: KernelFacts,
  after: KernelFacts,
  edited: CodeObjectFacts,
  source: Source,
  remarks: string[],
): void {
  const label = new RegExp(`^"?${literal(after.name)}"?:`);
  const broken = (why: string): WavesmithError =>
    new WavesmithError('hijack/preload-alignment', `Kernel '${after.name}' would start at the wrong place: ${why}.`, {
      ...placeOf(source, label),
      hint:
        'Keep .p2align 8 before the kernel’s label and after the first block (loads, s_waitcnt, s_branch): with preloaded ' +
        'arguments the hardware starts 256 bytes after the label.',
    });
  if (after.entry % PRELOAD_STUB !== 0) throw broken('its entry point is not aligned to 256 bytes');
  if (sameKernel(before, after)) return;
  if (after.descriptor.preload.length === 0) {
    if (before.descriptor.preload.length !== 0) {
      remarks.push(`kernel '${after.name}' no longer preloads arguments; its code must load them itself.`);
    }
    return;
  }
  // Without preload support in the firmware the first 256 bytes load the arguments and branch over the padding.
  const stub = readPreloadStub(after.code, edited.targetName);
  const problem = preloadProblem(stub, true);
  if (problem !== undefined) {
    const { length } = after.descriptor.preload;
    throw broken(
      `it preloads ${length} SGPRs, so execution starts ${PRELOAD_STUB} bytes after the label, but ${problem}`,
    );
  }
  const old = before.descriptor.preload.length === 0 ? undefined : readPreloadStub(before.code, edited.targetName);
  if (old !== undefined && old.instructions !== stub?.instructions) {
    remarks.push(
      `kernel '${after.name}': the instructions before the second .p2align 8 changed; hardware that preloads arguments ` +
        'never executes them. Edit below the label behind it.',
    );
  }
}
