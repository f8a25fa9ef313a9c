import type { Plugin } from 'esbuild';

export declare const LATE_IMPORTS: ReadonlyMap<string, readonly string[]>;
export declare function namesFrom(importer: string, specifier: string): string[];
export declare const lateModules: Plugin;
