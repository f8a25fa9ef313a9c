// The language server: connects the protocol's requests to the library. Transport and files come from the host, so it runs
// wherever a connection does. Source: LSP 3.18.
import type {
  CancellationToken,
  Connection,
  InitializeParams,
  InitializeResult,
  TextDocumentPositionParams,
} from 'vscode-languageserver';
import {
  CodeActionKind,
  DidChangeConfigurationNotification,
  ErrorCodes,
  LSPErrorCodes,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { WavesmithError } from '../base/index.ts';
import { DEFAULT_TARGET, TARGET_LIST } from '../isa/table/targets.ts';
import { codeOf } from './code.ts';
import { completions, resolveCompletion, signatureHelp } from './completion.ts';
import { registerDefinitions, registerHighlights, registerReferences } from './dataflow.ts';
import { type AnalysisOptions, analyse, analyseNow } from './diagnostics.ts';
import { isSupportedTarget, SourceDocument } from './document.ts';
import { quickFixes } from './fixes.ts';
import { formatEdits } from './format.ts';
import { codeLenses, inlayHints } from './hints.ts';
import { hover } from './hover.ts';
import { proofLenses, proofUri, resolveProof } from './proof-lens.ts';
import { selectionRange, workspaceSymbols } from './selection.ts';
import { SEMANTIC_LEGEND, semanticTokens } from './semantic-tokens.ts';
import { definitions, documentSymbols, foldingRanges, highlights, references, rename, renameable } from './symbols.ts';

/** What the server needs from the machine it runs on. */
export interface ServerHost {
  readonly version: string;
  /** Content of a file that a source includes, undefined when there is none. */
  readFile(uri: string, name: string): Uint8Array | undefined;
  /** Address of a rule's page, undefined when it has none. */
  rulePage(rule: string): string | undefined;
}

/** Settings, from `initializationOptions` or the configuration section `wavesmith`. */
interface Settings {
  /** Target id for sources without `.amdgcn_target`. */
  readonly target?: string | undefined;
  readonly check: boolean;
  readonly notes: boolean;
  /** Live registers behind each line, as inlay hints. */
  readonly pressure: boolean;
  /** Whether edited kernels are still the same functions, as lenses. */
  readonly prove: boolean;
  readonly defines: Readonly<Record<string, bigint>>;
}

/**
 * Pause after a keystroke before diagnostics are computed, ms: a quarter of the time they took last, between these. Analyses stop for a
 * newer version, so a short pause costs no more than one stage. Measured: 61 ms of processor time for 10,000 lines.
 */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1500;

/** A kernel that is analysed once at the start, so that the first keystroke finds tables and code warm. */
const WARM_UP = `.amdgcn_target "amdgcn-amd-amdhsa--${DEFAULT_TARGET}"
.globl k
.p2align 8
.type k,@function
k: s_load_dwordx2 s[0:1], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
global_load_dword v1, v0, s[0:1]
s_waitcnt vmcnt(0)
v_add_f32 v1, v1, v1
s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
.amdhsa_next_free_vgpr 2
.amdhsa_next_free_sgpr 2
.amdhsa_accum_offset 4
.end_amdhsa_kernel
`;

/** Reads settings of any shape; what is wrong is left out and told. */
function readSettings(value: unknown, tell: (message: string) => void): Settings {
  const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  let target: string | undefined;
  if (typeof given.target === 'string' && given.target !== '') {
    if (isSupportedTarget(given.target)) target = given.target;
    else
      tell(
        `wavesmith.target '${given.target}' is not supported. Supported targets are ${TARGET_LIST}, with features if needed.`,
      );
  }
  const defines: Record<string, bigint> = {};
  if (typeof given.defines === 'object' && given.defines !== null) {
    for (const [name, number] of Object.entries(given.defines)) {
      if (typeof number === 'number' && Number.isSafeInteger(number)) defines[name] = BigInt(number);
      else tell(`wavesmith.defines: '${name}' is not an integer.`);
    }
  }
  const { check, notes, pressure, prove } = given;
  return {
    target,
    check: check !== false,
    notes: notes === true,
    pressure: pressure !== false,
    prove: prove !== false,
    defines,
  };
}

/** State of one diagnosed source. */
interface Work {
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts requests for diagnostics; a run whose number is not the newest stops. */
  run: number;
  lastMs: number;
}

/** Lets messages that wait be handled. */
const breathe = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

/** Serves a connection until it ends. */
export function serve(connection: Connection, host: ServerHost): void {
  const documents = new TextDocuments(TextDocument);
  const sources = new Map<string, SourceDocument>();
  const works = new Map<string, Work>();
  /** Sources that were analysed for a request. */
  const analysed = new WeakSet<SourceDocument>();
  let settings = readSettings(undefined, () => {});
  let canPull = false;
  let canRegister = false;

  const tell = (message: string): void => connection.console.warn(message);

  /** The source behind a uri at its newest version. */
  const source = (uri: string): SourceDocument | undefined => {
    const open = documents.get(uri);
    if (open === undefined) return undefined;
    let known = sources.get(uri);
    if (known === undefined || known.version !== open.version) {
      known = new SourceDocument(uri, open.version, open.getText());
      sources.set(uri, known);
    }
    return known;
  };

  const optionsFor = (uri: string): AnalysisOptions => ({
    target: settings.target,
    check: settings.check,
    notes: settings.notes,
    defines: settings.defines,
    readFile: (name) => host.readFile(uri, name),
    rulePage: (rule) => host.rulePage(rule),
  });

  // ── diagnostics ─────────────────────────────────────────────────────────────────────────────────────────────────────

  const diagnose = async (uri: string, work: Work): Promise<void> => {
    const document = source(uri);
    if (document === undefined) return;
    const run = ++work.run;
    let busy = 0;
    try {
      const stages = analyse(document, optionsFor(uri));
      for (;;) {
        const from = performance.now();
        const { done, value } = stages.next();
        busy += performance.now() - from;
        if (done === true) {
          connection.sendDiagnostics({ uri, version: document.version, diagnostics: value });
          break;
        }
        await breathe();
        if (work.run !== run || source(uri) !== document) return;
      }
      work.lastMs = busy;
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      connection.console.error(`The analysis of ${uri} failed: ${text}`);
      const message = `Internal error in the analysis: ${error instanceof Error ? error.message : String(error)}`;
      const diagnostic = { range: document.range(0, 0), message, source: 'wavesmith', code: 'lsp/internal' };
      connection.sendDiagnostics({ uri, version: document.version, diagnostics: [diagnostic] });
    }
  };

  const schedule = (uri: string, pause?: number): void => {
    let work = works.get(uri);
    if (work === undefined) {
      work = { timer: undefined, run: 0, lastMs: 0 };
      works.set(uri, work);
    }
    const current = work;
    current.run++;
    clearTimeout(current.timer);
    const delay = pause ?? Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, current.lastMs / 4));
    current.timer = setTimeout(() => void diagnose(uri, current), delay);
  };

  /** Each source as it was opened. */
  const opened = new Map<string, SourceDocument>();
  documents.onDidChangeContent(({ document }) => {
    const isNew = !opened.has(document.uri);
    if (isNew) opened.set(document.uri, new SourceDocument(document.uri, document.version, document.getText()));
    schedule(document.uri, isNew ? 0 : undefined);
  });
  documents.onDidClose(({ document: { uri } }) => {
    opened.delete(uri);
    sources.delete(uri);
    const work = works.get(uri);
    if (work !== undefined) {
      work.run++;
      clearTimeout(work.timer);
      works.delete(uri);
    }
    connection.sendDiagnostics({ uri, diagnostics: [] });
  });

  // ── life ────────────────────────────────────────────────────────────────────────────────────────────────────────────

  const configure = (value: unknown): void => {
    settings = readSettings(value, tell);
    for (const uri of documents.keys()) schedule(uri, 0);
  };

  connection.onInitialize((params: InitializeParams): InitializeResult => {
    const { workspace } = params.capabilities;
    canPull = workspace?.configuration === true;
    canRegister = workspace?.didChangeConfiguration?.dynamicRegistration === true;
    settings = readSettings(params.initializationOptions, tell);
    return {
      serverInfo: { name: 'wavesmith', version: host.version },
      capabilities: {
        positionEncoding: 'utf-16',
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        documentHighlightProvider: true,
        documentSymbolProvider: true,
        renameProvider: { prepareProvider: true },
        foldingRangeProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
        completionProvider: { resolveProvider: true, triggerCharacters: ['.', '[', ':', '(', '@'] },
        signatureHelpProvider: { triggerCharacters: [' ', ','] },
        inlayHintProvider: true,
        codeLensProvider: { resolveProvider: true },
        documentFormattingProvider: true,
        documentRangeFormattingProvider: true,
        selectionRangeProvider: true,
        workspaceSymbolProvider: true,
        semanticTokensProvider: { legend: SEMANTIC_LEGEND, full: true, range: true },
      },
    };
  });

  const pull = async (): Promise<void> => {
    if (canPull) configure(await connection.workspace.getConfiguration('wavesmith'));
  };

  connection.onInitialized(async () => {
    if (canRegister)
      await connection.client.register(DidChangeConfigurationNotification.type, { section: 'wavesmith' });
    if (canPull) {
      const value: unknown = await connection.workspace.getConfiguration('wavesmith');
      if (typeof value === 'object' && value !== null) configure(value);
    }
    const document = new SourceDocument('warm-up:', 0, WARM_UP);
    analyseNow(document);
  });
  connection.onDidChangeConfiguration(async ({ settings: sent }) => {
    if (canPull) return pull();
    configure(typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>).wavesmith : undefined);
  });

  // ── requests ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Answers with a source; `undefined` becomes null; what the user did wrong becomes an error with its sentence. */
  const answer = <P extends { readonly textDocument: { readonly uri: string } }, R>(
    handler: (document: SourceDocument, params: P) => R | undefined,
  ) => {
    return (params: P, token: CancellationToken): R | null | ResponseError<void> => {
      if (token.isCancellationRequested) return new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled');
      const document = source(params.textDocument.uri);
      if (document === undefined) return null;
      try {
        return handler(document, params) ?? null;
      } catch (error) {
        if (!(error instanceof WavesmithError)) throw error;
        return new ResponseError(ErrorCodes.InvalidParams, error.message);
      }
    };
  };
  const at = (document: SourceDocument, { position }: TextDocumentPositionParams): number => document.offset(position);
  /** With its code known, when it assembles: a request may come before the diagnostics of a version. */
  const withCode = (document: SourceDocument): SourceDocument => {
    if (codeOf(document) === undefined && !analysed.has(document)) {
      analysed.add(document);
      analyseNow(document, { ...optionsFor(document.uri), check: true });
    }
    return document;
  };
  const processor = (document: SourceDocument) => document.processor(settings.target);

  connection.onHover(answer((d, p: TextDocumentPositionParams) => hover(d, at(d, p), processor(d))));
  connection.onDefinition(
    answer((d, p: TextDocumentPositionParams) => {
      const named = definitions(d, at(d, p));
      return named.length > 0 ? named : registerDefinitions(withCode(d), at(d, p));
    }),
  );
  connection.onReferences(
    answer((d, p: TextDocumentPositionParams & { readonly context: { readonly includeDeclaration: boolean } }) =>
      d.names.at(at(d, p)) === undefined
        ? registerReferences(withCode(d), at(d, p), p.context.includeDeclaration)
        : references(d, at(d, p), p.context.includeDeclaration),
    ),
  );
  connection.onDocumentHighlight(
    answer((d, p: TextDocumentPositionParams) => {
      const named = highlights(d, at(d, p));
      return named.length > 0 ? named : registerHighlights(withCode(d), at(d, p));
    }),
  );
  connection.languages.inlayHint.on((params, token) =>
    answer((d, p: typeof params) => (settings.pressure ? inlayHints(withCode(d), p.range) : []))(params, token),
  );
  connection.onCodeLens((params, token) =>
    answer((d) => {
      const baseline = opened.get(d.uri);
      const isEdited = settings.prove && baseline !== undefined && baseline.text !== d.text;
      return [...codeLenses(withCode(d)), ...(isEdited ? proofLenses(withCode(baseline), withCode(d)) : [])];
    })(params, token),
  );
  connection.onCodeLensResolve((lens) => {
    const uri = proofUri(lens);
    const [baseline, document] = uri === undefined ? [] : [opened.get(uri), source(uri)];
    return baseline === undefined || document === undefined
      ? lens
      : resolveProof(lens, withCode(baseline), withCode(document));
  });
  connection.onDocumentFormatting((params, token) => answer((d) => formatEdits(d))(params, token));
  connection.onDocumentRangeFormatting((params, token) =>
    answer((d, p: typeof params) => formatEdits(d, p.range))(params, token),
  );
  connection.onSelectionRanges((params, token) =>
    answer((d, p: typeof params) => p.positions.map((position) => selectionRange(d, d.offset(position))))(
      params,
      token,
    ),
  );
  connection.onWorkspaceSymbol(({ query }) =>
    workspaceSymbols(
      documents.keys().flatMap((uri) => source(uri) ?? []),
      query,
    ),
  );
  connection.onDocumentSymbol(answer((d) => documentSymbols(d)));
  connection.onPrepareRename(answer((d, p: TextDocumentPositionParams) => renameable(d, at(d, p))));
  connection.onRenameRequest(
    answer((d, p: TextDocumentPositionParams & { readonly newName: string }) => ({
      changes: { [d.uri]: rename(d, at(d, p), p.newName) },
    })),
  );
  connection.onFoldingRanges(answer((d) => foldingRanges(d)));
  connection.onCodeAction((params, token) => {
    const handler = answer((d, p: typeof params) => quickFixes(d, p.context.diagnostics));
    const found = handler(params, token);
    return found;
  });
  connection.onCompletion(answer((d, p: TextDocumentPositionParams) => completions(d, at(d, p), processor(d))));
  connection.onCompletionResolve((item) => resolveCompletion(item));
  connection.onSignatureHelp(answer((d, p: TextDocumentPositionParams) => signatureHelp(d, p.position, processor(d))));
  connection.languages.semanticTokens.on((params, token) => {
    const found = answer((d) => ({ data: semanticTokens(d) }))(params, token);
    return found ?? { data: [] };
  });
  connection.languages.semanticTokens.onRange((params, token) => {
    const found = answer((d, p: typeof params) => ({ data: semanticTokens(d, p.range) }))(params, token);
    return found ?? { data: [] };
  });

  documents.listen(connection);
  connection.listen();
}
