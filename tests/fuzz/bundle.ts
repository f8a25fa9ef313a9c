// Fuzz target: offload bundles, plain and compressed, also inside a host ELF file.
import { zlibSync } from 'fflate';
import { openContainer, readBundle, writeBundle, writeCompressedBundle } from '../../src/codeobject/index.ts';
import { makeCodeObject, makeHostElf } from '../support/make-code-object.ts';
import { storedZstd } from '../support/make-zstd.ts';

function plain(): Uint8Array {
  return writeBundle(
    [
      { id: 'host-x86_64-unknown-linux-gnu-', bytes: new Uint8Array(0) },
      { id: 'hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-', bytes: makeCodeObject() },
    ],
    64,
  );
}

export default {
  name: 'bundle',
  seeds: () => {
    const bundle = plain();
    return [
      bundle,
      writeCompressedBundle(zlibSync(bundle), bundle.length, 'zlib', 1),
      writeCompressedBundle(zlibSync(bundle), bundle.length, 'zlib', 2),
      writeCompressedBundle(storedZstd(bundle), bundle.length, 'zstd', 3),
      makeHostElf(bundle),
    ];
  },
  run(bytes: Uint8Array): void {
    if (bytes[0] !== 0x7f) readBundle(bytes);
    openContainer(bytes, 'fuzz');
  },
};
