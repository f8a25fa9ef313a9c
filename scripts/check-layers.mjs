// The import check: every relative import in src/ must follow tools/layers.json; browser layers import nothing of Node; no import
// circles, those of types included.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { circles, importGraph, sources, specifiers } from './import-graph.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** All violations as lines `file: imports X, which layer L may not`. */
export function checkLayers() {
  const { layers, onlyFiles, noNode, nodeFolders } = JSON.parse(readFileSync(join(root, 'tools/layers.json'), 'utf8'));
  const problems = [];
  for (const path of sources(join(root, 'src'))) {
    const file = relative(root, path);
    const layer = file.split('/')[1];
    if (!(layer in layers)) {
      problems.push(`${file}: folder 'src/${layer}' is not a layer of tools/layers.json.`);
      continue;
    }
    for (const specifier of specifiers(readFileSync(path, 'utf8'))) {
      if (specifier.startsWith('node:')) {
        if (noNode.includes(layer) && !nodeFolders.some((folder) => file.startsWith(`${folder}/`)))
          problems.push(`${file}: imports ${specifier}, but '${layer}' must run in a browser.`);
        continue;
      }
      if (!specifier.startsWith('.')) continue;
      const target = relative(root, resolve(dirname(path), specifier));
      const [top, targetLayer] = target.split('/');
      if (top !== 'src') {
        if (target !== 'package.json') problems.push(`${file}: imports ${target}, outside src/.`);
        continue;
      }
      const nodeFolder = nodeFolders.find((folder) => target.startsWith(`${folder}/`));
      if (nodeFolder !== undefined && noNode.includes(layer) && !file.startsWith(`${nodeFolder}/`)) {
        problems.push(`${file}: imports ${target}, but '${layer}' must run in a browser.`);
      }
      if (targetLayer === layer) continue;
      if (!layers[layer].includes(targetLayer))
        problems.push(`${file}: imports ${target}, which layer '${layer}' may not.`);
      const only = onlyFiles[layer]?.[targetLayer];
      if (only !== undefined && !only.includes(target))
        problems.push(`${file}: of '${targetLayer}' only ${only.join(', ')} may be imported.`);
    }
  }
  return problems;
}

/** All import circles below src/ as lines `circle: A → B → A`. */
export function checkCircles() {
  return circles(importGraph(join(root, 'src')))
    .map((circle) => circle.map((path) => relative(root, path)))
    .map((circle) => `circle: ${circle.join(' → ')}. Move the types both need into a file of their own.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = [...checkLayers(), ...checkCircles()];
  for (const problem of problems) console.error(problem);
  console.log(`imports: ${problems.length} problem${problems.length === 1 ? '' : 's'}.`);
  process.exit(problems.length === 0 ? 0 : 1);
}
