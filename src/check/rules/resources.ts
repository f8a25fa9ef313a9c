// Whether the kernel descriptor gives a wavefront what the code uses, and whether descriptor and metadata agree.
// Sources: CDNA3 ISA manual, "Kernel State"; LLVM's AMDGPUUsage, "Kernel Descriptor" and "Code Object Metadata".
import { descriptorRegisters, type Kernel, type KernelDescriptor } from '../../codeobject/index.ts';
import {
  type Basis,
  type Edit,
  type Finding,
  finding,
  type RuleId,
  type Severity,
  setDirective,
  setMetadata,
} from '../../finding/index.ts';
import { type TargetInfo, targetInfo } from '../../isa/table/targets.ts';
import type { CodeInstruction, Program, ProgramFunction } from '../../program/index.ts';
import { placeAt } from '../place.ts';
import { type RegisterMention, registerUse } from '../register-use.ts';
import type { CheckContext } from '../types.ts';

/** Wavefronts of a workgroup, and how many of that kernel a compute unit holds by its vector registers. */
export function workgroupFit(
  descriptor: KernelDescriptor,
  workItems: number,
  info: TargetInfo,
): { readonly waves: number; readonly fitting: number; readonly mostVgprs: number } {
  const waves = Math.ceil(workItems / info.wavefrontSize);
  const fitting = Math.floor(info.vgprTotal / descriptorRegisters(descriptor).totalVgprs) * info.simdsPerCu;
  const perWave = info.vgprTotal / Math.ceil(waves / info.simdsPerCu);
  return { waves, fitting, mostVgprs: Math.floor(perWave / info.vgprGranule) * info.vgprGranule };
}

/** The subject's instructions and those of everything it calls. */
function* reachedInstructions(program: Program, subject: ProgramFunction): Generator<CodeInstruction> {
  const byEntry = new Map(program.functions.map((f) => [f.entry, f]));
  const seen = new Set([subject]);
  for (const reached of seen) {
    for (const index of reached.blocks) {
      const block = program.blocks[index];
      if (block === undefined) continue;
      for (const callee of block.callees) {
        const called = byEntry.get(callee);
        if (called !== undefined) seen.add(called);
      }
      for (let i = block.first; i < block.end; i++) {
        const instruction = program.instructions[i];
        if (instruction !== undefined) yield instruction;
      }
    }
  }
}

/** All rules about resources of one kernel. */
export function checkResources(context: CheckContext): Finding[] {
  const { kernel, target } = context;
  const descriptor = kernel?.descriptor;
  if (kernel === undefined || descriptor === undefined) return [];
  const info = targetInfo(target);
  const instructions = [...reachedInstructions(context.program, context.subject)];
  return [
    ...registerFindings(context, kernel, descriptor, instructions),
    ...scratchFindings(context, kernel, descriptor, instructions),
    ...limitFindings(kernel, descriptor, info),
    ...metadataFindings(kernel, descriptor, info),
  ];
}

