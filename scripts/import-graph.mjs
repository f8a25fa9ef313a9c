// The import graph of a source folder: which TypeScript file names which, whether for values or only for types. The layer
// check and the circle check read it. An edge is any of: `import … from`, `import type … from`, `export … from`,
// `import '…'`, `import('…')` and the type `import('…').Name`.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const IMPORT =
  /(?:^|\n|;)[ \t]*(?:import|export)\s[^'";]*?from\s*['"]([^'"]+)['"]|\bimport\(\s*(?:\/\*[^*]*\*\/\s*)?['"`]([^'"`]+)['"`]|(?:^|\n|;)[ \t]*import\s*['"]([^'"]+)['"]/g;

/** Strings of one line are matched too: a `//` inside one is no comment, and code inside one (a parenthesis) is no import. */
const COMMENT_OR_STRING = /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;

/** The TypeScript files below `folder` that are not tests, in a stable order. */
export function* sources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (/\.ts$/.test(entry.name) && !/\.test\.ts$/.test(entry.name)) yield path;
  }
}

/** Every module specifier that the text of a file names, in order, type-only ones included; comments are passed over. */
export function specifiers(text) {
  const code = text.replace(COMMENT_OR_STRING, (part) => (part.startsWith('/') || part.includes('(') ? '' : part));
  return [...code.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3]);
}

/** The file that a relative specifier names from `path`; the path as written where there is no such file. */
export function resolveImport(path, specifier) {
  const target = resolve(dirname(path), specifier);
  const candidates = [target, target.replace(/\.js$/, '.ts'), `${target}.ts`, join(target, 'index.ts')];
  return candidates.find((file) => existsSync(file) && statSync(file).isFile()) ?? target;
}

/** The graph below `folder`: file → the files of the folder that it imports. */
export function importGraph(folder) {
  const files = [...sources(folder)];
  const known = new Set(files);
  const graph = new Map();
  for (const path of files) {
    const targets = specifiers(readFileSync(path, 'utf8'))
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => resolveImport(path, specifier))
      .filter((target) => known.has(target));
    graph.set(path, [...new Set(targets)]);
  }
  return graph;
}

/**
 * The circles of a graph: for every strongly connected group of files one shortest way around it, starting at the group's first file.
 * Tarjan's algorithm, with an explicit stack.
 */
export function circles(graph) {
  return circleGroups(graph).map((group) => wayAround(graph, group));
}

/** The strongly connected groups of more than one file, and files that import themselves; each sorted. */
export function circleGroups(graph) {
  const index = new Map();
  const low = new Map();
  const onStack = new Set();
  const stack = [];
  const found = [];
  for (const root of graph.keys()) {
    if (index.has(root)) continue;
    const work = [{ node: root, next: 0 }];
    while (work.length > 0) {
      const frame = work.at(-1);
      const { node } = frame;
      if (frame.next === 0) {
        index.set(node, index.size);
        low.set(node, index.get(node));
        stack.push(node);
        onStack.add(node);
      }
      const targets = graph.get(node) ?? [];
      if (frame.next < targets.length) {
        const target = targets[frame.next++];
        if (!index.has(target)) work.push({ node: target, next: 0 });
        else if (onStack.has(target)) low.set(node, Math.min(low.get(node), index.get(target)));
        continue;
      }
      work.pop();
      const parent = work.at(-1)?.node;
      if (parent !== undefined) low.set(parent, Math.min(low.get(parent), low.get(node)));
      if (low.get(node) !== index.get(node)) continue;
      const group = [];
      for (;;) {
        const member = stack.pop();
        onStack.delete(member);
        group.push(member);
        if (member === node) break;
      }
      if (group.length > 1 || targets.includes(node)) found.push(group.sort());
    }
  }
  return found;
}

function wayAround(graph, group) {
  const members = new Set(group);
  const [start] = group;
  const from = new Map();
  const queue = [start];
  for (const node of queue) {
    for (const target of graph.get(node) ?? []) {
      if (target === start) {
        const way = [start];
        for (let at = node; at !== start; at = from.get(at)) way.splice(1, 0, at);
        return [...way, start];
      }
      if (!members.has(target) || from.has(target)) continue;
      from.set(target, node);
      queue.push(target);
    }
  }
  return group;
}
