// Room `lsp`: what an editor needs to know about an assembly source, and the language server that tells it.
// Begin with document.ts (a source at one version), then server.ts (requests to functions).
export { completions, modifiersOf, resolveCompletion, signatureHelp } from './completion.ts';
export { registerDefinitions, registerHighlights, registerReferences } from './dataflow.ts';
export { type AnalysisOptions, analyse, analyseNow } from './diagnostics.ts';
export { SourceDocument } from './document.ts';
export { quickFixes } from './fixes.ts';
export { formatEdits } from './format.ts';
export { codeLenses, inlayHints } from './hints.ts';
export { hover } from './hover.ts';
export { Places } from './places.ts';
export { selectionRange, workspaceSymbols } from './selection.ts';
export { SEMANTIC_LEGEND, semanticTokens } from './semantic-tokens.ts';
export { type ServerHost, serve } from './server.ts';
export { applySourceEdits, type SourceEdits, sourceEdits } from './source-edits.ts';
export { definitions, documentSymbols, foldingRanges, highlights, references, rename, renameable } from './symbols.ts';
