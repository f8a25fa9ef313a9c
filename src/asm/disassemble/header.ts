// What the ELF header of a code object says: target, target id and version, checked to be something that can be disassembled.
// Source: AMDGPUUsage, "ELF Code Object".

import { WavesmithError } from '../../base/index.ts';
import {
  codeObjectVersion,
  type ElfFile,
  ElfMachine,
  ElfType,
  type TargetId,
  targetIdOfFlags,
} from '../../codeobject/index.ts';
import { isTargetName, TARGET_LIST } from '../../isa/table/targets.ts';
import type { TargetName } from '../../isa/types.ts';

/** What the ELF header says, checked to be something that can be disassembled. */
export interface CodeObjectHeader {
  readonly target: TargetName;
  readonly id: TargetId;
  readonly version: number;
}

/** Reads the ELF header and refuses what cannot be disassembled. */
export function readHeader(elf: ElfFile): CodeObjectHeader {
  const { machine, type, flags, osAbi, abiVersion } = elf.header;
  const fail = (code: string, message: string, byteOffset: number, hint?: string) =>
    new WavesmithError(code, message, { byteOffset, hint });
  if (machine !== ElfMachine.AMDGPU) {
    throw fail('disasm/not-amdgpu', `The ELF file is for machine ${machine}, not for AMDGPU.`, 18);
  }
  if (type !== ElfType.DYN && type !== ElfType.REL && type !== ElfType.EXEC) {
    throw fail('disasm/file-type', `An ELF file of type ${type} cannot be disassembled.`, 16);
  }
  const version = codeObjectVersion(osAbi, abiVersion);
  if (version === undefined || version < 3) {
    throw fail('disasm/version', `Code object version ${version ?? '?'} (OS ABI ${osAbi}) is not supported.`, 7);
  }
  const id = targetIdOfFlags(flags, osAbi, abiVersion);
  if (!isTargetName(id.processor)) {
    throw fail(
      'disasm/target',
      `There is no instruction table for ${id.processor}.`,
      48,
      `Supported targets are ${TARGET_LIST}.`,
    );
  }
  if (elf.sections.length === 0) {
    throw fail(
      'disasm/no-sections',
      'The code object has no section headers.',
      40,
      'Use the file before it was stripped of them.',
    );
  }
  return { target: id.processor, id, version };
}
