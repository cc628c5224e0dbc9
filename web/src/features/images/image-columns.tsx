import { bytes, percent, words } from '../../lib/format';
import { useStore } from '../../lib/store';
import type { Image } from '../../lib/types';
import { Badge } from '../../ui/feedback/badge';
import type { Column } from '../../ui/lists/list-page';
import { Progress } from '../../ui/feedback/meter';
import { StateBadge } from '../../ui/feedback/state';
import { Cut } from '../../ui/lists/table';
import { openTask } from '../tasks/open-task';
import { uploads } from './uploads';

export const imageColumns: Column<Image>[] = [
  {
    head: 'Name',
    name: true,
    cell: (i) => (
      <>
        <span className="flex min-w-0 items-center gap-2">
          <Cut text={i.name} className="font-medium" />
          {i.public && <Badge tone="idle">public</Badge>}
          {i.kernel !== null && <Badge tone="idle">kernel</Badge>}
        </span>
        {i.state === 'error' ? (
          <Cut text={i.message} className="text-xs text-bad" />
        ) : (
          i.description !== '' && <Cut text={i.description} className="text-xs text-dim" />
        )}
      </>
    ),
  },
  { head: 'State', cell: (i) => <ImageState image={i} /> },
  {
    head: 'Disk',
    from: 'sm',
    headClassName: 'text-right',
    className: 'text-right whitespace-nowrap',
    cell: (i) => (i.virtualBytes === null ? '–' : bytes(i.virtualBytes)),
  },
  {
    head: 'Uploaded',
    from: 'md',
    headClassName: 'text-right',
    className: 'text-right whitespace-nowrap text-dim',
    cell: (i) =>
      i.sourceBytes === null ? '–' : `${bytes(i.sourceBytes)}${i.sourceFormat === null ? '' : ` ${i.sourceFormat}`}`,
  },
  {
    head: 'Checksum',
    from: 'lg',
    className: 'max-w-36 font-mono text-xs text-dim',
    cell: (i) => (i.sha256 === null ? '–' : <Cut text={i.sha256} />),
  },
];

/** Where it is, with a way to its task, and how far this browser's upload is. */
function ImageState({ image }: { image: Image }) {
  const upload = useStore(uploads).find((u) => u.imageId === image.id);
  const { taskId } = image;
  return (
    <>
      {taskId !== null ? (
        <button
          type="button"
          onClick={() => openTask(taskId)}
          aria-label={`${words(image.state)}: task of ${image.name}`}
          className="rounded-full"
        >
          <StateBadge state={image.state} />
        </button>
      ) : (
        <StateBadge state={image.state} title={image.message} />
      )}
      {upload !== undefined && (
        <div className="mt-1.5 w-28">
          <Progress value={percent(upload.sent, upload.total)} label={`Upload of ${image.name}`} />
          <span className="nums text-xs text-dim">{percent(upload.sent, upload.total)} %</span>
        </div>
      )}
    </>
  );
}
