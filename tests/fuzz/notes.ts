// Fuzz target: note sections and the MessagePack metadata in them, printed as YAML and read again.
import {
  encodeMetadata,
  metadataFromYaml,
  metadataToYaml,
  notesOf,
  readElf,
  readMetadata,
  readNotes,
} from '../../src/codeobject/index.ts';
import { makeCodeObject } from '../support/make-code-object.ts';

export default {
  name: 'notes',
  seeds: () => notesOf(readElf(makeCodeObject())).map((_, i, all) => rebuilt(all[i].description)),
  run(bytes: Uint8Array): void {
    for (const note of readNotes(bytes)) {
      const metadata = readMetadata(note.description);
      encodeMetadata(metadata);
      if (metadata.kernels.length < 8) metadataFromYaml(metadataToYaml(metadata.raw));
    }
  },
};

function rebuilt(description: Uint8Array): Uint8Array {
  const padded = new Uint8Array(20 + Math.ceil(description.length / 4) * 4);
  const view = new DataView(padded.buffer);
  view.setUint32(0, 7, true);
  view.setUint32(4, description.length, true);
  view.setUint32(8, 32, true);
  padded.set(new TextEncoder().encode('AMDGPU'), 12);
  padded.set(description, 20);
  return padded;
}
