import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../support/repository';

jest.setTimeout(180_000);

const manifest = `import { Lightbulb } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const beacons: Feature = {
  nav: [{ group: 'Operations', item: { to: '/beacons', label: 'Beacons of all hosts', icon: Lightbulb } }],
  routes: [{ path: '/beacons', page: lazyPage('beacons', 'BeaconsPage') }],
  create: [{ label: 'Light a beacon', to: '/beacons?new=1', who: 'writers' }],
  live: { beacon: ['beacons'] },
  hostParts: { beacons: lazyPage('beacons', 'LampsCard') },
};
`;
const page = `import type { HostPartProps } from '../../app/feature';
export function LampsCard({ entries }: HostPartProps) {
  return <p>Lamps of this host: {entries.length}</p>;
}
export default function BeaconsPage() {
  return <h1>Every beacon that is lit</h1>;
}
`;

let directory: string;
let web: string;

beforeAll(() => {
  mkdirSync(join(repositoryRoot, '.cache'), { recursive: true });
  // Inside the repository, so that packages are found; the console takes words from contracts beside it.
  directory = mkdtempSync(join(repositoryRoot, '.cache/whole-feature-'));
  symlinkSync(join(repositoryRoot, 'src'), join(directory, 'src'));
  web = join(directory, 'web');
  const source = join(repositoryRoot, 'web');
  for (const entry of readdirSync(source))
    if (entry !== 'dist') cpSync(join(source, entry), join(web, entry), { recursive: true });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('builds a console with one more feature: one folder and one line', () => {
  const folder = join(web, 'src/features/beacons');
  mkdirSync(folder);
  writeFileSync(join(folder, 'manifest.ts'), manifest);
  writeFileSync(join(folder, 'pages.ts'), `export { default as BeaconsPage, LampsCard } from './beacons-page';\n`);
  writeFileSync(join(folder, 'beacons-page.tsx'), page);
  const list = join(web, 'src/features/all-features.ts');
  const before = readFileSync(list, 'utf8');
  const after = before
    .replace('  account,\n', '  account,\n  beacons,\n')
    .replace(`import { account }`, `import { beacons } from './beacons/manifest';\nimport { account }`);
  expect(after.split('\n').length).toBe(before.split('\n').length + 2);
  writeFileSync(list, after);
  execFileSync(process.execPath, [join(repositoryRoot, 'node_modules/vite/bin/vite.js'), 'build', web], {
    cwd: repositoryRoot,
    stdio: 'pipe',
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const assets = join(web, 'dist/assets');
  const text = (part: string): string =>
    readdirSync(assets)
      .filter((name) => name.startsWith(`${part}-`) && name.endsWith('.js'))
      .map((name) => readFileSync(join(assets, name), 'utf8'))
      .join('\n');
  // The frame knows where it is, and loads the page with those of the others.
  expect(text('index')).toContain('Beacons of all hosts');
  expect(text('index')).not.toContain('Every beacon that is lit');
  expect(text('pages')).toContain('Every beacon that is lit');
  expect(text('pages')).toContain('Lamps of this host');
});
