// A code object that the HSA runtime has loaded.
import { WavesmithError } from '../../base/index.ts';
import { type CodeObject, KERNEL_DESCRIPTOR_SIZE } from '../../codeobject/index.ts';
import type { TargetName } from '../../isa/types.ts';
import { describeKernel } from '../checks.ts';
import type { DeviceKernel, DeviceModule, DeviceVariable } from '../device.ts';
import { imageSize } from '../image.ts';

/** STT_OBJECT */
const SYMBOL_OBJECT = 1;

/** A kernel with what a packet needs. */
export interface RocmKernel extends DeviceKernel {
  readonly kernelObject: number;
  readonly module: RocmModule;
}

/** Whether a kernel is one of a GPU. */
export const isRocmKernel = (kernel: DeviceKernel): kernel is RocmKernel =>
  'module' in kernel && kernel.module instanceof RocmModule;

export class RocmModule implements DeviceModule {
  readonly target: TargetName;
  readonly address: number;
  readonly size: number;
  readonly variables: readonly DeviceVariable[];
  readonly kernels: readonly RocmKernel[];
  /** The device that loaded it. */
  readonly owner: object;
  private readonly release: () => void;
  private isLoaded = true;
  /** Dispatches that were asked for and have not ended. */
  private users = 0;

  constructor(owner: object, target: TargetName, object: CodeObject, delta: number, release: () => void) {
    this.owner = owner;
    this.target = target;
    this.address = delta;
    this.release = release;
    this.size = imageSize(object.elf);
    this.kernels = object.kernels.flatMap(({ name, descriptor, descriptorSymbol, metadata }): RocmKernel[] => {
      const offset = Number(descriptorSymbol?.value ?? -1n);
      if (descriptor === undefined || !(offset >= 0 && offset + KERNEL_DESCRIPTOR_SIZE <= this.size)) return [];
      return [{ ...describeKernel(name, metadata, descriptor), kernelObject: delta + offset, module: this }];
    });
    this.variables = object.elf.symbols
      .filter((s) => s.type === SYMBOL_OBJECT && s.sectionIndex !== 0 && !s.name.endsWith('.kd'))
      .map((s) => ({ name: s.name, address: delta + Number(s.value), size: Number(s.size) }));
  }

  kernel(name: string): RocmKernel {
    const found = this.kernels.find((k) => k.name === name);
    if (found !== undefined) return found;
    const names = this.kernels.map((k) => k.name);
    throw new WavesmithError('device/no-such-kernel', `The code object has no kernel '${name}'.`, {
      hint: names.length === 0 ? 'It has no kernels at all.' : `It has: ${names.slice(0, 20).join(', ')}.`,
    });
  }

  isLoadedOn(owner: object): boolean {
    return this.isLoaded && this.owner === owner;
  }
  /** Keeps the code loaded until `drop`, also when the module is unloaded in between. */
  hold(): void {
    this.users++;
  }
  drop(): void {
    this.users--;
    if (!this.isLoaded && this.users === 0) this.release();
  }
  unload(): void {
    if (this.isLoaded && this.users === 0) this.release();
    this.isLoaded = false;
  }
}
