// The pages of the checker's rules, in a checkout and in an installed package.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRuleId, rulePage } from '../finding/index.ts';

function docsFolder(): string | undefined {
  const own = dirname(fileURLToPath(import.meta.url));
  return ['..', '../..', '../../..'].map((up) => join(own, up, 'docs')).find((path) => existsSync(join(path, 'check')));
}

/** The file of a rule's page; undefined where the documentation is not installed. */
export function rulePageFile(rule: string): string | undefined {
  const docs = docsFolder();
  if (docs === undefined || !isRuleId(rule)) return undefined;
  const path = join(docs, rulePage(rule));
  return existsSync(path) ? path : undefined;
}
