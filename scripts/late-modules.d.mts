import type { Plugin } from 'esbuild';

export declare const lateModules: Plugin;
