// The JSON Schemas of what shipped probes report, in docs/probes/, and whether a report is as its schema says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { jsonValue } from '../../src/cli/support.ts';

class ReportSchemas {
  private readonly ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
  private readonly known = new Map<string, ValidateFunction>();

  /** What of a report its probe's schema does not allow. */
  problems(tool: string, report: Readonly<Record<string, unknown>>): string[] {
    let validate = this.known.get(tool);
    if (validate === undefined) {
      const file = join(import.meta.dirname, '..', '..', 'docs', 'probes', `${tool}.schema.json`);
      validate = this.ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
      this.known.set(tool, validate);
    }
    const isValid = validate(JSON.parse(JSON.stringify(report, jsonValue)));
    return isValid ? [] : (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.message}`);
  }
}

export const reportSchemas = new ReportSchemas();
