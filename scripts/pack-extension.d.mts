/** The bytes of the `.vsix` and the name that it is written under. */
export function packExtension(): Promise<{ readonly name: string; readonly bytes: Uint8Array }>;
