import { ChevronRight } from 'lucide-react';
import { useEffect, useState, type FormEvent } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { useScope } from '../../app/scope';
import { api } from '../../lib/api';
import { vcctl } from '../../lib/command';
import { base64, bytes, plural } from '../../lib/format';
import { fieldErrors } from '../../lib/problem';
import { useList, useWrite } from '../../lib/queries';
import type { CreateInstance } from '../../lib/types';
import { checkAddress, checkGrace, checkName, checkPublicKey, userDataLimit } from '../../lib/validate';
import { Button, ButtonLink } from '../../ui/button';
import { CommandLine } from '../../ui/command-line';
import { SelectField, TextArea, TextField } from '../../ui/field';
import { FormProblem } from '../../ui/form-problem';
import { LoadError } from '../../ui/list-states';
import { Card, Page } from '../../ui/page';
import { followTask } from '../tasks/open-task';
import { FormSection } from './choice';
import { CreateCheck } from './create-check';
import { draftOf, keepDraft } from './drafts';
import { useCreateCheck } from './use-create-check';
import { UserDataField, userDataSize } from './user-data-field';
import { FlavorPicker, imageReason, ImagePicker, KeyPicker, Missing, NetworkPicker, PickerSkeleton } from './pickers';

const fieldNames = [
  'name',
  'count',
  'flavor',
  'image',
  'networks',
  'sshKeys',
  'userData',
  'stopGraceSeconds',
  'description',
  'vmm',
  'host',
];

/**
 * The form of the main job: everything an instance needs, checked before it is asked and explained when it is refused.
 */
