// Starts `wavesmith lsp` for AMDGPU assembly and `wavesmith dap` for debugging, and connects VS Code with them.
'use strict';
const { DebugAdapterExecutable, debug, window, workspace } = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

/** The command line of a subcommand, from the settings. */
function commandLine(name) {
  const configured = workspace.getConfiguration('wavesmith').get('command');
  const words = Array.isArray(configured) && configured.length > 0 ? configured.map(String) : ['wavesmith'];
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
    window.showErrorMessage(
      `The Wavesmith language server did not start: ${error.message}. Set 'wavesmith.command' to where it is.`,
    );
  }
}

function deactivate() {
  return client === undefined ? undefined : client.stop();
}

module.exports = { activate, deactivate };
