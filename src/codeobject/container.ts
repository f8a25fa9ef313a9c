// Opens any file that holds GPU code, by its content: code objects, host ELF files with fat binaries, offload bundles,
// IREE modules and executables. The result is a tree; the leaves are code objects.
import { inFile, WavesmithError } from '../base/index.ts';
import { bundleKind, readBundle, readBundles } from './bundle.ts';
import { type CodeObject, readCodeObject } from './code-object.ts';
import { ElfMachine, isElf, readElf } from './elf/read.ts';
import { type ExecutableBlob, type ExecutableExport, executableFormat, readExecutable } from './vmfb/executable.ts';
import { isVmfb, readVmfb, type Vmfb } from './vmfb/vmfb.ts';

export type ContainerKind =
  | 'code-object'
  | 'host-elf'
  | 'fat-binary-section'
  | 'offload-bundle'
  | 'iree-module'
  | 'iree-executable'
  | 'other';

/** A node of the tree. */
export interface Container {
  readonly kind: ContainerKind;
  readonly name: string;
  /** One line about what it is: `HIP1 executable with header`, `zstd, version 2`. */
  readonly detail: string;
  readonly size: number;
  readonly children: readonly Container[];
  /** Set on `code-object` nodes. */
  readonly codeObject: CodeObject | undefined;
  /** The launch facts of an IREE executable, set on `iree-executable` nodes. */
  readonly exports: readonly ExecutableExport[];
  /** Set on `iree-module` nodes. */
  readonly module: Vmfb | undefined;
}

const MAX_DEPTH = 8;

/** Opens a file by content; `name` only labels it. Throws `container/unknown` when nothing fits. */
export function openContainer(bytes: Uint8Array, name: string): Container {
  return open(bytes, name, [], 0);
}

/** The code objects of a container, in file order. */
export function codeObjectsOf(container: Container): CodeObject[] {
  if (container.codeObject !== undefined) return [container.codeObject];
  return container.children.flatMap(codeObjectsOf);
}

function node(kind: ContainerKind, name: string, size: number, more: Partial<Container> = {}): Container {
  return { kind, name, size, detail: '', children: [], codeObject: undefined, exports: [], module: undefined, ...more };
}

function open(bytes: Uint8Array, name: string, parents: readonly string[], depth: number): Container {
  const path = [...parents, name];
  // Offsets count in the innermost file.
  return inFile(path.join(': '), () => openPath(bytes, name, path, depth));
}

function openPath(bytes: Uint8Array, name: string, path: readonly string[], depth: number): Container {
  if (depth > MAX_DEPTH) {
    throw new WavesmithError('container/depth', `Containers nest deeper than ${MAX_DEPTH}.`);
  }
  if (isElf(bytes)) return openElf(bytes, name, path, depth);
  if (bundleKind(bytes) !== undefined) return openBundle(bytes, name, path, depth);
  if (isVmfb(bytes)) return openModule(bytes, name, path);
  if (executableFormat(bytes) !== undefined) return openExecutable(readExecutable(bytes, 0), bytes.length, name, path);
  throw new WavesmithError('container/unknown', 'The file holds no GPU code that this tool knows.', {
    byteOffset: 0,
    hint: 'Give a code object (.co, .hsaco, .o), a host binary with a fat binary, an offload bundle or an IREE .vmfb.',
  });
}

function openElf(bytes: Uint8Array, name: string, path: readonly string[], depth: number): Container {
  const elf = readElf(bytes);
  if (elf.header.machine === ElfMachine.AMDGPU) {
    const codeObject = readCodeObject(bytes, path);
    return node('code-object', name, bytes.length, { detail: codeObject.targetId, codeObject });
  }
  const children: Container[] = [];
  for (const section of elf.sections) {
    if (!section.name.startsWith('.hip_fatbin') && bundleKind(section.bytes) === undefined) continue;
    const bundles = readBundles(section.bytes);
    if (bundles.length === 0) continue;
    const inner = bundles.map(({ offset, bundle }) => {
      const at = `bundle@0x${offset.toString(16)}`;
      const slice = section.bytes.subarray(offset, offset + bundle.size);
      return openBundle(slice, bundles.length === 1 ? 'bundle' : at, [...path, section.name], depth + 2);
    });
    children.push(node('fat-binary-section', section.name, section.size, { children: inner }));
  }
  if (children.length === 0) {
    throw new WavesmithError('container/no-gpu-code', 'The host ELF file has no fat binary section with GPU code.', {
      file: depth === 0 ? name : undefined,
      hint: "A HIP program keeps its GPU code in '.hip_fatbin'.",
    });
  }
  return node('host-elf', name, bytes.length, { detail: `machine ${elf.header.machine}`, children });
}

function openBundle(bytes: Uint8Array, name: string, path: readonly string[], depth: number): Container {
  const bundle = readBundle(bytes);
  const children = bundle.entries.map((entry) => {
    const isGpuCode = entry.bytes.length > 0 && (isElf(entry.bytes) || bundleKind(entry.bytes) !== undefined);
    if (!isGpuCode || entry.id.startsWith('host')) return node('other', entry.id, entry.bytes.length);
    return open(entry.bytes, entry.id, path, depth + 1);
  });
  const { compression } = bundle;
  const detail = compression === undefined ? 'plain' : `${compression.method}, version ${compression.version}`;
  return node('offload-bundle', name, bytes.length, { detail, children });
}

function openModule(bytes: Uint8Array, name: string, path: readonly string[]): Container {
  const vmfb = readVmfb(bytes);
  const children = vmfb.executables.map((executable) =>
    openExecutable(executable, executable.rodata.length, executable.name, [...path, executable.name]),
  );
  const { major, minor } = vmfb.bytecode;
  const framing = vmfb.archive === undefined ? 'without archive' : 'zip archive';
  const detail = `module '${vmfb.name}', bytecode ${major}.${minor}, ${framing}`;
  return node('iree-module', name, bytes.length, { detail, children, module: vmfb });
}

function openExecutable(blob: ExecutableBlob, size: number, name: string, path: readonly string[]): Container {
  const children = blob.images.map((image, i) => {
    const label = blob.images.length === 1 ? 'image' : `image ${i}`;
    if (!isElf(image.bytes)) return node('other', label, image.size);
    const codeObject = readCodeObject(image.bytes, [...path, label]);
    return node('code-object', label, image.size, { detail: codeObject.targetId, codeObject });
  });
  const detail = `${blob.format}${blob.format !== 'ELF' && !blob.hasHeader ? ' without header' : ''}`;
  return node('iree-executable', name, size, { detail, children, exports: blob.exports });
}
