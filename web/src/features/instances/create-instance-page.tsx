import { Card, Page } from '../../ui/page';
import { FlavorSection, ImageSection, KeySection, NameSection, NetworkSection } from './create/create-sections';
import { CreateSummary } from './create/create-summary';
import { MoreSection } from './create/more-section';
import { useCreateForm } from './create/use-create-form';

/**
 * The form of the main job: everything an instance needs, checked before it is asked and explained when it is refused.
 */
export default function CreateInstancePage() {
  const form = useCreateForm();
  return (
    <Page title="New instance" parent={{ to: '/instances', label: 'Instances' }}>
      <form
        onSubmit={form.submit}
        noValidate
        className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_17rem]"
      >
        <Card className="space-y-6 p-5">
          <NameSection form={form} />
          <FlavorSection form={form} />
          <ImageSection form={form} />
          <NetworkSection form={form} />
          <KeySection form={form} />
          <MoreSection form={form} />
        </Card>
        <CreateSummary form={form} />
      </form>
    </Page>
  );
}
