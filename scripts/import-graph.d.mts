export type ImportGraph = ReadonlyMap<string, readonly string[]>;
export function sources(folder: string): Iterable<string>;
export function specifiers(text: string): string[];
export function resolveImport(path: string, specifier: string): string;
export function importGraph(folder: string): ImportGraph;
export function circles(graph: ImportGraph): string[][];
export function circleGroups(graph: ImportGraph): string[][];
