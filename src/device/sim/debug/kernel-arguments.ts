// Arguments of the kernel as its source declares them: with its names and types where there is debug information.
import type { Wave } from '../state/wave.ts';
import { littleEndian } from './place-bytes.ts';
import type { ScopeSource } from './scope-source.ts';
import type { DebuggedArgument } from './stop.ts';
import type { ShownVariable } from './typed.ts';

const POINTER_BYTES = 8;

/** What is said of a parameter's value that the compiler keeps nowhere: the code may have changed it since. */
const AT_THE_CALL = 'as the kernel was called';
/** Why such a parameter cannot be set. */
const NOWHERE = 'the compiler keeps it nowhere here';

function bytesOf({ address, bytes }: DebuggedArgument): Uint8Array | undefined {
  return address === undefined ? bytes : littleEndian(BigInt(address), POINTER_BYTES);
}

/** Arguments with their types, as they were given; undefined where the source does not describe the same ones. */
export function kernelParameters(w: Wave | undefined, lane: number, source: ScopeSource): ShownVariable[] | undefined {
  const { info, kernelAt } = source;
  const described = kernelAt === undefined ? [] : (info?.parameters(kernelAt) ?? []);
  const given = source.arguments();
  if (given.length === 0 || described.length !== given.length) return undefined;
  const load = source.loadAs(w);
  const all = described.map(({ name, type }, i): ShownVariable => {
    const bytes = bytesOf(given[i] as DebuggedArgument);
    const why = 'it is an argument of the dispatch';
    return { name, kind: 'parameter', type, bytes, why, home: undefined, wave: w, lane, load };
  });
  return all.every(({ type, bytes }) => bytes?.length === type.bytes) ? all : undefined;
}

/** The value that a parameter of the kernel was given, for one that the compiler keeps nowhere at an address of the kernel's own code. */
export function asCalled(
  name: string,
  pc: number,
  inlined: number,
  w: Wave,
  lane: number,
  source: ScopeSource,
): ShownVariable | undefined {
  const { info, kernelAt } = source;
  const own = kernelAt === undefined ? undefined : info?.frames(kernelAt).at(-1)?.key;
  if (own === undefined || info?.frames(pc)[inlined]?.key !== own) return undefined;
  const found = kernelParameters(w, lane, source)?.find((one) => one.name === name);
  return found && { ...found, why: NOWHERE, note: AT_THE_CALL };
}
