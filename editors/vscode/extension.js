// Starts `wavesmith lsp` for AMDGPU assembly and connects VS Code with it.
'use strict';
const { workspace, window } = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

/** The command line of the server, from the settings. */
function serverCommand() {
  const configured = workspace.getConfiguration('wavesmith').get('command');
  const words = Array.isArray(configured) && configured.length > 0 ? configured.map(String) : ['wavesmith'];
  return { command: words[0], args: [...words.slice(1), 'lsp'], transport: TransportKind.stdio };
}

async function activate() {
  client = new LanguageClient(
    'wavesmith',
    'Wavesmith',
    { run: serverCommand(), debug: serverCommand() },
    {
      documentSelector: [{ language: 'amdgpu' }],
      initializationOptions: workspace.getConfiguration('wavesmith'),
      synchronize: { configurationSection: 'wavesmith' },
    },
  );
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `The Wavesmith language server did not start: ${error.message}. Set 'wavesmith.command' to where it is.`,
    );
  }
}

function deactivate() {
  return client === undefined ? undefined : client.stop();
}

module.exports = { activate, deactivate };
