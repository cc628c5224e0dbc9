import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** The folder above a file of ours that has the packages which it uses. */
const rootOf = (path: string): string => {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at))
    if (existsSync(join(at, 'node_modules'))) return at;
  throw new Error(`there are no packages above ${path}`);
};

/**
 * Files and folders that a script of ours is read from: its tree of code (`dist`), the packages, and what Node was told
 * to load before it.
 * @param path absolute, of the script
 * @param nodeArguments those that it is started with
 */
export const codeOf = (path: string, nodeArguments: readonly string[]): string[] => {
  const root = rootOf(path);
  const [tree = ''] = relative(root, path).split(sep);
  const preloads = nodeArguments.filter((arg) => isAbsolute(arg) && existsSync(arg)).map((arg) => dirname(arg));
  return [...new Set([join(root, tree), join(root, 'node_modules'), join(root, 'package.json'), ...preloads])];
};
