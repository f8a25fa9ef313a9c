// Starts `wavesmith lsp` for AMDGPU assembly and `wavesmith dap` for debugging, and connects VS Code with them.
'use strict';
const { DebugAdapterExecutable, debug, languages, window, workspace } = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

/** Extensions that other processors' sources have too. */
const SHARED = /\.(?:s|asm)$/i;
/** What only sources for AMD GPUs have: directives, or an instruction of theirs on a line of its own. */
const AMDGPU = /^\s*(?:\.amdgcn_target|\.amdgpu_metadata|\.amdhsa_|\.amdgpu_hsa|[sv]_\w+_[bfiu](?:16|32|64)(?:_\w+)?\b|s_waitcnt\b|s_endpgm\b)/m;
/** Characters of a file that are looked at. */
const LOOKED_AT = 1 << 16;

/** Takes a `.s` file when its text is for AMD GPUs, whatever language it has; others keep theirs. */
function claim(document) {
  if (document.languageId === 'amdgpu' || !SHARED.test(document.fileName)) return undefined;
  const text = document.getText().slice(0, LOOKED_AT);
  return AMDGPU.test(text) ? languages.setTextDocumentLanguage(document, 'amdgpu') : undefined;
}

/** The command line of a subcommand, from the settings. */
function commandLine(name) {
  const configured = workspace.getConfiguration('wavesmith').get('command');
  const given = (Array.isArray(configured) ? configured.map(String) : [configured]).filter(Boolean);
  const words = given.length > 0 ? given : ['wavesmith'];
  return { command: words[0], args: [...words.slice(1), name] };
}

async function activate(context) {
  context.subscriptions.push(
    debug.registerDebugAdapterDescriptorFactory('wavesmith', {
      createDebugAdapterDescriptor() {
        const { command, args } = commandLine('dap');
        return new DebugAdapterExecutable(command, args);
      },
    }),
  );
  const server = { ...commandLine('lsp'), transport: TransportKind.stdio };
  context.subscriptions.push(workspace.onDidOpenTextDocument(claim));
  for (const document of workspace.textDocuments) claim(document);
  client = new LanguageClient(
    'wavesmith',
    'Wavesmith',
    { run: server, debug: server },
    {
      documentSelector: [{ language: 'amdgpu' }],
      initializationOptions: workspace.getConfiguration('wavesmith'),
      synchronize: { configurationSection: 'wavesmith' },
    },
  );
  try {
    await client.start();
  } catch (error) {
    // VS Code's client rejects with nothing where the program is not found, and has told the cause itself.
    const cause = error?.message === undefined ? '' : `: ${error.message}`;
    window.showErrorMessage(
      `The Wavesmith language server did not start${cause}. Set 'wavesmith.command' to where it is.`,
    );
  }
}

function deactivate() {
  return client === undefined ? undefined : client.stop();
}

module.exports = { activate, claim, deactivate };
