import { History } from 'lucide-react';
import { recent } from '../../lib/recent';
import { useStore } from '../../lib/store';
import { StateBadge } from '../../ui/feedback/state';
import { PaletteGroup, PaletteItem } from './palette-item';
import type { FoundGroup } from './palette-search';
import { useFeatures } from '../use-features';
import type { usePaletteCommands } from './use-palette-commands';

type Go = (to: string) => () => void;

/** What was looked at last, as long as nothing is typed. */
export function RecentVisits({ go }: { go: Go }) {
  const visits = useStore(recent);
  const features = useFeatures();
  if (visits.length === 0) return null;
  return (
    <PaletteGroup heading="Recent">
      {visits.map((visit) => (
        <PaletteItem
          key={visit.to}
          icon={features.icons[visit.kind] ?? History}
          value={`recent ${visit.to}`}
          onSelect={go(visit.to)}
          aside={<span className="text-xs text-dim">{visit.kind}</span>}
        >
          {visit.name}
        </PaletteItem>
      ))}
    </PaletteGroup>
  );
}

/** What the server found. */
export function Found({ groups, go }: { groups: readonly FoundGroup[]; go: Go }) {
  return (
    <>
      {groups.map(({ heading, icon, items }) => (
        <PaletteGroup key={heading} heading={heading}>
          {items.map((item) => (
            <PaletteItem
              key={item.id}
              icon={icon}
              value={`${heading} ${item.id}`}
              onSelect={go(item.to)}
              aside={
                item.state !== undefined && (
                  <StateBadge state={item.state} {...(item.task ? { kind: 'task' as const } : {})} />
                )
              }
            >
              {item.label}
            </PaletteItem>
          ))}
        </PaletteGroup>
      ))}
    </>
  );
}

export function Commands({ commands }: { commands: ReturnType<typeof usePaletteCommands> }) {
  return (
    <>
      {commands.map(({ heading, items }) => (
        <PaletteGroup key={heading} heading={heading}>
          {items.map((item) => (
            <PaletteItem
              key={item.label}
              icon={item.icon}
              value={`${heading} ${item.label}`}
              onSelect={item.run}
              aside={item.aside}
            >
              {item.label}
            </PaletteItem>
          ))}
        </PaletteGroup>
      ))}
    </>
  );
}
