import { Disc3, Plus } from 'lucide-react';
import { useState } from 'react';
import { EditDialog, type EditField } from '../../app/edit-dialog';
import { vendorDataField } from '../../app/vendor-data-field';
import { RemovalDialog, useRemoval } from '../../app/removal';
import { useProjectColumn } from '../../app/shell/project-column';
import { useScope } from '../../app/scope';
import { useNewDialog } from '../../app/use-new-dialog';
import { api } from '../../lib/api';
import { useList } from '../../lib/queries';
import type { Image } from '../../lib/types';
import { checkDescription, checkName } from '../../lib/validate';
import { Button } from '../../ui/button';
import { DeleteButton } from '../../ui/dialogs/delete-button';
import { Dialog } from '../../ui/dialogs/dialog';
import { EditButton } from '../../ui/dialogs/edit-button';
import { actionColumn, ListPage } from '../../ui/lists/list-page';
import { useSearchFilter } from '../../ui/lists/search-filter';
import { RowActions } from '../../ui/lists/row-actions';
import { Age } from '../../ui/time';
import { imageColumns } from './image-columns';
import { checkCommandLine, checkVmm } from './image-form';
import { NewImage } from './new-image';

const commandLineField = (value: string): EditField<'kernel'> => ({
  key: 'kernel',
  label: 'Command line',
  value,
  optional: true,
  hint: 'What its kernel is told in instances made, rebuilt or rescued from now on.',
  option: 'command-line',
  check: checkCommandLine,
  parse: (commandLine) => ({ commandLine }),
});

export default function ImagesPage() {
  const search = useSearchFilter();
  const scope = useScope();
  const list = useList('/images', { query: { ...scope.query, q: search.q } });
  const dialog = useNewDialog(scope.readOnly === null);
  const removal = useRemoval('image', (image: Image) => api.delete('/images/{ref}', { path: { ref: image.id } }), {
    touches: ['images'],
  });
  const [edited, setEdited] = useState<Image | null>(null);
  const reasonOf = (image: Image): string | null =>
    image.state === 'deleting' ? 'It is being deleted.' : scope.reasonFor(image.projectId);
  const add = (
    <Button look="primary" icon={Plus} reason={scope.readOnly} onClick={dialog.show}>
      Add image
    </Button>
  );
  return (
    <ListPage
      title="Images"
      description="Disks that instances start from: raw or qcow2, checked and stored as raw."
      actions={add}
      list={list}
      search={search}
      empty={{
        icon: Disc3,
        title: 'No images yet',
        text: 'Upload a cloud image from your computer, or give the address of one and the server fetches it. No image at hand? On a Debian machine, bin/debian-image of this project makes one from the package archive.',
        action: add,
      }}
      columns={[
        ...imageColumns,
        ...useProjectColumn<Image>(),
        { head: 'Age', from: 'sm', className: 'text-dim', cell: (i) => <Age at={i.createdAt} /> },
        actionColumn<Image>((i) => (
          <RowActions>
            <EditButton name={i.name} reason={reasonOf(i)} onClick={() => setEdited(i)} />
            <DeleteButton name={i.name} reason={reasonOf(i)} onClick={() => removal.ask(i)} />
          </RowActions>
        )),
      ]}
    >
      <Dialog open={dialog.open} onClose={dialog.hide} title="Add image">
        <NewImage onClose={dialog.hide} />
      </Dialog>
      <EditDialog
        noun="image"
        path="/images/{ref}"
        item={edited}
        onClose={() => setEdited(null)}
        fields={[
          { key: 'name', label: 'Name', value: edited?.name ?? '', check: checkName },
          {
            key: 'description',
            label: 'Description',
            value: edited?.description ?? '',
            optional: true,
            check: checkDescription,
          },
          {
            key: 'vmm',
            label: 'Virtual machine monitor',
            value: edited?.vmm ?? '',
            optional: true,
            hint: 'Its kind, such as qemu, for instances made from now on. Empty: the flavor, the instance or the host chooses.',
            check: checkVmm,
            parse: (text) => (text.trim() === '' ? null : text.trim()),
          },
          ...(edited?.kernel == null ? [] : [commandLineField(edited.kernel.commandLine)]),
          vendorDataField(edited?.vendorData, 'image'),
        ]}
      />
      <RemovalDialog removal={removal}>Instances made from it keep their disks.</RemovalDialog>
    </ListPage>
  );
}
