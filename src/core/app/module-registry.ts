import type { ModuleManifest } from './module-manifest';

/**
 * Sorts modules so that each comes after those it needs. Throws on a name twice, an unknown name and a cycle, naming
 * both ends.
 */
export const sortModules = (manifests: readonly ModuleManifest[]): ModuleManifest[] => {
  const byName = new Map<string, ModuleManifest>();
  for (const manifest of manifests) {
    if (byName.has(manifest.name)) throw new Error(`module "${manifest.name}" is registered twice`);
    byName.set(manifest.name, manifest);
  }
  const sorted: ModuleManifest[] = [];
  const done = new Set<string>();
  const visit = (manifest: ModuleManifest, path: string[]): void => {
    if (done.has(manifest.name)) return;
    const at = path.indexOf(manifest.name);
    if (at >= 0)
      throw new Error(`modules need each other in a circle: ${[...path.slice(at), manifest.name].join(' → ')}`);
    for (const need of manifest.needs) {
      const needed = byName.get(need);
      if (!needed) throw new Error(`module "${manifest.name}" needs "${need}", which does not exist`);
      visit(needed, [...path, manifest.name]);
    }
    done.add(manifest.name);
    sorted.push(manifest);
  };
  for (const manifest of manifests) visit(manifest, []);
  return sorted;
};
