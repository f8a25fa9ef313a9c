// Symbol names as assembler text: unique among themselves, quoted where the lexer would not read them as one name.
// Source: LLVM's AsmLexer (identifier characters) and MCSymbol::print.

/** Hands out names; a name that was taken before gets a numbered suffix. */
export class UniqueNames {
  private readonly taken = new Set<string>();
  private readonly next = new Map<string, number>();

  has(name: string): boolean {
    return this.taken.has(name);
  }

  take(name: string): string {
    let unique = name;
    let count = this.next.get(name) ?? 0;
    while (this.taken.has(unique)) unique = `${name}.${++count}`;
    this.next.set(name, count);
    this.taken.add(unique);
    return unique;
  }
}

const IDENTIFIER = /^[A-Za-z_.$][A-Za-z0-9_.$]*$/;
/** Names that the assembler reads as registers or operand keywords where an operand is expected. */
const OPERAND_WORD =
  /^(?:[asv]\d+|ttmp\d+|acc\d+|(?:vcc|exec|flat_scratch|xnack_mask|tba|tma)(?:_lo|_hi)?|m0|scc|vccz|execz|off|null|lit|lit64|abs|neg|sext|hwreg|sendmsg|src_\w+|lds_direct|pops_exiting_wave_id|shared_base|shared_limit|private_base|private_limit|[asv]|ttmp|acc|exp|mrt\w*|pos\d*|param\d*|prim)$/i;

/** The name as it stands in directives and labels: quoted when it is not an identifier. */
export function printableName(name: string): string {
  if (IDENTIFIER.test(name)) return name;
  const escaped = name.replace(/["\\]/g, (char) => `\\${char}`).replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

/** True when the printed name can stand as an instruction operand. */
export function isOperandName(printed: string): boolean {
  return !OPERAND_WORD.test(printed) && printed !== '.';
}
