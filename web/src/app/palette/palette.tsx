import { Command } from 'cmdk';
import { Dialog as D } from 'radix-ui';
import { useEffect, useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { useDebounced } from '../../lib/queries';
import { PaletteGroup, PaletteItem } from './palette-item';
import { Commands, Found, RecentVisits } from './palette-results';
import { usePaletteSearch } from './palette-search';
import { paletteOpen } from '../shell/shortcuts';
import { useFeatures } from '../use-features';
import { usePaletteCommands } from './use-palette-commands';

/**
 * Ctrl+K: find anything by name, id or address, act on an instance ("stop web"), go anywhere, create anything. A chunk
 * of its own.
 */
export default function Palette() {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [chosen, choose] = useState('');
  const [dialog, ask] = useState<ReactNode>(null);
  const features = useFeatures();
  const action = features.parseAction(text);
  const Results = action === null ? undefined : features.ofVerb(action.verb)?.palette?.Results;
  const typed = text.trim();
  const settled = useDebounced(typed, 120);
  const waiting = settled !== typed;
  const { groups, searching, failed } = usePaletteSearch(action === null ? settled : '');

  const close = (): void => paletteOpen.set(false);
  const go = (to: string) => () => {
    close();
    void navigate(to);
  };
  const commands = usePaletteCommands(typed, go, close);

  // What was found is the first choice.
  const firstGroup = groups[0];
  const firstItem = firstGroup?.items[0];
  const best = firstGroup !== undefined && firstItem !== undefined ? `${firstGroup.heading} ${firstItem.id}` : '';
  useEffect(() => {
    if (best !== '') choose(best);
  }, [best]);

  if (dialog !== null) return dialog;
  return (
    <D.Root open onOpenChange={(open) => !open && close()}>
      <D.Portal>
        <D.Overlay className="fixed inset-0 z-40 bg-shade" />
        <D.Content
          aria-describedby={undefined}
          className="fixed inset-x-3 top-[10vh] z-50 mx-auto max-w-xl animate-appear overflow-hidden rounded-xl bg-raised shadow-float"
        >
          <D.Title className="sr-only">Search and commands</D.Title>
          <Command label="Search and commands" loop shouldFilter={false} value={chosen} onValueChange={choose}>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Name, id or address, or “stop web”…"
              className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none"
            />
            <Command.List label="Results" className="max-h-[min(28rem,65vh)] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-8 text-center text-sm text-dim">
                {waiting || searching
                  ? 'Searching…'
                  : failed > 0
                    ? 'The search failed: the server does not answer all of it.'
                    : 'Nothing of that name, id or address.'}
              </Command.Empty>
              {action !== null && Results !== undefined && (
                <Results
                  verb={action.verb}
                  rest={action.rest}
                  Group={PaletteGroup}
                  Item={PaletteItem}
                  onAsk={ask}
                  onDone={close}
                  onChoice={choose}
                />
              )}
              {typed === '' && <RecentVisits go={go} />}
              <Found groups={groups} go={go} />
              <Commands commands={commands} />
            </Command.List>
          </Command>
        </D.Content>
      </D.Portal>
    </D.Root>
  );
}