export default function CreateInstancePage() {
  const scope = useScope();
  const navigate = useNavigate();
  const [params] = useSearchParams();
  // After a task that failed the form comes back as it was filled in.
  const [draft] = useState(() => draftOf(params.get('again')));
  const [projectId, setProjectId] = useState(
    scope.project?.id ?? scope.projects.find((p) => p.role !== 'viewer')?.id ?? '',
  );
  const project = scope.project?.id ?? projectId;
  const inProject = project === '' ? {} : { project };
  const flavors = useList('/flavors', { query: { limit: 500 } });
  const images = useList('/images', { query: { ...inProject, limit: 500 } });
  const networks = useList('/networks', { query: { ...inProject, limit: 500 } });
  const keys = useList('/ssh-keys', { query: { ...inProject, limit: 500 } });
  const hosts = useList('/hosts', { query: { limit: 500 }, enabled: scope.admin });

  const [name, setName] = useState(draft?.name ?? '');
  const [count, setCount] = useState(draft?.count ?? '1');
  const [description, setDescription] = useState(draft?.description ?? '');
  const [flavorId, setFlavorId] = useState(draft?.flavorId ?? null);
  const [imageId, setImageId] = useState(draft?.imageId ?? null);
  const [chosenNetworks, setNetworks] = useState(draft?.networks ?? null);
  const [keyIds, setKeyIds] = useState(draft?.keyIds ?? []);
  const [pasted, setPasted] = useState(draft?.pasted ?? '');
  const [userData, setUserData] = useState(draft?.userData ?? '');
  const [dataFile, setDataFile] = useState(draft?.dataFile ?? null);
  const [chosenWayOut, setWayOut] = useState(draft?.wayOut ?? '');
  const [configDrive, setConfigDrive] = useState(draft?.configDrive ?? '');
  const [vmm, setVmm] = useState(draft?.vmm ?? '');
  const [grace, setGrace] = useState(draft?.grace ?? '30');
  const [host, setHost] = useState(draft?.host ?? '');
  const [tried, setTried] = useState(false);

  // What there is one of is chosen already.
  const sizes = [...flavors.items].sort((a, b) => a.memoryBytes - b.memoryBytes || a.vcpus - b.vcpus);
  const flavor = sizes.find((f) => f.id === flavorId) ?? (sizes.length === 1 ? sizes[0] : undefined);
  const usable = images.items.filter((i) => imageReason(i, flavor) === null);
  const image = usable.find((i) => i.id === imageId) ?? (usable.length === 1 ? usable[0] : undefined);
  const onlyNetwork = networks.items.length === 1 ? networks.items[0] : undefined;
  const attached = (chosenNetworks ?? (onlyNetwork === undefined ? [] : [{ id: onlyNetwork.id, address: '' }])).filter(
    (c) => networks.items.some((n) => n.id === c.id),
  );
  /** Networks by which the default route may go. */
  const ways = attached.flatMap((a) => networks.items.find((n) => n.id === a.id && n.nat) ?? []);
  const wayOut = attached.length > 1 && ways.some((n) => n.id === chosenWayOut) ? chosenWayOut : '';
  const pastedKeys = pasted
    .split('\n')
    .map((k) => k.trim())
    .filter((k) => k !== '');

  const copies = /^\d{1,3}$/.test(count) ? Number(count) : 0;
  const several = copies > 1;
  const names = several ? `${name}-1 to ${name}-${copies}` : name;

  const create = useWrite(
    async (body: CreateInstance): Promise<{ path: string; taskId: string }> => {
      if (several)
        return {
          path: '/instances',
          ...(await api.post('/instances/batch', { body: { ...body, count: copies }, query: inProject })),
        };
      const { instance, taskId } = await api.post('/instances', { body, query: inProject });
      return { path: `/instances/${instance.id}`, taskId };
    },
    {
      touches: ['instances', 'tasks', 'networks', 'volumes'],
      onDone: ({ path, taskId }) => {
        keepDraft(taskId, {
          name,
          count,
          description,
          flavorId,
          imageId,
          networks: chosenNetworks,
          keyIds,
          pasted,
          userData,
          dataFile,
          wayOut,
          configDrive,
          vmm,
          grace,
          host,
        });
        void navigate(path);
        followTask(taskId);
      },
    },
  );
  const badAddress = attached.some(
    (a) => a.address !== '' && checkAddress(a.address, networks.items.find((n) => n.id === a.id)?.subnet) !== null,
  );

  const problems: Record<string, string | null> = {
    name:
      checkName(name) ??
      (several && [...`${name}-${copies}`].length > 63 ? 'With its number it may have 63 characters at most.' : null),
    count: copies >= 1 && copies <= 100 ? null : 'A whole number from 1 to 100.',
    flavor: flavor === undefined ? 'Choose a flavor.' : null,
    image: image === undefined ? 'Choose an image.' : null,
    networks:
      attached.length === 0
        ? 'Choose at least one network.'
        : several && attached.some((a) => a.address !== '')
          ? 'Several instances cannot have the same address: leave it out.'
          : null,
    sshKeys: pastedKeys.map(checkPublicKey).find((m) => m !== null) ?? null,
    userData: userDataSize(userData, dataFile) > userDataLimit ? 'Too large: at most 64 KiB.' : null,
    stopGraceSeconds: checkGrace(grace),
    description: [...description].length > 255 ? 'At most 255 characters.' : null,
  };
  const body: CreateInstance | null =
    badAddress || flavor === undefined || image === undefined || Object.values(problems).some((p) => p !== null)
      ? null
      : {
          name,
          flavor: flavor.id,
          image: image.id,
          networks: attached.map((a) => ({
            network: a.id,
            ...(a.address === '' ? {} : { address: a.address }),
            ...(a.id === wayOut ? { defaultRoute: true } : {}),
          })),
          sshKeys: [...keyIds.filter((id) => keys.items.some((k) => k.id === id)), ...pastedKeys],
          ...(description === '' ? {} : { description }),
          ...(userDataSize(userData, dataFile) === 0 ? {} : { userData: base64(dataFile?.bytes ?? userData) }),
          ...(configDrive === 'openstack' || configDrive === 'nocloud' ? { configDrive } : {}),
          ...(vmm.trim() === '' ? {} : { vmm: vmm.trim() }),
          stopGraceSeconds: Number(grace),
          ...(host === '' ? {} : { host }),
        };

  const check = useCreateCheck(body, several ? copies : 1, inProject);
  // A refusal stands until something is changed; then counts what the server says of the form as it is.
  const refusal = JSON.stringify(create.variables) === JSON.stringify(body) ? create.error : null;
  const problem = refusal ?? check.error;
  const refused = fieldErrors(problem);
  // What is wrong with an address is said at the address, not at the networks.
  const refusedNetworks =
    problem?.errors.flatMap((e) => /^body\.networks\.(\d+)\.address$/.exec(e.path)?.[1] ?? []) ?? [];
  const refusedAddress = (id: string): string | null =>
    refusedNetworks.includes(String(attached.findIndex((a) => a.id === id))) ? (refused.networks ?? null) : null;
  const show = (field: string): string | null => (tried ? problems[field] : null) ?? refused[field] ?? null;
  const button = several ? `Create ${copies} instances` : 'Create instance';
  const advanced =
    show('userData') ??
    show('configDrive') ??
    show('stopGraceSeconds') ??
    show('description') ??
    show('vmm') ??
    show('host');
  const [advancedOpen, setAdvancedOpen] = useState(false);
  useEffect(() => {
    if (advanced !== null) setAdvancedOpen(true);
  }, [advanced]);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (create.isPending || body === null) return;
    create.mutate(body);
  };

  return (
    <Page title="New instance" parent={{ to: '/instances', label: 'Instances' }}>
      <form
        onSubmit={submit}
        noValidate
        className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_17rem]"
      >
        <Card className="space-y-6 p-5">
          <FormSection title="Name">
            {scope.project === null && scope.projects.length > 1 && (
              <SelectField
                label="Project"
                value={projectId}
                onChange={(event) => setProjectId(event.target.value)}
                className="mb-4 max-w-sm"
              >
                {scope.projects.map((p) => (
                  <option key={p.id} value={p.id} disabled={p.role === 'viewer'}>
                    {p.name}
                  </option>
                ))}
              </SelectField>
            )}
            <div className="flex max-w-lg flex-wrap items-start gap-4">
              <TextField
                label="Instance name"
                name="name"
                value={name}
                onChange={(event) => setName(event.target.value)}
                error={show('name')}
                hint={
                  several && name !== ''
                    ? `${names}: all of them are made, or none.`
                    : 'Any text of up to 63 characters. The guest gets a hostname derived from it.'
                }
                placeholder={several ? 'web' : 'web-1'}
                autoFocus
                className="min-w-60 flex-1"
              />
              <TextField
                label="How many"
                name="count"
                inputMode="numeric"
                value={count}
                onChange={(event) => setCount(event.target.value)}
                error={show('count')}
                className="w-28"
              />
            </div>
          </FormSection>

          <FormSection title="Flavor" hint="How many processors and how much memory." error={show('flavor')}>
            {flavors.error !== null && flavors.items.length === 0 ? (
              <LoadError error={flavors.error} onRetry={() => void flavors.refetch()} />
            ) : flavors.isPending ? (
              <PickerSkeleton />
            ) : sizes.length === 0 ? (
              scope.admin ? (
                <Missing to="/flavors?new=1" label="Create a flavor">
                  There is no flavor yet.
                </Missing>
              ) : (
                <Missing>There is no flavor yet. Ask an administrator to create one.</Missing>
              )
            ) : (
              <FlavorPicker flavors={sizes} value={flavor?.id ?? ''} onChange={setFlavorId} />
            )}
          </FormSection>

          <FormSection title="Image" hint="What its disk starts from." error={show('image')}>
            {images.error !== null && images.items.length === 0 ? (
              <LoadError error={images.error} onRetry={() => void images.refetch()} />
            ) : images.isPending ? (
              <PickerSkeleton />
            ) : images.items.length === 0 ? (
              <Missing to="/images?new=1" label="Upload or import one">
                There is no image yet.
              </Missing>
            ) : (
              <ImagePicker images={images.items} flavor={flavor} value={image?.id ?? ''} onChange={setImageId} />
            )}
          </FormSection>

          <FormSection
            title="Networks"
            hint="One interface in each, in the order in which they are chosen."
            error={refusedNetworks.length > 0 ? (tried ? problems.networks : null) : show('networks')}
          >
            {networks.error !== null && networks.items.length === 0 ? (
              <LoadError error={networks.error} onRetry={() => void networks.refetch()} />
            ) : networks.isPending ? (
              <PickerSkeleton />
            ) : networks.items.length === 0 ? (
              <Missing to="/networks?new=1" label="Create a network">
                There is no network in this project yet.
              </Missing>
            ) : (
              <>
                <NetworkPicker
                  networks={networks.items}
                  value={attached}
                  onChange={setNetworks}
                  refused={refusedAddress}
                />
                {attached.length > 1 && (
                  <SelectField
                    label="Default route"
                    value={wayOut}
                    onChange={(event) => setWayOut(event.target.value)}
                    className="mt-4 max-w-sm"
                    hint="What is in none of these networks goes this way."
                  >
                    <option value="">By the first one that reaches the outside</option>
                    {ways.map((n) => (
                      <option key={n.id} value={n.id}>
                        By {n.name}
                      </option>
                    ))}
                  </SelectField>
                )}
              </>
            )}
          </FormSection>

          <FormSection
            title="SSH keys"
            hint="Who may log in. Without a key there is only the serial console."
            error={show('sshKeys')}
          >
            {keys.error !== null && keys.items.length === 0 ? (
              <LoadError error={keys.error} onRetry={() => void keys.refetch()} />
            ) : keys.isPending ? (
              <PickerSkeleton />
            ) : (
              keys.items.length > 0 && <KeyPicker keys={keys.items} value={keyIds} onChange={setKeyIds} />
            )}
            <TextArea
              label={keys.items.length > 0 ? 'Or paste public keys' : 'Paste public keys'}
              optional
              mono
              rows={2}
              className="mt-3"
              placeholder="ssh-ed25519 AAAA… you@laptop"
              hint="One per line."
              value={pasted}
              onChange={(event) => setPasted(event.target.value)}
            />
          </FormSection>

          <details
            className="group border-t border-line pt-5"
            open={advancedOpen}
            onToggle={(event) => setAdvancedOpen(event.currentTarget.open)}
          >
            <summary className="flex cursor-pointer list-none items-center gap-1.5 rounded text-sm font-semibold">
              <ChevronRight aria-hidden className="size-4 text-dim transition-transform group-open:rotate-90" />
              More: user data, config drive, description, stopping, VMM{scope.admin && ', host'}
            </summary>
            <div className="mt-4 space-y-4">
              <UserDataField
                text={userData}
                file={dataFile}
                onText={setUserData}
                onFile={setDataFile}
                error={show('userData')}
              />
              <SelectField
                label="Config drive"
                optional
                value={configDrive}
                onChange={(event) => setConfigDrive(event.target.value)}
                error={show('configDrive')}
                hint="A disk with what the metadata service tells, for guests that cannot ask it."
                className="max-w-sm"
              >
                <option value="">None</option>
                <option value="openstack">OpenStack (config-2)</option>
                <option value="nocloud">NoCloud (cidata)</option>
              </SelectField>
              <TextField
                label="Description"
                optional
                value={description}
                onChange={(event) => setDescription(event.target.value)}
                error={show('description')}
              />
              <TextField
                label="Seconds to wait for the guest when stopping"
                inputMode="numeric"
                value={grace}
                onChange={(event) => setGrace(event.target.value)}
                error={show('stopGraceSeconds')}
                className="max-w-sm"
              />
              <TextField
                label="Virtual machine monitor"
                optional
                value={vmm}
                onChange={(event) => setVmm(event.target.value)}
                error={show('vmm')}
                hint="Its kind, such as qemu or cloud-hypervisor. Without one the host chooses."
                className="max-w-sm"
              />
              {scope.admin && (
                <SelectField
                  label="Host"
                  optional
                  value={host}
                  onChange={(event) => setHost(event.target.value)}
                  error={show('host')}
                  className="max-w-sm"
                >
                  <option value="">Let the scheduler choose</option>
                  {hosts.items.map((h) => (
                    <option key={h.id} value={h.id}>
                      {h.name} ({h.state})
                    </option>
                  ))}
                </SelectField>
              )}
            </div>
          </details>
        </Card>

        <div className="space-y-3 lg:sticky lg:top-18">
          <Card title="Summary">
            <dl className="space-y-2.5 p-4 text-sm">
              <Line label={several ? 'Names' : 'Name'} value={name === '' ? '' : names} />
              <Line
                label="Flavor"
                value={
                  flavor === undefined
                    ? ''
                    : `${flavor.name}: ${plural(flavor.vcpus, 'vCPU')}, ${bytes(flavor.memoryBytes)}`
                }
              />
              <Line label="Image" value={image?.name ?? ''} />
              <Line
                label="Networks"
                value={attached.map((a) => networks.items.find((n) => n.id === a.id)?.name).join(', ')}
              />
              <Line
                label="SSH keys"
                value={keyIds.length + pastedKeys.length === 0 ? '' : String(keyIds.length + pastedKeys.length)}
              />
            </dl>
            <CreateCheck check={check} fields={fieldNames} />
            <div className="border-t border-line p-4">
              <Button
                type="submit"
                look="primary"
                className="w-full"
                busy={create.isPending}
                reason={scope.readOnly ?? scope.reasonFor(project)}
              >
                {button}
              </Button>
              <ButtonLink to="/instances" look="ghost" className="mt-1.5 w-full">
                Cancel
              </ButtonLink>
            </div>
          </Card>
          <FormProblem error={refusal} fields={fieldNames} />
          {body !== null && flavor !== undefined && image !== undefined && (
            <CommandLine
              line={vcctl(['instance', 'create', name], {
                count: several ? String(copies) : '',
                flavor: flavor.name,
                image: image.name,
                network: attached.map(
                  (a) =>
                    `${networks.items.find((n) => n.id === a.id)?.name ?? a.id}${a.address === '' ? '' : `,address=${a.address}`}${a.id === wayOut ? ',default-route' : ''}`,
                ),
                key: [
                  ...keys.items.filter((k) => keyIds.includes(k.id)).map((k) => k.name),
                  ...pastedKeys.map((_, n) => `key-${n + 1}.pub`),
                ],
                'user-data': dataFile?.name ?? (userData === '' ? '' : 'user-data'),
                'config-drive': configDrive,
                description,
                'stop-grace': grace === '30' ? '' : grace,
                vmm: vmm.trim(),
                host: hosts.items.find((h) => h.id === host)?.name,
                wait: true,
              })}
            />
          )}
        </div>
      </form>
    </Page>
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
