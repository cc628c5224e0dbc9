import { Play, RotateCw, Square, SquareTerminal, Trash2, type LucideIcon } from 'lucide-react';
import type { InstanceAction } from '../features/instances/instance-rules';

/** A verb that the palette understands before the name of an instance. */
export interface Verb {
  action: Exclude<InstanceAction, 'edit'>;
  label: string;
  icon: LucideIcon;
}

const verbs: readonly (Verb & { words: readonly string[] })[] = [
  { action: 'start', label: 'Start', icon: Play, words: ['start', 'boot'] },
  { action: 'stop', label: 'Stop', icon: Square, words: ['stop', 'shutdown'] },
  { action: 'reboot', label: 'Reboot', icon: RotateCw, words: ['reboot', 'restart'] },
  { action: 'console', label: 'Open the console of', icon: SquareTerminal, words: ['console', 'open', 'connect'] },
  { action: 'delete', label: 'Delete', icon: Trash2, words: ['delete', 'remove'] },
];

/** `stop web` → the verb and what its instance is called; null when the text begins with no verb and a blank. */
export const parseAction = (text: string): { verb: Verb; rest: string } | null => {
  const [, word, rest] = /^(\S+)\s+(.*)$/s.exec(text.trimStart()) ?? [];
  if (word === undefined || rest === undefined) return null;
  const verb = verbs.find(({ words }) => words.includes(word.toLowerCase()));
  return verb === undefined ? null : { verb, rest: rest.trim() };
};
