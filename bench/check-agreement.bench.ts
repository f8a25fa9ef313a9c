// Static against dynamic: every wait of runnable compiled kernels (clang-22, Triton) weakened, judged by the checker and by the strict
// mode of the virtual GPU. Prints how often they agree, and what explains each difference. Arguments: words of kernel names; `--max N`.
import { agreementOf, type Verdict } from '../tests/support/check-agreement.ts';
import { strictSubjects } from '../tests/support/strict-kernels.ts';

const args = process.argv.slice(2);
const at = args.indexOf('--max');
const most = at < 0 ? 20 : Number(args[at + 1]);
const words = args.filter((a, i) => !a.startsWith('--') && (at < 0 || i !== at + 1));

function print(name: string, verdicts: readonly Verdict[]): void {
  const count = (isStatic: boolean, isDynamic: boolean): number =>
    verdicts.filter((v) => v.isStatic === isStatic && v.isDynamic === isDynamic).length;
  const why = new Map<string, number>();
  for (const v of verdicts) if (v.why !== undefined) why.set(v.why, (why.get(v.why) ?? 0) + 1);
  const cells = [verdicts.length, count(true, true), count(false, false), count(true, false), count(false, true)];
  const reasons = [...why].map(([reason, n]) => `${n} ${reason}`).join('; ');
  console.log(`${name.padEnd(42)} ${cells.map((n) => String(n).padStart(8)).join(' ')}  ${reasons}`);
}

console.log(`${'kernel'.padEnd(42)}  mutants     both  neither   static  dynamic  differences`);
const all: Verdict[] = [];
for (const subject of strictSubjects()) {
  if (words.length > 0 && !words.some((word) => subject.name.includes(word))) continue;
  const verdicts = await agreementOf(subject, most);
  if (args.includes('--list')) for (const v of verdicts) if (v.why !== undefined) console.log(`  ${v.wait}: ${v.why}`);
  print(subject.name, verdicts);
  all.push(...verdicts);
}
print('all', all);
