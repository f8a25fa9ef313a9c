// Convolutions that IREE 3.13 compiles to wrong kernels: its implicit GEMM takes the order of the reduced dimensions from the image
// and reads filters of another order (channels first beside channels last) as if they had it. Measured: of 32 modules of all
// layouts of image, filters and result the 12 whose dispatch had two orders were wrong, and right without implicit GEMM.
// Related: iree-org/iree#20473, #20511.

/** The flag that makes them right, at the price of the matrix instructions. */
export const WITHOUT_IMPLICIT_GEMM = '--iree-codegen-llvmgpu-use-igemm=false';

/** The results of an `affine_map<(…) -> (results)>`. */
const resultsOf = (map: string): string[] =>
  (/->\s*\(([^)]*)\)/.exec(map)?.[1] ?? '').split(',').map((result) => result.trim());

const loopsOf = (result: string): string[] => result.match(/\bd\d+\b/g) ?? [];

/** The reduced loops of an operand in the order of its dimensions. */
function reducedLoops(results: readonly string[], kept: ReadonlySet<string>): string[] {
  return results.flatMap((result) => loopsOf(result).filter((loop) => !kept.has(loop)));
}

/** True when a `linalg.generic` of a dispatch's source is a convolution whose image and filters are reduced in two orders. */
export function hasTwoOrders(source: string): boolean {
  const aliases = new Map<string, string>();
  for (const [, name, map] of source.matchAll(/^(#\w+) = (affine_map<[^>]*>\s*[^\n]*)$/gm)) aliases.set(name, map);
  for (const [, list] of source.matchAll(/\bindexing_maps = \[([^\]]*)\]/g)) {
    const maps = (list.match(/affine_map<\([^)]*\) -> \([^)]*\)>|#\w+/g) ?? []).map((map) => aliases.get(map) ?? map);
    if (maps.length < 3) continue;
    const [image, filters] = maps.map(resultsOf);
    const kept = new Set((resultsOf(maps[maps.length - 1]) ?? []).flatMap(loopsOf));
    // A convolution's image is read at sums of a kept and a reduced loop.
    const isWindowed = image.some((result) => loopsOf(result).length > 1);
    const orders = [image, filters].map((results) => reducedLoops(results, kept));
    const isSame = orders[0].length === orders[1].length && orders[0].every((loop, i) => loop === orders[1][i]);
    if (isWindowed && orders[1].length > 1 && !isSame) return true;
  }
  return false;
}
