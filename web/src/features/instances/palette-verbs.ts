import { CirclePause, CirclePlay, Moon, Play, RotateCw, Square, SquareTerminal, Trash2 } from 'lucide-react';
import type { PaletteVerb } from '../../app/feature';

/** What the palette does with an instance. */
export const verbs: readonly PaletteVerb[] = [
  { action: 'start', label: 'Start', icon: Play, words: ['start', 'boot'] },
  { action: 'stop', label: 'Stop', icon: Square, words: ['stop', 'shutdown'] },
  { action: 'reboot', label: 'Reboot', icon: RotateCw, words: ['reboot', 'restart'] },
  { action: 'pause', label: 'Pause', icon: CirclePause, words: ['pause', 'freeze'] },
  { action: 'suspend', label: 'Suspend', icon: Moon, words: ['suspend', 'hibernate', 'sleep'] },
  { action: 'resume', label: 'Resume', icon: CirclePlay, words: ['resume', 'unpause'] },
  { action: 'console', label: 'Open the console of', icon: SquareTerminal, words: ['console', 'open', 'connect'] },
  { action: 'delete', label: 'Delete', icon: Trash2, words: ['delete', 'remove'] },
];
