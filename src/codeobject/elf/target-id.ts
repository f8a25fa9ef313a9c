// Target ids and e_flags: `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-` to and from the ELF header's fields.
// Source: LLVM's AMDGPUUsage, "Target ID" and "ELF Header"; mach numbers as llvm-readelf 22 names them.

import { WavesmithError } from '../../base/index.ts';
import { TARGET_LIST } from '../../isa/table/targets.ts';

/** EF_AMDGPU_MACH values and their processor names. */
const MACH_NAMES: ReadonlyMap<number, string> = new Map([
  [0x20, 'gfx600'],
  [0x21, 'gfx601'],
  [0x22, 'gfx700'],
  [0x23, 'gfx701'],
  [0x24, 'gfx702'],
  [0x25, 'gfx703'],
  [0x26, 'gfx704'],
  [0x28, 'gfx801'],
  [0x29, 'gfx802'],
  [0x2a, 'gfx803'],
  [0x2b, 'gfx810'],
  [0x2c, 'gfx900'],
  [0x2d, 'gfx902'],
  [0x2e, 'gfx904'],
  [0x2f, 'gfx906'],
  [0x30, 'gfx908'],
  [0x31, 'gfx909'],
  [0x32, 'gfx90c'],
  [0x33, 'gfx1010'],
  [0x34, 'gfx1011'],
  [0x35, 'gfx1012'],
  [0x36, 'gfx1030'],
  [0x37, 'gfx1031'],
  [0x38, 'gfx1032'],
  [0x39, 'gfx1033'],
  [0x3a, 'gfx602'],
  [0x3b, 'gfx705'],
  [0x3c, 'gfx805'],
  [0x3d, 'gfx1035'],
  [0x3e, 'gfx1034'],
  [0x3f, 'gfx90a'],
  [0x40, 'gfx940'],
  [0x41, 'gfx1100'],
  [0x42, 'gfx1013'],
  [0x43, 'gfx1150'],
  [0x44, 'gfx1103'],
  [0x45, 'gfx1036'],
  [0x46, 'gfx1101'],
  [0x47, 'gfx1102'],
  [0x48, 'gfx1200'],
  [0x49, 'gfx1250'],
  [0x4a, 'gfx1151'],
  [0x4b, 'gfx941'],
  [0x4c, 'gfx942'],
  [0x4e, 'gfx1201'],
  [0x4f, 'gfx950'],
  [0x51, 'gfx9-generic'],
  [0x52, 'gfx10-1-generic'],
  [0x53, 'gfx10-3-generic'],
  [0x54, 'gfx11-generic'],
  [0x55, 'gfx1152'],
  [0x58, 'gfx1153'],
  [0x59, 'gfx12-generic'],
  [0x5a, 'gfx1251'],
  [0x5f, 'gfx9-4-generic'],
]);

/** A feature setting of a target id: unset means "any" where the target supports the feature. */
export type FeatureSetting = 'unsupported' | 'any' | 'off' | 'on';

/** What a target id or an ELF header says about the processor. */
export interface TargetId {
  /** `gfx942`. */
  readonly processor: string;
  readonly xnack: FeatureSetting;
  readonly sramecc: FeatureSetting;
  /** Version of a generic target (code object v6), else 0. */
  readonly genericVersion: number;
}

const SETTINGS: readonly FeatureSetting[] = ['unsupported', 'any', 'off', 'on'];
const HSA_OS_ABI = 64;
/** The triple of HSA code objects with the empty environment, as target ids spell it. */
export const AMDHSA_TRIPLE = 'amdgcn-amd-amdhsa--';

/** EF_AMDGPU_MACH of a processor name, or undefined. */
export function machOfProcessor(processor: string): number | undefined {
  for (const [mach, name] of MACH_NAMES) if (name === processor) return mach;
  return undefined;
}

/** Processor name of e_flags, or undefined when the mach number is not known. */
export function processorOfFlags(flags: number): string | undefined {
  return MACH_NAMES.get(flags & 0xff);
}

/** Code object version of EI_ABIVERSION for the HSA OS ABI (0 is v2, 1 v3, 2 v4, 3 v5, 4 v6), or undefined. */
export function codeObjectVersion(osAbi: number, abiVersion: number): number | undefined {
  return osAbi === HSA_OS_ABI && abiVersion <= 4 ? abiVersion + 2 : undefined;
}

