import type { LucideIcon } from 'lucide-react';
import { useList, type List } from '../../lib/queries';
import type { Found } from '../feature';
import { useFeatures } from '../use-features';
import { useScope } from '../scope';

/** Of each noun so many are shown. */
const each = 5;

export interface FoundGroup {
  heading: string;
  icon: LucideIcon;
  items: { id: string; label: string; to: string; state?: string; task: boolean }[];
}

/** Everything that `q` finds by name, id or address, by noun. Nothing is asked while `q` is empty. */
export const usePaletteSearch = (q: string): { groups: FoundGroup[]; searching: boolean; failed: number } => {
  const { admin, query } = useScope();
  const lists = useFeatures().find.map((noun) => ({
    noun,
    // The features are a constant, so the hooks come in the same order at every render.
    // Which collections there are, the features say: what they have in common is all that is looked at.
    list: useList(`/${noun.collection}` as '/instances', {
      query: { ...(noun.scoped ? query : {}), limit: each, q },
      enabled: q !== '' && (admin || noun.adminOnly !== true),
    }) as List<Found>,
  }));
  const groups = lists
    .filter(({ list }) => list.items.length > 0 && !list.isPlaceholderData && q !== '')
    .map(({ noun, list }) => ({
      heading: noun.heading,
      icon: noun.icon,
      items: list.items.map((item) => ({
        id: item.id,
        label: noun.label?.(item) ?? item.name ?? item.id,
        to: noun.to(item),
        task: noun.task === true,
        ...(item.state === undefined ? {} : { state: item.state }),
      })),
    }));
  return {
    groups,
    searching: lists.some(({ list }) => list.isFetching),
    failed: lists.filter(({ list }) => list.error !== null).length,
  };
};
