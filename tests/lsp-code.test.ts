// What the language server knows of the code behind a source: values of registers, pressure, occupancy; and layout, selections, names.

import { describe, expect, it, test } from 'vitest';
import type { CodeLens, DocumentHighlight, InlayHint, Location, SelectionRange, TextEdit } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { assembleAndLink } from '../src/asm/index.ts';
import { formatEdits, SourceDocument } from '../src/lsp/index.ts';
import fc from './support/fast-check.ts';
import { LspClient, positionOf } from './support/lsp-client.ts';

const SOURCE = `.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.macro bump reg
  v_add_u32 \\reg, 1, \\reg
.endm
.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_mov_b32 v1, 0
  s_mov_b32 s4, 3
  s_waitcnt lgkmcnt(0)
loop:
  global_load_dwordx2 v[4:5], v0, s[2:3]
  s_waitcnt vmcnt(0)
  v_add_u32 v1, v1, v5
  bump v1
  s_sub_u32 s4, s4, 1
  s_cbranch_scc0 loop
  global_store_dword v0, v1, s[2:3]
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 200
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 200
.end_amdhsa_kernel
`;
const lineOf = (text: string): number => SOURCE.split('\n').findIndex((line) => line.includes(text));

async function withServer<T>(body: (client: LspClient, uri: string) => Promise<T>, text = SOURCE): Promise<T> {
  const client = new LspClient();
  await client.start();
  try {
    await client.open('file:///k.s', text);
    return await body(client, 'file:///k.s');
  } finally {
    await client.stop();
  }
}

test('a register: where its value comes from, where it goes, loops and macros and tuples followed', async () => {
  await withServer(async (client, uri) => {
    const lines = (found: readonly Location[]): number[] => found.map((l) => l.range.start.line);
    const stored = positionOf(SOURCE, 'v1, s[2:3]');
    expect(lines(await client.request<Location[]>('definition', uri, stored))).toEqual([lineOf('bump v1')]);
    const added = positionOf(SOURCE, 'v1, v5');
    expect(lines(await client.request<Location[]>('definition', uri, added))).toEqual([
      lineOf('v_mov_b32 v1'),
      lineOf('bump v1'),
    ]);
    const half = positionOf(SOURCE, 'v5', 0);
    expect(lines(await client.request<Location[]>('definition', uri, half))).toEqual([lineOf('dwordx2 v[4:5]')]);
    const pointer = positionOf(SOURCE, 's[2:3]');
    const uses = await client.request<Location[]>('references', uri, pointer, {
      context: { includeDeclaration: false },
    });
    expect(lines(uses)).toEqual([lineOf('global_load_dwordx2'), lineOf('global_store_dword')]);
    const counter = await client.request<DocumentHighlight[]>(
      'documentHighlight',
      uri,
      positionOf(SOURCE, 's4, s4', 0, 4),
    );
    expect(counter.map(({ range, kind }) => [range.start.line, range.start.character, kind])).toEqual([
      [lineOf('s_mov_b32 s4'), 12, 3],
      [lineOf('s_sub_u32'), 12, 3],
      [lineOf('s_sub_u32'), 16, 2],
    ]);
  });
});

test('live registers behind each line, with those that were read for the last time', async () => {
  const end = { line: SOURCE.split('\n').length, character: 0 };
  await withServer(async (client, uri) => {
    const hints = await client.request<InlayHint[]>('inlayHint', uri, undefined, {
      range: { start: { line: 0, character: 0 }, end },
    });
    const at = (text: string) => hints.find((hint) => hint.position.line === lineOf(text));
    expect(at('s_load_dwordx2')?.label).toBe('v1 s2');
    expect(at('global_load_dwordx2')?.label).toBe('v3 s3');
    expect(at('v_add_u32 v1, v1, v5')).toMatchObject({
      label: 'v2 s3',
      tooltip: expect.stringContaining('last time: v5'),
    });
    expect(at('s_endpgm')?.label).toBe('v0 s0');
    const few = await client.request<InlayHint[]>('inlayHint', uri, undefined, {
      range: { start: { line: lineOf('loop:'), character: 0 }, end: { line: lineOf('bump v1'), character: 0 } },
    });
    expect(few).toEqual(
      hints.filter((h) => h.position.line >= lineOf('loop:') && h.position.line <= lineOf('bump v1')),
    );
  });
});

test('occupancy above the kernel; nothing where the source does not assemble', async () => {
  await withServer(async (client, uri) => {
    const lenses = await client.request<CodeLens[]>('codeLens', uri);
    expect(lenses.map(({ range, command }) => [range.start.line, command?.title])).toEqual([
      [
        lineOf('k:'),
        expect.stringMatching(/^2 of 8 waves per SIMD, limited by VGPRs · 200 VGPRs · 16 SGPRs · 0 bytes of LDS$/),
      ],
    ]);
  });
  await withServer(
    async (client, uri) => {
      expect(await client.request<CodeLens[]>('codeLens', uri)).toEqual([]);
      expect(await client.request<Location[]>('definition', uri, positionOf(SOURCE, 'v5'))).toEqual([]);
    },
    SOURCE.replace('v_mov_b32 v1, 0', 'v_mov_b32 v1, '),
  );
});

