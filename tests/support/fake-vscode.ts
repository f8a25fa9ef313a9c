// The part of VS Code's extension API that the packed extension and its language client touch while they start: enough for a host that
// activates the extension and sees what it does. What is not here by name is an empty class or function.

import { createRequire } from 'node:module';

/** A document as the host has it open. */
export interface FakeDocument {
  readonly fileName: string;
  languageId: string;
  readonly getText: () => string;
}

export interface FakeHost {
  readonly vscode: object;
  readonly shown: string[];
  /** Tells the extension of a document: its listener is the first, the language client's come behind it. */
  readonly open: (document: FakeDocument) => void;
}

const disposable = { dispose: () => {} };

/** Any name is an empty class; its instances and static members are made on use. */
function anything(named: Readonly<Record<string, unknown>>): object {
  const made: Record<string, unknown> = { ...named };
  return new Proxy(made, {
    get: (_, key) => {
      if (typeof key === 'symbol' || key === 'then' || key === '__esModule') return undefined;
      if (key.startsWith('on') && !(key in made)) made[key] = () => disposable;
      made[key] ??= class {};
      return made[key];
    },
    has: () => true,
  });
}

/** A host with settings and open documents. */
export function fakeHost(settings: Readonly<Record<string, unknown>>, documents: FakeDocument[]): FakeHost {
  const shown: string[] = [];
  const listeners: ((document: FakeDocument) => void)[] = [];
  const configuration = { get: (key: string, fallback?: unknown) => settings[key] ?? fallback, ...settings };
  const call = (text: string): Promise<undefined> => {
    shown.push(text);
    return Promise.resolve(undefined);
  };
  const channel = () =>
    anything({ append: () => {}, appendLine: () => {}, show: () => {}, ...disposable, logLevel: 3, error: call });
  const register = () => disposable;
  const vscode = anything({
    version: '1.100.0',
    env: anything({ language: 'en', appName: 'host', appHost: 'desktop', isTelemetryEnabled: false }),
    workspace: anything({
      textDocuments: documents,
      workspaceFolders: undefined,
      notebookDocuments: [],
      getConfiguration: () => configuration,
      onDidOpenTextDocument: (listener: (document: FakeDocument) => void) => {
        listeners.push(listener);
        return disposable;
      },
      createFileSystemWatcher: () => anything({ ...disposable }),
    }),
    window: anything({
      createOutputChannel: channel,
      showErrorMessage: call,
      showWarningMessage: call,
      showInformationMessage: call,
      visibleTextEditors: [],
      tabGroups: anything({ all: [] }),
      activeTextEditor: undefined,
    }),
    languages: anything({
      createDiagnosticCollection: () => anything({ ...disposable, set: () => {}, clear: () => {}, delete: () => {} }),
      match: () => 0,
      setTextDocumentLanguage: (document: FakeDocument, language: string) => {
        document.languageId = language;
        return Promise.resolve(document);
      },
      ...Object.fromEntries(
        [
          'Hover',
          'Definition',
          'Reference',
          'DocumentHighlight',
          'DocumentSymbol',
          'CompletionItem',
          'SignatureHelp',
        ].map((name) => [`register${name}Provider`, register]),
      ),
    }),
    debug: anything({ registerDebugAdapterDescriptorFactory: register }),
    commands: anything({ registerCommand: register, executeCommand: call }),
    EventEmitter: class {
      event = () => disposable;
      fire(): void {}
      dispose(): void {}
    },
    Disposable: class {
      static from = () => disposable;
      dispose(): void {}
    },
  });
  return { vscode, shown, open: (document) => listeners[0]?.(document) };
}

/** The exports of a CommonJS text, with `vscode` given to it. */
export function loadExtension(text: string, vscode: object): Readonly<Record<string, (...args: unknown[]) => unknown>> {
  const require = createRequire(import.meta.url);
  // The bundle copies the names that it finds: every class that it may extend is made first.
  for (const [, name] of text.matchAll(/\.([A-Z]\w+)/g)) Reflect.get(vscode, name as string);
  const module = { exports: {} as Record<string, (...args: unknown[]) => unknown> };
  const run = new Function('module', 'exports', 'require', text) as (...args: unknown[]) => void;
  run(module, module.exports, (name: string) => (name === 'vscode' ? vscode : require(name)));
  return module.exports;
}
