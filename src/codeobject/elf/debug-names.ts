// What the source calls types, enumerators and constants of classes: with the namespaces and classes around them, or without.
import type { Entry } from './debug-entries.ts';
import { AT, TAG } from './dwarf-numbers.ts';

export interface Names {
  readonly types: ReadonlyMap<string, Entry>;
  readonly enumerators: ReadonlyMap<string, { readonly of: Entry; readonly value: number }>;
  /** Members of classes that are constants and stand nowhere. */
  readonly constants: ReadonlyMap<string, Entry>;
  /** Namespaces and classes around types, and around members of classes, as `geo::Box::`, by the place of the entry. */
  readonly around: ReadonlyMap<number, string>;
}

const HOLDERS: readonly number[] = [TAG.structure, TAG.class, TAG.union];
const TYPES = new Set<number>([...HOLDERS, TAG.enumeration, TAG.typedef, TAG.baseType]);
const CONTAINS_TYPES = new Set<number>([...HOLDERS, TAG.namespace, TAG.subprogram, TAG.lexicalBlock, TAG.enumeration]);

/** Names of all units; of several of one name the first. */
export function namesOf(roots: readonly Entry[], nameOf: (entry: Entry) => string): Names {
  const types = new Map<string, Entry>();
  const enumerators = new Map<string, { of: Entry; value: number }>();
  const constants = new Map<string, Entry>();
  const around = new Map<number, string>();
  const inside = (entry: Entry, scope: readonly string[]): void => {
    for (const child of entry.children) {
      const name = nameOf(child);
      const isHeld = HOLDERS.includes(entry.tag);
      if (scope.length > 0 && (isHeld || TYPES.has(child.tag))) around.set(child.at, `${scope.join('::')}::`);
      const value = child.values.get(AT.constValue);
      if (child.tag === TAG.enumerator && typeof value === 'number') {
        // Enumerators are also named without their enumeration.
        for (const path of [scope, scope.slice(0, -1)]) add(enumerators, path, name, { of: entry, value });
      }
      const isConstant = isHeld && value !== undefined && (child.tag === TAG.member || child.tag === TAG.variable);
      if (isConstant) add(constants, scope, name, child);
      // What is only declared is described elsewhere.
      if (TYPES.has(child.tag) && name !== '' && !child.values.has(AT.declaration)) add(types, scope, name, child);
      if (!CONTAINS_TYPES.has(child.tag)) continue;
      const isNamed = name !== '' && child.tag !== TAG.subprogram && child.tag !== TAG.lexicalBlock;
      inside(child, isNamed ? [...scope, name] : scope);
    }
  };
  for (const root of roots) inside(root, []);
  return { types, enumerators, constants, around };
}

/** A name with each of the ends of what is around it. */
function add<T>(map: Map<string, T>, path: readonly string[], name: string, value: T): void {
  for (let from = path.length; from >= 0; from--) {
    const key = [...path.slice(from), name].join('::');
    if (!map.has(key)) map.set(key, value);
  }
}