function registerFindings(
  context: CheckContext,
  kernel: Kernel,
  descriptor: KernelDescriptor,
  instructions: readonly CodeInstruction[],
): Finding[] {
  const use = registerUse(instructions);
  const has = descriptorRegisters(descriptor);
  const accum = (descriptor.rsrc3.accumOffset + 1) * 4;
  const found: Finding[] = [];
  const { name } = kernel;
  // Metadata has the number for tools; without an entry there is nothing to change.
  const listed = (key: string, count: number): Edit[] =>
    kernel.metadata === undefined ? [] : [setMetadata(name, key, count)];
  const vectors = (count: number): Edit[] => [
    setDirective(name, '.amdhsa_next_free_vgpr', count),
    ...listed('.vgpr_count', count),
  ];
  const report = (
    rule: RuleId,
    file: string,
    at: RegisterMention | undefined,
    count: number,
    edits: readonly Edit[],
  ): void => {
    if (at === undefined) return;
    found.push(
      finding({
        rule,
        severity: 'error',
        kernel: kernel.name,
        place: placeAt(context.program, at.pc),
        registers: [at.register.text],
        message: `Kernel '${kernel.name}' uses ${at.register.text}, but its descriptor allocates only ${count} ${file}s.`,
        edits,
      }),
    );
  };
  const offset = Math.ceil(use.vgprs / 4) * 4;
  const total = offset + use.agprs;
  if (use.vgprs > has.totalVgprs || (use.vgprs > has.vgprs && use.agprs > 0)) {
    const count = use.vgprs > has.totalVgprs ? has.totalVgprs : has.vgprs;
    const edits = [...vectors(Math.max(total, has.totalVgprs)), setDirective(name, '.amdhsa_accum_offset', offset)];
    report('resources/vgprs', 'VGPR', use.highest.v, count, edits);
  } else if (use.vgprs > has.vgprs && use.highest.v !== undefined) {
    const { pc, register } = use.highest.v;
    found.push(
      finding({
        rule: 'resources/accum-offset',
        severity: 'warning',
        kernel: kernel.name,
        place: placeAt(context.program, pc),
        registers: [register.text],
        message:
          `Kernel '${kernel.name}' uses ${register.text}, where its AGPRs would start (${has.vgprs}); ` +
          'that only works as long as it uses no AGPRs.',
        // The assembler rounds the count up to 4 only when it compares, and the descriptor to its granule.
        edits: [
          ...(offset > has.totalVgprs - 4 ? vectors(has.totalVgprs) : []),
          setDirective(name, '.amdhsa_accum_offset', offset),
        ],
      }),
    );
  }
  if (use.agprs > has.agprs) {
    report('resources/agprs', 'AGPR', use.highest.a, has.agprs, vectors(accum + use.agprs));
  }
  if (use.sgprs > has.sgprs) {
    const edits = [setDirective(name, '.amdhsa_next_free_sgpr', use.sgprs), ...listed('.sgpr_count', use.sgprs)];
    report('resources/sgprs', 'SGPR', use.highest.s, has.sgprs, edits);
  }
  return found;
}

function scratchFindings(
  context: CheckContext,
  kernel: Kernel,
  descriptor: KernelDescriptor,
  instructions: readonly CodeInstruction[],
): Finding[] {
  const { privateSegmentFixedSize: size, properties } = descriptor;
  if (size > 0 || properties.usesDynamicStack !== 0) return [];
  const first = instructions.find(({ instruction }) => instruction.row.flags.has('FlatScratch'));
  if (first === undefined) return [];
  return [
    finding({
      rule: 'resources/scratch',
      severity: 'error',
      kernel: kernel.name,
      place: placeAt(context.program, first.pc),
      message: `Kernel '${kernel.name}' accesses scratch memory, but its descriptor allocates none.`,
      advice: 'Set .amdhsa_private_segment_fixed_size, .amdhsa_enable_private_segment and .private_segment_fixed_size.',
    }),
  ];
}