test('an edited kernel is proved to be the same function, or not, when its lens is shown', async () => {
  await withServer(async (client, uri) => {
    expect(await client.request<CodeLens[]>('codeLens', uri)).toHaveLength(1);
    const edit = async (version: number, text: string): Promise<CodeLens> => {
      await client.change(uri, version, { text });
      const [, lens] = await client.request<CodeLens[]>('codeLens', uri);
      return client.connection.sendRequest<CodeLens>('codeLens/resolve', lens);
    };
    const nops = await edit(2, SOURCE.replace('s_endpgm', 's_nop 3\n s_endpgm'));
    expect(nops.command?.title).toBe('proved: the same function as when opened');
    const other = await edit(3, SOURCE.replace('v_mov_b32 v1, 0', 'v_mov_b32 v1, 1'));
    expect(other.command?.title).toMatch(/^not proved to be the same function: [A-Z].*\.$/);
    await client.change(uri, 4, { text: SOURCE });
    expect(await client.request<CodeLens[]>('codeLens', uri)).toHaveLength(1);
  });
});

test('selections grow from the operand to the text', async () => {
  await withServer(async (client, uri) => {
    const position = positionOf(SOURCE, 'v[4:5]', 0, 2);
    const [range] = await client.request<SelectionRange[]>('selectionRange', uri, undefined, { positions: [position] });
    const document = TextDocument.create(uri, 'amdgpu', 1, SOURCE);
    const texts: string[] = [];
    for (let at: SelectionRange | undefined = range; at !== undefined; at = at.parent)
      texts.push(document.getText(at.range));
    expect(texts.slice(0, 3)).toEqual(['4', 'v[4:5]', 'global_load_dwordx2 v[4:5], v0, s[2:3]']);
    expect(texts.at(-1)).toBe(SOURCE);
    expect(texts.some((t) => t.startsWith('k:') && t.endsWith('.Lend:'))).toBe(true);
    for (const [i, t] of texts.entries()) expect(texts[i + 1] ?? t).toContain(t);
  });
});

test('names of all open sources', async () => {
  await withServer(async (client) => {
    await client.open('file:///other.s', 'other_kernel:\n s_endpgm\n');
    const find = (query: string) =>
      client.connection.sendRequest<{ name: string; location: Location }[]>('workspace/symbol', { query });
    expect((await find('okern')).map(({ name, location }) => [name, location.uri])).toEqual([
      ['other_kernel', 'file:///other.s'],
    ]);
    expect((await find('')).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['k', 'loop', 'bump', 'other_kernel']),
    );
  });
});

describe('formatting', () => {
  const format = (text: string): string => {
    const edits: TextEdit[] = formatEdits(new SourceDocument('file:///f.s', 1, text));
    return TextDocument.applyEdits(TextDocument.create('file:///f.s', 'amdgpu', 1, text), edits);
  };
  it('indents instructions, puts labels first, sets one blank behind commas, cuts white space at the end', () => {
    expect(format('  k:  \n v_mov_b32   v1 ,v2 ; a , b\t\n    .Lx: s_endpgm\n')).toBe(
      'k:\n\tv_mov_b32   v1, v2 ; a , b\n.Lx: s_endpgm\n',
    );
    expect(format('v_pk_add_f32 v[0:1], v[2:3],v[4:5] op_sel:[0,1]\n')).toBe(
      '\tv_pk_add_f32 v[0:1], v[2:3], v[4:5] op_sel:[0,1]\n',
    );
    expect(format('.amdhsa_kernel k\n.amdhsa_next_free_vgpr 4\n.end_amdhsa_kernel\n')).toBe(
      '\t.amdhsa_kernel k\n\t\t.amdhsa_next_free_vgpr 4\n\t.end_amdhsa_kernel\n',
    );
  });
  it('leaves strings, comments and metadata alone', () => {
    const text =
      '\t.ascii "a ,b  "\n/* x ,y  \n z */\n\t.amdgpu_metadata\n---\na:   \n  - 1 ,2\n...\n\t.end_amdgpu_metadata\n';
    expect(format(text)).toBe(text);
  });
  it('changes no byte of the code, and nothing the second time', () => {
    const code = (text: string): string => Buffer.from(assembleAndLink(text)).toString('base64');
    const blank = fc.constantFrom('', ' ', '\t', '   ');
    fc.assert(
      fc.property(fc.array(blank, { minLength: 40, maxLength: 40 }), (blanks) => {
        let n = 0;
        const loose = SOURCE.replaceAll(/^[ \t]*|, |$/gm, (m) => {
          const add = blanks[n++ % blanks.length] as string;
          return m === ', ' ? `${add},${add}` : add;
        });
        const tidy = format(loose);
        expect(code(tidy)).toBe(code(loose));
        expect(format(tidy)).toBe(tidy);
      }),
      { numRuns: 10 },
    );
  });
});
