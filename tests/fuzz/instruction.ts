// Fuzz target: one instruction of assembly text, for each target in turn; accepted instructions must encode and print.
import { WavesmithError } from '../../src/base/index.ts';
import { encode } from '../../src/isa/codec/encode.ts';
import { parseInstruction } from '../../src/isa/parse/parse.ts';
import { printInstruction } from '../../src/isa/print/print.ts';
import { TARGET_NAMES } from '../../src/isa/table/target-names.ts';
import { Lexer, textFromBytes } from '../../src/isa/text/lexer.ts';

const LINES = [
  'v_add_f32_e64 v0, -|v1|, neg(abs(s2)) clamp mul:2',
  's_waitcnt vmcnt(0) & lgkmcnt(1+2*3)',
  'v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[6:7], a[x+1:3] cbsz:1 abid:2 blgp:3',
  'buffer_load_dword v0, v1, s[0:3], [s4] offen offset:4095 glc slc',
  'v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0x1 bound_ctrl:0',
  'v_add_u16_sdwa v0, sext(v1), v2 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD',
  's_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 32)',
  's_sendmsg sendmsg(MSG_GS, GS_OP_EMIT, 0)',
  'ds_swizzle_b32 v0, v1 offset:swizzle(BITMASK_PERM,"00p1i")',
  'tbuffer_load_format_x v0, off, s[4:7], s1 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] offset:8',
  's_mov_b32 s0, max(1,2,alignto(5,4))+sym@rel32@lo-0x1.8p3',
  's_mov_b64 [s0,s1], lit(0x7fffffffffffffff)',
];

export default {
  name: 'instruction',
  seeds: () => LINES.map((line) => new TextEncoder().encode(`${line}\n`)),
  run(bytes: Uint8Array): void {
    const lexer = new Lexer(textFromBytes(bytes));
    const target = TARGET_NAMES[bytes.length % TARGET_NAMES.length] ?? 'gfx942';
    let accepted = 0;
    while (lexer.nextStatement()) {
      const parsed = parseInstruction(lexer, {
        target,
        xnack: false,
        constant: (name) => (name === 'x' ? 1n : undefined),
        here: () => '.Ltmp0',
        numericLabel: (label, direction) => (direction === 'f' ? `.L${label}` : undefined),
      });
      if (parsed === undefined) continue;
      encode(parsed.instruction);
      printInstruction(target, parsed.instruction);
      accepted++;
    }
    const [first] = lexer.diagnostics;
    if (accepted === 0 && first !== undefined) throw new WavesmithError('asm/syntax', first.message);
  },
};
