// `wavesmith inspect FILE`: what a file holds: containers, code objects, kernels, arguments, resources, occupancy.

import { basename } from 'node:path';
import {
  type CodeObjectReport,
  type ContainerReport,
  codeObjectsOf,
  elfText,
  type InspectReport,
  inspectFile,
  isElf,
  type KernelReport,
  openContainer,
  readElf,
} from '../codeobject/index.ts';
import { readCodeInput } from './read-code-input.ts';
import { newCommand, parseArguments, printJson } from './support.ts';

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('inspect', 'Show what a file with GPU code holds.')
    .argument('<file>', 'code object, host binary, offload bundle, IREE module (- for standard input)')
    .option('--json', 'print everything as JSON')
    .option('--elf', 'print ELF header, sections, segments, symbols, relocations and notes like llvm-readelf')
    .option('--kernel <name>', 'show only the kernel with this name');
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<{ json?: boolean; elf?: boolean; kernel?: string }>();
  const file = command.args[0];
  const bytes = readCodeInput(file);
  if (options.elf) {
    process.stdout.write(elfReport(bytes, basename(file)));
    return 0;
  }
  const report = inspectFile(bytes, basename(file));
  const shown = options.kernel === undefined ? report : onlyKernel(report, options.kernel);
  if (options.json) printJson(shown);
  else process.stdout.write(inspectText(shown));
  return 0;
}

function onlyKernel(report: InspectReport, name: string): InspectReport {
  const codeObjects = report.codeObjects
    .map((object) => ({ ...object, kernels: object.kernels.filter((kernel) => kernel.name === name) }))
    .filter((object) => object.kernels.length > 0);
  return { ...report, codeObjects, dispatches: report.dispatches.filter((d) => d.kernelName === name) };
}

/** ELF files are shown as they are, host binaries too; for other containers each code object in turn. */
function elfReport(bytes: Uint8Array, name: string): string {
  if (isElf(bytes)) return elfText(readElf(bytes));
  return codeObjectsOf(openContainer(bytes, name))
    .map((object) => `File: ${object.path.join(' / ')}\n${elfText(object.elf)}`)
    .join('\n');
}

/** The report as text. */
export function inspectText(report: InspectReport): string {
  const lines: string[] = [];
  treeLines(report.container, 0, lines);
  if (report.dispatchesError !== undefined) lines.push(`  (grids are not shown: ${report.dispatchesError})`);
  for (const object of report.codeObjects) codeObjectLines(object, report, lines);
  return `${lines.join('\n')}\n`;
}

function treeLines(node: ContainerReport, depth: number, lines: string[]): void {
  const detail = node.detail === '' ? '' : `, ${node.detail}`;
  lines.push(`${'  '.repeat(depth)}${node.name}: ${node.kind.replaceAll('-', ' ')}${detail}, ${bytesText(node.size)}`);
  for (const child of node.children) treeLines(child, depth + 1, lines);
}

function bytesText(count: number): string {
  return `${count} ${count === 1 ? 'byte' : 'bytes'}`;
}

function codeObjectLines(object: CodeObjectReport, report: InspectReport, lines: string[]): void {
  const version = object.codeObjectVersion === undefined ? '' : `, code object v${object.codeObjectVersion}`;
  const count = `${object.kernels.length} ${object.kernels.length === 1 ? 'kernel' : 'kernels'}`;
  const linked = object.relocatable ? ', relocatable' : '';
  lines.push('', object.path.slice(1).join(' / ') || object.path[0]);
  lines.push(`  ${object.targetId}${version}${linked}, .text ${bytesText(object.textSize)}, ${count}`);
  for (const kernel of object.kernels) kernelLines(kernel, gridsOf(report, kernel.name), lines);
}

/** The different grids of a kernel's dispatches; `?` where the host program computes a count. */
function gridsOf(report: InspectReport, kernel: string): string[] {
  const mine = report.dispatches.filter((d) => d.kernelName === kernel);
  return [...new Set(mine.map((d) => d.workgroupCount.map((count) => count ?? '?').join(' x ')))];
}

function kernelLines(kernel: KernelReport, grids: readonly string[], lines: string[]): void {
  const place = kernel.entry === undefined ? '' : ` at 0x${kernel.entry.toString(16)}`;
  const size = kernel.codeSize > 0 ? `${bytesText(kernel.codeSize)} of code` : 'code';
  lines.push('', `  ${kernel.name}`, `    code        ${size}${place}`);
  const counts = [
    `VGPR ${kernel.vgprCount ?? '?'}`,
    `AGPR ${kernel.agprCount ?? '?'}`,
    `SGPR ${kernel.sgprCount ?? '?'}`,
  ];
  const a = kernel.allocated;
  const allocated = a === undefined ? '' : ` (allocated: ${a.vgprs} VGPR + ${a.agprs} AGPR, ${a.sgprs} SGPR)`;
  lines.push(`    registers   ${counts.join(', ')}${allocated}`);
  if ((kernel.vgprSpillCount ?? 0) + (kernel.sgprSpillCount ?? 0) > 0) {
    lines.push(`    spills      VGPR ${kernel.vgprSpillCount ?? 0}, SGPR ${kernel.sgprSpillCount ?? 0}`);
  }
  const stack = kernel.usesDynamicStack ? ' and a dynamic stack' : '';
  lines.push(
    `    memory      LDS ${kernel.ldsBytes} B, scratch ${kernel.scratchBytes} B${stack}, kernarg ${kernel.kernargBytes} B`,
  );
  if (kernel.kernargPreload.length > 0) {
    lines.push(`    preload     ${kernel.kernargPreload.length} dwords of kernarg in SGPRs`);
  }
  const required = kernel.requiredWorkgroupSize;
  const workgroup =
    required === undefined ? `up to ${kernel.maxWorkgroupSize ?? '?'}` : `${required.join(' x ')} (required)`;
  lines.push(`    workgroup   ${workgroup}, wave${kernel.wavefrontSize}`);
  const o = kernel.occupancy;
  if (o !== undefined) {
    const limit = o.limiters.length === 0 ? 'full' : `limited by ${o.limiters.join(' and ')}`;
    lines.push(`    occupancy   ${o.wavesPerSimd} of ${o.maxWavesPerSimd} waves per SIMD, ${limit}`);
  }
  if (kernel.iree !== undefined) {
    const { bindingFlags, constantCount, source } = kernel.iree;
    const from = source === undefined ? '' : `, from ${source.file}:${source.line}`;
    lines.push(`    iree        ${bindingFlags.length} bindings, ${constantCount} constants${from}`);
  }
  if (grids.length > 0) lines.push(`    grid        ${grids.join(', ')} workgroups`);
  if (kernel.arguments.length === 0) return;
  lines.push('    arguments   offset  size  kind');
  for (const arg of kernel.arguments) {
    const kind = arg.addressSpace === undefined ? arg.kind : `${arg.kind} (${arg.addressSpace})`;
    const name = [arg.typeName, arg.name].filter((part) => part !== undefined).join(' ');
    lines.push(
      `                ${String(arg.offset).padStart(6)}  ${String(arg.size).padStart(4)}  ${kind}${name === '' ? '' : `  ${name}`}`,
    );
  }
}
