import manifest from '../../package.json' with { type: 'json' };

/** The package version. */
export function version(): string {
  return manifest.version;
}
