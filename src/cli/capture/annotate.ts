// `wavesmith capture annotate`: what a person knows of a capture's buffers.
import { openCapture, parseAnnotation, rewriteCapture, withAnnotations } from '../../snapshot/index.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';
import { addOutputOptions, type OutputOptions, writeOptionsOf } from './output.ts';

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('capture annotate', 'Give buffers of a capture a name, element type, shape and tolerance.')
    .argument('<capture>', 'a .wscap')
    .requiredOption(
      '--buffer <description>',
      'PLACE=TYPE[N,…][,name=NAME][,tolerance=T]; repeatable',
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
PLACE is an argument's number or name, an address, or ADDRESS+OFFSET. TYPE is f32, bf16, i8, f8E4M3FN, …
A tolerance is relative; 0 asks for equal bits. Without one a float type has its own (docs/verdict.md). What has no annotation is compared
byte by byte.`,
    );
  addOutputOptions(command, 'default: in its place');
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<OutputOptions & { buffer: string[]; json?: boolean }>();
  const [path = ''] = command.args;
  const capture = openCapture(path);
  const annotations = withAnnotations(
    capture,
    options.buffer.map((text) => parseAnnotation(text, capture)),
  );
  rewriteCapture(capture, options.output ?? path, writeOptionsOf(options, path), () => ({ annotations }));
  if (options.json === true) printJson({ annotations });
  else {
    for (const a of annotations) {
      process.stdout.write(
        `0x${a.address.toString(16)} ${a.name}: ${a.elementType}[${a.shape.join(',')}]${a.tolerance === undefined ? '' : `, tolerance ${a.tolerance}`}\n`,
      );
    }
  }
  return 0;
}
