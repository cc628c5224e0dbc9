import { Compass } from 'lucide-react';
import { ButtonLink } from '../../ui/button';
import { Empty } from '../../ui/feedback/empty';
import { Page } from '../../ui/page';

export function NotFoundPage() {
  return (
    <Page title="Not found">
      <Empty icon={Compass} title="There is no such page" action={<ButtonLink to="/">Go to the overview</ButtonLink>}>
        The address may be mistyped, or you may lack the role that shows it.
      </Empty>
    </Page>
  );
}
