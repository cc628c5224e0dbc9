/** A release, or a build of so many commits after it. */
export interface ChVersion {
  major: number;
  minor: number;
  /** Commits since that release; 0 for the release itself. */
  distance: number;
  /** As it names itself, without the `v`. */
  text: string;
}

const pattern = /\bv(\d+)\.(\d+)(?:\.\d+)?(?:-(\d+)-g[0-9a-f]+)?([\w.+-]*)/;

/**
 * Reads `cloud-hypervisor v53.0` and `v53.0-246-gae44c2971-dirty`, the way that `git describe` names builds. Null for
 * anything else.
 */
export const parseChVersion = (output: string): ChVersion | null => {
  const found = pattern.exec(output);
  if (!found) return null;
  return { major: Number(found[1]), minor: Number(found[2]), distance: Number(found[3] ?? 0), text: found[0].slice(1) };
};
