import { useScope } from '../../../app/scope';
import { vcctl } from '../../../lib/command';
import { bytes, plural } from '../../../lib/format';
import { Button, ButtonLink } from '../../../ui/button';
import { CommandLine } from '../../../ui/command-line';
import { FormProblem } from '../../../ui/forms/form-problem';
import { Card } from '../../../ui/page';
import { CreateCheck } from './create-check';
import { commandOptions } from './create-form';
import type { CreateForm } from './use-create-form';

/** Members that the form shows what is wrong with at their place. */
const fieldNames = [
  'name',
  'count',
  'flavor',
  'image',
  'networks',
  'sshKeys',
  'userData',
  'stopGraceSeconds',
  'restartPolicy',
  'description',
  'maxVcpus',
  'maxMemoryBytes',
  'vmm',
  'host',
];

/** Beside the form: what will be made, what the server says of it, and the button. */
export function CreateSummary({ form }: { form: CreateForm }) {
  const scope = useScope();
  const { draft, choices, offers, body, check, refusal, target } = form;
  return (
    <div className="space-y-3 lg:sticky lg:top-18">
      <Card title="Summary">
        <Chosen form={form} />
        <CreateCheck check={check} fields={fieldNames} />
        <div className="border-t border-line p-4">
          <Button
            type="submit"
            look="primary"
            className="w-full"
            busy={form.busy}
            reason={scope.readOnly ?? scope.reasonFor(target.project)}
          >
            {choices.several ? `Create ${choices.copies} instances` : 'Create instance'}
          </Button>
          <ButtonLink to="/instances" look="ghost" className="mt-1.5 w-full">
            Cancel
          </ButtonLink>
        </div>
      </Card>
      <FormProblem error={refusal} fields={fieldNames} />
      {body !== null && (
        <CommandLine line={vcctl(['instance', 'create', draft.name], commandOptions(draft, choices, offers))} />
      )}
    </div>
  );
}

function Chosen({ form: { draft, choices, offers } }: { form: CreateForm }) {
  const { flavor, image, attached, several, names, pastedKeys } = choices;
  const keys = draft.keyIds.length + pastedKeys.length;
  return (
    <dl className="space-y-2.5 p-4 text-sm">
      <Line label={several ? 'Names' : 'Name'} value={draft.name === '' ? '' : names} />
      <Line
        label="Flavor"
        value={
          flavor === undefined ? '' : `${flavor.name}: ${plural(flavor.vcpus, 'vCPU')}, ${bytes(flavor.memoryBytes)}`
        }
      />
      <Line label="Image" value={image?.name ?? ''} />
      <Line label="Networks" value={attached.map((a) => offers.networks.find((n) => n.id === a.id)?.name).join(', ')} />
      <Line label="SSH keys" value={keys === 0 ? '' : String(keys)} />
    </dl>
  );
}

function Line({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt className="text-xs text-dim">{label}</dt>
      <dd title={value} className={value === '' ? 'text-dim' : 'truncate'}>
        {value === '' ? '–' : value}
      </dd>
    </div>
  );
}
