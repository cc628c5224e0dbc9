import type { Options } from '../../../lib/command';
import { base64 } from '../../../lib/format';
import type { CreateInstance, Flavor, Host, Image, Network, Share, SshKey } from '../../../lib/types';
import { createInstances, maxUserDataBytes } from '../../../../../src/modules/compute/contract/compute.api';
import { machineActions } from '../../../../../src/modules/compute/contract/machine-options';
import { checkBy, checkDescription, checkName, checkWhole } from '../../../lib/validate';
import { checkAddress, rangesOf } from '../../networks/address-rules';
import { checkPublicKey } from '../../ssh-keys/public-key-rule';
import { checkGrace } from '../grace-rule';
import { userDataSize } from './data-file';
import type { ChosenNetwork, Draft } from './drafts';
import { maximumOf, maximumProblems } from './maximum-rule';
import { imageReason } from './image-reason';

/** What there is to choose from. */
export interface Offers {
  flavors: readonly Flavor[];
  images: readonly Image[];
  networks: readonly Network[];
  keys: readonly SshKey[];
  hosts: readonly Host[];
  shares: readonly Share[];
}

/** What the draft means with what there is: chosen by the user, or the only one. */
export interface Choices {
  /** Smallest first. */
  sizes: Flavor[];
  flavor: Flavor | undefined;
  image: Image | undefined;
  attached: ChosenNetwork[];
  /** Networks by which the default route may go. */
  ways: Network[];
  /** Id of the network whose card is the way out; empty leaves it to the server. */
  wayOut: string;
  pastedKeys: string[];
  /** 0 for what is no number. */
  copies: number;
  several: boolean;
  /** What they will be called. */
  names: string;
}

export const choicesOf = (draft: Draft, offers: Offers): Choices => {
  const { images, networks } = offers;
  const sizes = [...offers.flavors].sort((a, b) => a.memoryBytes - b.memoryBytes || a.vcpus - b.vcpus);
  const flavor = sizes.find((f) => f.id === draft.flavorId) ?? (sizes.length === 1 ? sizes[0] : undefined);
  const usable = images.filter((i) => imageReason(i, flavor) === null);
  const image = usable.find((i) => i.id === draft.imageId) ?? (usable.length === 1 ? usable[0] : undefined);
  const only = networks.length === 1 ? networks[0] : undefined;
  const attached = (draft.networks ?? (only === undefined ? [] : [{ id: only.id, address: '' }])).filter((c) =>
    networks.some((n) => n.id === c.id),
  );
  const ways = attached.flatMap((a) => networks.find((n) => n.id === a.id && n.router?.snat) ?? []);
  const copies = /^\d{1,3}$/.test(draft.count) ? Number(draft.count) : 0;
  const several = copies > 1;
  return {
    sizes,
    flavor,
    image,
    attached,
    ways,
    wayOut: attached.length > 1 && ways.some((n) => n.id === draft.wayOut) ? draft.wayOut : '',
    pastedKeys: draft.pasted
      .split('\n')
      .map((k) => k.trim())
      .filter((k) => k !== ''),
    copies,
    several,
    names: several ? `${draft.name}-1 to ${draft.name}-${copies}` : draft.name,
  };
};

const checkCount = checkWhole(createInstances.shape.count);
const checkVmm = checkBy<string>(createInstances.shape.vmm);

/** What is wrong, by member of the request; null where all is well. */
export const problemsOf = (draft: Draft, choices: Choices): Record<string, string | null> => {
  const { flavor, image, attached, several, copies, pastedKeys } = choices;
  return {
    name:
      checkName(draft.name) ??
      (several && checkName(`${draft.name}-${copies}`) !== null
        ? 'With its number it may have 63 characters at most.'
        : null),
    count: checkCount(draft.count),
    flavor: flavor === undefined ? 'Choose a flavor.' : null,
    image: image === undefined ? 'Choose an image.' : null,
    networks:
      attached.length === 0
        ? 'Choose at least one network.'
        : several && attached.some((a) => a.address !== '')
          ? 'Several instances cannot have the same address: leave it out.'
          : null,
    sshKeys: pastedKeys.map(checkPublicKey).find((m) => m !== null) ?? null,
    userData: userDataSize(draft.userData, draft.dataFile) > maxUserDataBytes ? 'Too large: at most 64 KiB.' : null,
    stopGraceSeconds: checkGrace(draft.grace),
    ...maximumProblems(draft, flavor),
    vmm: draft.vmm.trim() === '' ? null : checkVmm(draft.vmm.trim()),
    description: checkDescription(draft.description),
  };
};