function limitFindings(kernel: Kernel, descriptor: KernelDescriptor, info: TargetInfo): Finding[] {
  const found: Finding[] = [];
  const { name, metadata } = kernel;
  const report = (rule: RuleId, message: string, directive: string, advice: string): void => {
    found.push(finding({ rule, severity: 'error', kernel: name, place: { directive }, message, advice }));
  };
  const lds = descriptor.groupSegmentFixedSize;
  if (lds > info.ldsBytes) {
    const message = `Kernel '${name}' asks for ${lds} bytes of LDS; ${info.name} has ${info.ldsBytes} per workgroup.`;
    const directive = '.amdhsa_group_segment_fixed_size';
    report('resources/lds', message, directive, `Set ${directive} to at most ${info.ldsBytes}.`);
  }
  const { totalVgprs } = descriptorRegisters(descriptor);
  const accum = (descriptor.rsrc3.accumOffset + 1) * 4;
  if (accum > totalVgprs) {
    const message = `The AGPRs of kernel '${name}' start at ${accum}, behind its ${totalVgprs} vector registers.`;
    const directive = '.amdhsa_accum_offset';
    report('resources/accum-offset', message, directive, `Set ${directive} to at most ${totalVgprs}.`);
  }
  const required = metadata?.reqdWorkgroupSize;
  if (required !== undefined) {
    const items = required[0] * required[1] * required[2];
    const { waves, fitting, mostVgprs } = workgroupFit(descriptor, items, info);
    if (waves > fitting) {
      const message =
        `A workgroup of ${items} work-items of kernel '${name}' cannot start: with ${totalVgprs} vector registers a ` +
        `compute unit holds ${fitting} wavefronts, the workgroup has ${waves}.`;
      const directive = '.amdhsa_next_free_vgpr';
      const advice = `Set ${directive} to at most ${mostVgprs} (VGPRs and AGPRs together).`;
      report('resources/does-not-fit', message, directive, advice);
    }
  }
  return found;
}

function metadataFindings(kernel: Kernel, descriptor: KernelDescriptor, info: TargetInfo): Finding[] {
  const { name, metadata } = kernel;
  if (metadata === undefined) return [];
  const found: Finding[] = [];
  const report = (
    message: string,
    edits: readonly Edit[],
    severity: Severity = 'warning',
    basis: Basis = 'manual',
  ): void => {
    found.push(finding({ rule: 'resources/metadata', severity, basis, kernel: name, message, edits }));
  };
  // A runtime takes segment sizes from one or the other; hand-written kernels often leave the descriptor's at zero.
  const sizes: [string, string, number, number][] = [
    [
      '.group_segment_fixed_size',
      '.amdhsa_group_segment_fixed_size',
      metadata.groupSegmentFixedSize,
      descriptor.groupSegmentFixedSize,
    ],
    [
      '.private_segment_fixed_size',
      '.amdhsa_private_segment_fixed_size',
      metadata.privateSegmentFixedSize,
      descriptor.privateSegmentFixedSize,
    ],
    ['.kernarg_segment_size', '.amdhsa_kernarg_size', metadata.kernargSegmentSize, descriptor.kernargSize],
  ];
  for (const [key, directive, listed, set] of sizes) {
    if (listed === set) continue;
    const isLeftOut = set === 0;
    report(
      `Kernel '${name}': metadata ${key} is ${listed}, the descriptor's is ${set}.`,
      // Too large a segment costs occupancy, too small a one the result.
      [setMetadata(name, key, Math.max(listed, set)), setDirective(name, directive, Math.max(listed, set))],
      isLeftOut ? 'note' : 'warning',
      isLeftOut ? 'shipped' : 'manual',
    );
  }
  const end = metadata.args.reduce((most, a) => Math.max(most, a.offset + a.size), 0);
  if (end > metadata.kernargSegmentSize) {
    const message = `Kernel '${name}': its arguments end at ${end}, behind .kernarg_segment_size ${metadata.kernargSegmentSize}.`;
    const edits = [setMetadata(name, '.kernarg_segment_size', end), setDirective(name, '.amdhsa_kernarg_size', end)];
    report(message, edits, 'error');
  }
  if (metadata.wavefrontSize !== info.wavefrontSize) {
    const message = `Kernel '${name}': .wavefront_size is ${metadata.wavefrontSize}; ${info.name} has wavefronts of ${info.wavefrontSize}.`;
    report(message, [setMetadata(name, '.wavefront_size', info.wavefrontSize)], 'error');
  }
  const { totalVgprs } = descriptorRegisters(descriptor);
  if (metadata.vgprCount > totalVgprs) {
    const message = `Kernel '${name}': .vgpr_count is ${metadata.vgprCount}, but the descriptor allocates ${totalVgprs} vector registers.`;
    report(message, [setMetadata(name, '.vgpr_count', totalVgprs)]);
  }
  return found;
}
