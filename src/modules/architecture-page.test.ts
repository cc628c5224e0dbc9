import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allModules } from './all-modules';

const root = join(__dirname, '../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

const needsOf = (name: string): readonly string[] => allModules.find((m) => m.name === name)?.needs ?? [];
const reaches = (from: string, to: string): boolean => needsOf(from).some((need) => need === to || reaches(need, to));

/** The modules as boxes, an arrow to each that one needs; what follows from another arrow is left out. */
const graph = (): string => {
  const arrows = allModules.flatMap(({ name, needs }) =>
    needs
      .filter((need) => !needs.some((other) => other !== need && reaches(other, need)))
      .sort()
      .map((need) => `  ${name} --> ${need}`),
  );
  return ['```mermaid', 'graph TD', ...arrows, '```'].join('\n');
};

describe('docs/architecture.md', () => {
  it('shows the modules as their manifests have them', () => {
    expect(/```mermaid\ngraph TD\n[^`]*```/.exec(page)?.[0]).toBe(graph());
  });

  it('names the files of a create, which are there', () => {
    const section = /## The files of a create\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
    const files = [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map((match) => match[1] ?? '');
    expect(files.length).toBeGreaterThan(8);
    expect(files.length).toBeLessThanOrEqual(12);
    expect(files.filter((file) => !existsSync(join(root, 'src', file)))).toEqual([]);
  });
});
