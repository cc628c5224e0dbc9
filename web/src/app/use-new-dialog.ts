import { useSearchParams } from 'react-router';
import { useCreateShortcut } from './shell/shortcuts';

/** A page's create dialog, addressed as `?new=1` so that links and the palette can open it; `c` opens it too. */
export const useNewDialog = (allowed: boolean): { open: boolean; show: () => void; hide: () => void } => {
  const [params, setParams] = useSearchParams();
  const show = (): void => setParams({ new: '1' }, { replace: true });
  useCreateShortcut(allowed ? show : null);
  return { open: allowed && params.get('new') === '1', show, hide: () => setParams({}, { replace: true }) };
};