/** What is asked of its machine, where anything is. */
const machineOf = ({ secureBoot, tpm, balloon, vsock, ...draft }: Draft): Pick<CreateInstance, 'machine'> => {
  const [watchdog, panic] = [draft.watchdog, draft.panic].map(
    (wanted) => machineActions.find((action) => action === wanted) ?? null,
  );
  const machine = { secureBoot, tpm, balloon, vsock, ...(watchdog && { watchdog }), ...(panic && { panic }) };
  return secureBoot || tpm || balloon || vsock || watchdog || panic ? { machine } : {};
};

/** Of what the project has: another one may have been chosen since. */
const sharesOf = ({ shares: chosen }: Draft, { shares }: Offers): { share: string; readonly: boolean }[] =>
  shares.flatMap(({ name, readonly }) => {
    const reads = chosen[name];
    return reads === undefined ? [] : [{ share: name, readonly: readonly || reads }];
  });

/** The request that the draft is for one instance; null while something is missing or wrong. */
export const bodyOf = (draft: Draft, choices: Choices, offers: Offers): CreateInstance | null => {
  const { flavor, image, attached, wayOut, pastedKeys } = choices;
  const { description, userData, dataFile, configDrive, host } = draft;
  const vmm = draft.vmm.trim();
  const shares = sharesOf(draft, offers);
  const badAddress = attached.some(
    (a) =>
      a.address !== '' && checkAddress(a.address, ...rangesOf(offers.networks.find((n) => n.id === a.id))) !== null,
  );
  const wrong = badAddress || Object.values(problemsOf(draft, choices)).some((p) => p !== null);
  if (wrong || flavor === undefined || image === undefined) return null;
  return {
    name: draft.name,
    flavor: flavor.id,
    image: image.id,
    networks: attached.map((a) => ({
      network: a.id,
      ...(a.address === '' ? {} : { address: a.address }),
      ...(a.id === wayOut ? { defaultRoute: true } : {}),
    })),
    sshKeys: [...draft.keyIds.filter((id) => offers.keys.some((k) => k.id === id)), ...pastedKeys],
    ...(description === '' ? {} : { description }),
    ...(userDataSize(userData, dataFile) === 0 ? {} : { userData: base64(dataFile?.bytes ?? userData) }),
    ...(configDrive === 'openstack' || configDrive === 'nocloud' ? { configDrive } : {}),
    ...machineOf(draft),
    ...(shares.length === 0 ? {} : { shares }),
    ...maximumOf(draft),
    ...(vmm === '' ? {} : { vmm }),
    stopGraceSeconds: Number(draft.grace),
    ...(draft.restartPolicy === 'on-failure' ? { restartPolicy: draft.restartPolicy } : {}),
    ...(host === '' ? {} : { host }),
  };
};

/** The options of `vcctl instance create` that ask for the same. */
export const commandOptions = (draft: Draft, choices: Choices, offers: Offers): Options => {
  const { flavor, image, attached, wayOut, several, copies, pastedKeys } = choices;
  return {
    count: several ? String(copies) : '',
    flavor: flavor?.name,
    image: image?.name,
    network: attached.map(
      (a) =>
        `${offers.networks.find((n) => n.id === a.id)?.name ?? a.id}${a.address === '' ? '' : `,address=${a.address}`}${a.id === wayOut ? ',default-route' : ''}`,
    ),
    key: [
      ...offers.keys.filter((k) => draft.keyIds.includes(k.id)).map((k) => k.name),
      ...pastedKeys.map((_, n) => `key-${n + 1}.pub`),
    ],
    'user-data': draft.dataFile?.name ?? (draft.userData === '' ? '' : 'user-data'),
    'config-drive': draft.configDrive,
    'secure-boot': draft.secureBoot,
    tpm: draft.tpm,
    balloon: draft.balloon,
    vsock: draft.vsock,
    share: sharesOf(draft, offers).map(({ share, readonly }) => (readonly ? `${share}:ro` : share)),
    watchdog: draft.watchdog,
    panic: draft.panic,
    'max-vcpus': draft.maxVcpus.trim(),
    'max-memory': draft.maxMemory.replaceAll(' ', ''),
    description: draft.description,
    'restart-policy': draft.restartPolicy,
    'stop-grace': draft.grace === '30' ? '' : draft.grace,
    vmm: draft.vmm.trim(),
    host: offers.hosts.find((h) => h.id === draft.host)?.name,
    wait: true,
  };
};
