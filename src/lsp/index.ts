// The lsp layer: what an editor needs to know about a source, and a language server that answers with it.
export { completions, modifiersOf, resolveCompletion, signatureHelp } from './completion.ts';
export { type AnalysisOptions, analyse, analyseNow } from './diagnostics.ts';
export { SourceDocument } from './document.ts';
export { quickFixes } from './fixes.ts';
export { hover } from './hover.ts';
export { SEMANTIC_LEGEND, semanticTokens } from './semantic-tokens.ts';
export { type ServerHost, serve } from './server.ts';
export { definitions, documentSymbols, foldingRanges, highlights, references, rename, renameable } from './symbols.ts';
