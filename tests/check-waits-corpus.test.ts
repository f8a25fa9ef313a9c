// The wait and control flow rules on code that ships: compilers' output has no finding; hand-written kernels have errors only where
// the result of a load is used with no wait that covers it (none at all, or a count that is too high). These rely on timing.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkControlFlow, checkWaits, type Finding } from '../src/check/index.ts';
import { type CodeObject, codeObjectsOf, openContainer } from '../src/codeobject/index.ts';
import { liftCodeObject, type Program } from '../src/program/index.ts';
import { compileExample, hasLlvm } from './support/build.ts';
import { sharedPath } from './support/shared.ts';
import { witness } from './support/wait-witness.ts';

function findingsOf(codeObject: CodeObject): Finding[] {
  const program = liftCodeObject(codeObject);
  return program.functions.flatMap((subject) => {
    const context = {
      target: program.target,
      codeObject,
      program,
      subject,
      kernel: subject.kernel,
      baseline: undefined,
    };
    return [...checkControlFlow(context), ...checkWaits(context)];
  });
}

function findingsIn(bytes: Uint8Array, name: string): Finding[] {
  return codeObjectsOf(openContainer(bytes, name)).flatMap(findingsOf);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && /\.(co|hsaco)$/.test(path))
    .sort();
}

/** Why reports in a hand-written kernel stand. The manual: s_waitcnt n goes on when at most n operations are outstanding. */
const NO_WAIT = 'no s_waitcnt of the counter lies between the operation and the use';
const TOO_MANY = 'the only waits on the way allow as many operations as are outstanding, so they wait for nothing';

/**
 * Hand-written kernels whose errors stand: [file, errors, argument]. Every error is proved again along its path by `witness`, which
 * shares no code with the checker's data flow. docs/check/shipped-kernels.md shows the instructions.
 */
const STANDING: readonly (readonly [string, number, string])[] = [
  ['gfx942/fmha_v3_bwd_bwd_hd192_dq_convert_fp16.co', 24, NO_WAIT],
  ['gfx942/fmoe_fmoe_fp8_blockscale_g1u1_novs_subGU_256.co', 28, NO_WAIT],
  ['gfx942/pa_pa_bf16_noquant_gqa8_1tg_4w_mtp_msk0.co', 12, TOO_MANY],
  ['gfx942/pa_pa_fp16_pertokenFp8_gqa16_1tg_4w_mtp_msk1.co', 144, NO_WAIT],
  ['gfx950/fmha_v3_fwd_fwd_hd256_fp8.co', 256, TOO_MANY],
  ['gfx950/fmha_v4_fwd_fwd_hd128_f6f4.co', 138, TOO_MANY],
  ['gfx950/fmoe_fmoe_fp8_blockscale_g1u1_novs_subGU_256.co', 28, NO_WAIT],
  ['gfx950/fmoe_gelu_fmoe_bf16_pertokenFp8_g1u1_tkw1_gelu_1tg_32x64.co', 1, NO_WAIT],
  ['gfx950/fmoe_silu_fmoe_bf16_pertokenFp8_g1u1_tkw1_silu_1tg_32x64.co', 1, NO_WAIT],
  ['gfx950/mla_mla_a16w16_qh32_qseqlen4_gqaratio32_cprr_ps.co', 8, NO_WAIT],
  ['gfx950/mla_mla_a8w8_qh16_qseqlen1_gqaratio16.co', 16, TOO_MANY],
  ['gfx950/mla_v4_mla_a8w8_qh64_qseqlen1_gqaratio64_nm.co', 12, TOO_MANY],
  ['gfx950/pa_pa_bf16_pertokenFp8_gqa8_1tg_4w_mtp_msk1.co', 48, NO_WAIT],
  ['gfx950/pa_pa_bf16_pertokenInt8_gqa16_1tg_4w_mtp_msk1.co', 144, NO_WAIT],
];

const corpus = sharedPath('corpus');
const module_ = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');

describe('code that ships', () => {
  test.skipIf(!hasLlvm())('clang output has no finding', () => {
    for (const name of ['saxpy', 'reduction', 'transpose', 'histogram']) {
      for (const level of [0, 2]) {
        const bytes = compileExample(join(import.meta.dirname, '..', 'examples', `${name}.c`), 'gfx950', level);
        expect(findingsIn(bytes, name), `${name} -O${level}`).toEqual([]);
      }
    }
  });

  test.skipIf(corpus === undefined)('Triton kernels have no finding', () => {
    const files = filesIn(join(corpus as string, 'triton'));
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) expect(findingsIn(readFileSync(file), file), file).toEqual([]);
  });

  test.skipIf(module_ === undefined)('an IREE module has no finding', () => {
    expect(findingsIn(readFileSync(module_ as string), 'module')).toEqual([]);
  });

  test.skipIf(corpus === undefined)('hand-written kernels have errors only where waits are missing', () => {
    const wrong: (readonly [string, number, string])[] = [];
    for (const target of ['gfx90a', 'gfx942', 'gfx950']) {
      for (const file of filesIn(join(corpus as string, target))) {
        const argumentsFor = new Set<string>();
        let errors = 0;
        for (const codeObject of codeObjectsOf(openContainer(readFileSync(file), file))) {
          const program = liftCodeObject(codeObject);
          for (const f of findingsOf(codeObject)) {
            if (f.severity !== 'error') continue;
            errors++;
            argumentsFor.add(standingArgument(program, f));
          }
        }
        if (errors > 0) wrong.push([file.slice((corpus as string).length + 1), errors, [...argumentsFor].join(', ')]);
      }
    }
    expect(wrong).toEqual(STANDING);
  });
});

/** Walks the path of an error again; what the waits on it say. Throws when the path does not show what the checker says. */
function standingArgument(program: Program, f: Finding): string {
  const operation = program.at(f.related[0]?.place.pc ?? -1);
  const user = program.at(f.place.pc ?? -1);
  if (operation === undefined || user === undefined) throw new Error(f.message);
  const { waits, isProvedElsewhere } = witness(program, operation, user);
  if (waits === undefined || isProvedElsewhere) throw new Error(`not shown: ${f.message}`);
  return waits.length === 0 ? NO_WAIT : TOO_MANY;
}
