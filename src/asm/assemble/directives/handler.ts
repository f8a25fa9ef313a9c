// What a directive is to the assembler: a function in a table.
import type { Lexer } from '../../../isa/text/lexer.ts';
import type { Assembler } from '../assembler.ts';

/** Handles one directive; the cursor is behind its name. Problems go to the lexer. */
export type DirectiveHandler = (a: Assembler, lexer: Lexer, name: string, offset: number) => void;
