// The language server's library on mutated texts: diagnostics with their fixes, colours, outline, hover, completion, rename.
import {
  analyseNow,
  completions,
  documentSymbols,
  foldingRanges,
  hover,
  quickFixes,
  rename,
  renameable,
  SourceDocument,
  semanticTokens,
  signatureHelp,
} from '../../src/lsp/index.ts';
import assembly from './assembly.ts';
import type { FuzzTarget } from './mutate.ts';

const LIMITS = { maxOutputBytes: 1 << 20, maxExpandedCharacters: 1 << 18, maxStatements: 5000 };

const target: FuzzTarget = {
  name: 'lsp',
  seeds: () => assembly.seeds(),
  run: (bytes) => {
    const document = new SourceDocument('file:///fuzz.s', 1, new TextDecoder().decode(bytes));
    const diagnostics = analyseNow(document, { limits: LIMITS });
    quickFixes(document, diagnostics);
    semanticTokens(document);
    documentSymbols(document);
    foldingRanges(document);
    // The place depends on the input, so that every mutant asks elsewhere.
    const sum = bytes.reduce((a, b) => (a * 31 + b) % 1_000_003, 0);
    const offset = document.text.length === 0 ? 0 : sum % document.text.length;
    hover(document, offset, 'gfx942');
    completions(document, offset, 'gfx950');
    signatureHelp(document, document.position(offset), 'gfx90a');
    if (offset % 4 === 0 || renameable(document, offset) !== undefined) rename(document, offset, 'renamed');
  },
};

export default target;