/** The processor and feature settings in e_flags. Code object v3 and older have one bit per feature. */
export function targetIdOfFlags(flags: number, osAbi: number, abiVersion: number): TargetId {
  const processor = processorOfFlags(flags);
  if (processor === undefined) {
    throw new WavesmithError(
      'elf/unknown-mach',
      `e_flags name an unknown processor 0x${(flags & 0xff).toString(16)}.`,
      {
        byteOffset: 48,
        hint: 'The code object is for a newer or foreign target.',
      },
    );
  }
  const version = codeObjectVersion(osAbi, abiVersion) ?? 4;
  if (version <= 3) {
    const support = featureSupport(processor);
    const setting = (bit: number, supported: boolean): FeatureSetting =>
      (flags & bit) !== 0 ? 'on' : supported ? 'off' : 'unsupported';
    return {
      processor,
      xnack: setting(0x100, support.xnack),
      sramecc: setting(0x200, support.sramecc),
      genericVersion: 0,
    };
  }
  return {
    processor,
    xnack: SETTINGS[(flags >> 8) & 3],
    sramecc: SETTINGS[(flags >> 10) & 3],
    genericVersion: version >= 6 ? flags >>> 24 : 0,
  };
}

/** e_flags of a target id for a code object version. */
export function flagsOfTargetId(id: TargetId, version: number): number {
  const mach = machOfProcessor(id.processor);
  if (mach === undefined) {
    throw new WavesmithError('target/unknown', `There is no processor '${id.processor}'.`, {
      hint: `Supported targets are ${TARGET_LIST}.`,
    });
  }
  if (version <= 3) return mach | (id.xnack === 'on' ? 0x100 : 0) | (id.sramecc === 'on' ? 0x200 : 0);
  const flags = mach | (SETTINGS.indexOf(id.xnack) << 8) | (SETTINGS.indexOf(id.sramecc) << 10);
  return version >= 6 ? (flags | (id.genericVersion << 24)) >>> 0 : flags;
}

/** Which target id features a processor supports (AMDGPUUsage, "AMDGPU Processors", GFX9 rows). */
export function featureSupport(processor: string): { xnack: boolean; sramecc: boolean } {
  const sramecc = ['gfx906', 'gfx908', 'gfx90a', 'gfx940', 'gfx941', 'gfx942', 'gfx950', 'gfx9-4-generic'];
  const xnackMore = ['gfx801', 'gfx810', 'gfx1010', 'gfx1011', 'gfx1012', 'gfx1013', 'gfx9-generic', 'gfx10-1-generic'];
  return {
    sramecc: sramecc.includes(processor),
    xnack: /^gfx9(0[0-9ac]|4[0-2]|50)$/.test(processor) || xnackMore.includes(processor) || sramecc.includes(processor),
  };
}

/** `gfx942:sramecc+:xnack-`: the processor and the features that are on or off. */
export function formatProcessorAndFeatures(id: TargetId): string {
  const feature = (name: string, setting: FeatureSetting) =>
    setting === 'on' ? `:${name}+` : setting === 'off' ? `:${name}-` : '';
  return `${id.processor}${feature('sramecc', id.sramecc)}${feature('xnack', id.xnack)}`;
}

/** `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`. */
export function formatTargetId(id: TargetId): string {
  return `${AMDHSA_TRIPLE}${formatProcessorAndFeatures(id)}`;
}

/** Parses `gfx942:sramecc+:xnack-`, with or without a triple in front (`amdgcn-amd-amdhsa--`). */
export function parseTargetId(text: string): TargetId {
  const match = /^(?:amdgcn-[^-]*-[^-]*-[^-]*-)?([a-z0-9-]+)((?::[a-z]+[+-])*)$/.exec(text);
  const fail = (why: string) =>
    new WavesmithError('target/bad-id', `'${text}' is not a target id: ${why}.`, {
      hint: "A target id looks like 'gfx942' or 'amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-'.",
    });
  if (match === null) throw fail('it does not have the form processor[:feature±]');
  const processor = match[1];
  if (machOfProcessor(processor) === undefined) throw fail(`there is no processor '${processor}'`);
  const support = featureSupport(processor);
  const settings: Record<'xnack' | 'sramecc', FeatureSetting> = {
    xnack: support.xnack ? 'any' : 'unsupported',
    sramecc: support.sramecc ? 'any' : 'unsupported',
  };
  for (const part of match[2].split(':').filter((p) => p !== '')) {
    const name = part.slice(0, -1);
    if (name !== 'xnack' && name !== 'sramecc') throw fail(`'${name}' is not a feature`);
    if (!support[name]) throw fail(`${processor} has no feature '${name}'`);
    if (settings[name] !== 'any') throw fail(`'${name}' is given twice`);
    settings[name] = part.endsWith('+') ? 'on' : 'off';
  }
  return { processor, ...settings, genericVersion: processor.endsWith('-generic') ? 1 : 0 };
}

/** True when code built for `code` runs on `device`: same processor, and no feature set the other way. */
export function isCompatible(code: TargetId, device: TargetId): boolean {
  const fits = (a: FeatureSetting, b: FeatureSetting) => a === b || a === 'any' || b === 'any' || a === 'unsupported';
  return code.processor === device.processor && fits(code.xnack, device.xnack) && fits(code.sramecc, device.sramecc);
}
