import { useStore } from '../../lib/store';
import { Dialog } from '../../ui/dialogs/dialog';
import { useFeatures } from '../use-features';
import { useScope } from '../scope';
import { helpOpen } from './shortcuts';

const Key = ({ children }: { children: string }) => (
  <kbd className="inline-grid h-5.5 min-w-5.5 place-items-center rounded border border-line-strong bg-sunken px-1.5 font-sans text-xs">
    {children}
  </kbd>
);

function Line({ keys, text }: { keys: string[]; text: string }) {
  return (
    <div className="flex items-center justify-between gap-4 py-1.5">
      <dt>{text}</dt>
      <dd className="flex gap-1">
        {keys.map((k) => (
          <Key key={k}>{k}</Key>
        ))}
      </dd>
    </div>
  );
}

/** All keys on one page. */
export function ShortcutsDialog() {
  const open = useStore(helpOpen);
  const { admin } = useScope();
  const features = useFeatures();
  return (
    <Dialog open={open} onClose={() => helpOpen.set(false)} title="Keyboard shortcuts" wide>
      <div className="grid gap-x-10 text-sm sm:grid-cols-2">
        <div>
          <h3 className="mb-1 text-xs text-dim">Anywhere</h3>
          <dl>
            <Line keys={['Ctrl', 'K']} text="Search and commands" />
            <Line keys={['c']} text="Create (what the page lists, or an instance)" />
            <Line keys={['/']} text="Filter the list" />
            <Line keys={['Esc']} text="Close, or clear the filter" />
            <Line keys={['?']} text="This help" />
          </dl>
          <h3 className="mt-4 mb-1 text-xs text-dim">In a serial console</h3>
          <dl>
            <Line keys={['Ctrl', 'Shift', 'F6']} text="Leave the terminal" />
          </dl>
        </div>
        <div>
          <h3 className="mt-4 mb-1 text-xs text-dim sm:mt-0">Go to</h3>
          <dl>
            {features
              .navItems(admin)
              .map((item) => item.key !== undefined && <Line key={item.to} keys={['g', item.key]} text={item.label} />)}
          </dl>
        </div>
      </div>
    </Dialog>
  );
}
