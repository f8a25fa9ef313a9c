// `npm run pack:vscode [-- OUT.vsix]`: packs editors/vscode with its language client into one .vsix that `code --install-extension` takes.
// The server is not in it: the extension starts `wavesmith lsp`. Layout: Open Packaging Conventions as `vsce` writes them.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { zipSync } from 'fflate';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'editors/vscode');
/** A fixed date, so that the same sources make the same bytes. */
const DATE = new Date('2026-01-01T00:00:00Z');

const escapeXml = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

function vsixManifest({ name, displayName, description, version, publisher, engines, categories }) {
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}" />
    <DisplayName>${escapeXml(displayName)}</DisplayName>
    <Description xml:space="preserve">${escapeXml(description)}</Description>
    <Categories>${escapeXml(categories.join(','))}</Categories>
    <License>extension/LICENSE.txt</License>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escapeXml(engines.vscode)}" />
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace" />
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code" /></Installation>
  <Dependencies />
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true" />
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true" />
  </Assets>
</PackageManifest>
`;
}

const CONTENT_TYPES = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json" /><Default Extension=".js" ContentType="application/javascript" />
  <Default Extension=".md" ContentType="text/markdown" /><Default Extension=".txt" ContentType="text/plain" />
  <Default Extension=".vsixmanifest" ContentType="text/xml" />
</Types>
`;

/** The bytes of the package. */
export async function packExtension() {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { outputFiles } = await build({
    entryPoints: [join(folder, manifest.main)],
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
    write: false,
    logLevel: 'error',
  });
  const { dependencies, private: isPrivate, ...published } = manifest;
  const text = (value) => new TextEncoder().encode(value);
  const file = (path) => readFileSync(join(folder, path));
  const files = {
    '[Content_Types].xml': text(CONTENT_TYPES),
    'extension.vsixmanifest': text(vsixManifest(manifest)),
    'extension/package.json': text(JSON.stringify(published, null, 2)),
    'extension/extension.js': outputFiles[0].contents,
    'extension/README.md': file('README.md'),
    'extension/LICENSE.txt': readFileSync(join(root, 'LICENSE')),
    'extension/language-configuration.json': file('language-configuration.json'),
    'extension/syntaxes/amdgpu.tmLanguage.json': file('syntaxes/amdgpu.tmLanguage.json'),
  };
  return { name: `${manifest.name}-${manifest.version}.vsix`, bytes: zipSync(files, { level: 9, mtime: DATE }) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { name, bytes } = await packExtension();
  const out = process.argv[2] ?? name;
  writeFileSync(out, bytes);
  console.log(`${out}: ${bytes.length} bytes`);
}
