import type { Flavor, Image, Network } from '../../../lib/types';
import { bodyOf, choicesOf, commandOptions, problemsOf, type Offers } from './create-form';
import { emptyDraft, type Draft } from './drafts';

const flavor = (id: string, memoryBytes: number, diskBytes = 0) => ({ id, name: id, vcpus: 1, memoryBytes, diskBytes });
const image = (id: string, virtualBytes = 2 ** 30) => ({ id, name: id, state: 'ready', virtualBytes });
const network = (id: string, nat = true) => ({
  id,
  name: id,
  subnets: [{ cidr: '10.0.0.0/24' }],
  router: nat ? { snat: true } : null,
});

/** Of each noun only what the form reads. */
const offers = (part: { flavors?: object[]; images?: object[]; networks?: object[] } = {}): Offers => ({
  flavors: (part.flavors ?? [flavor('small', 2 ** 29)]) as Flavor[],
  images: (part.images ?? [image('debian')]) as Image[],
  networks: (part.networks ?? [network('office')]) as Network[],
  keys: [],
  hosts: [],
  shares: [
    { name: 'media', readonly: false, hosts: null },
    { name: 'docs', readonly: true, hosts: null },
  ],
});
const draft = (part: Partial<Draft> = {}): Draft => ({ ...emptyDraft, name: 'web', ...part });
const wrong = (d: Draft, o: Offers): string[] => {
  const problems = problemsOf(d, choicesOf(d, o));
  return Object.keys(problems).filter((key) => problems[key] !== null);
};

describe('the form of a create', () => {
  it('takes the only flavor, image and network there is', () => {
    const d = draft();
    expect(bodyOf(d, choicesOf(d, offers()), offers())).toEqual({
      name: 'web',
      flavor: 'small',
      image: 'debian',
      networks: [{ network: 'office' }],
      sshKeys: [],
      stopGraceSeconds: 30,
    });
  });

  it('leaves the choice among several to the user', () => {
    const several = offers({
      flavors: [flavor('big', 2 ** 31), flavor('small', 2 ** 29)],
      images: [image('a'), image('b')],
      networks: [network('x'), network('y')],
    });
    expect(wrong(draft(), several)).toEqual(['flavor', 'image', 'networks']);
    expect(choicesOf(draft(), several).sizes.map((f) => f.id)).toEqual(['small', 'big']);
  });

  it('takes no image that is larger than the disk of the flavor', () => {
    const tight = offers({ flavors: [flavor('small', 2 ** 29, 2 ** 30)], images: [image('large', 2 ** 31)] });
    expect(wrong(draft({ imageId: 'large' }), tight)).toEqual(['image']);
  });

  it.each<[Partial<Draft>, string]>([
    [{ name: '' }, 'name'],
    [{ name: 'n'.repeat(62), count: '10' }, 'name'],
    [{ count: '0' }, 'count'],
    [{ count: '101' }, 'count'],
    [{ count: '2', networks: [{ id: 'office', address: '10.0.0.7' }] }, 'networks'],
    [{ pasted: '-----BEGIN OPENSSH PRIVATE KEY-----' }, 'sshKeys'],
    [{ userData: 'x'.repeat(64 * 1024 + 1) }, 'userData'],
    [{ grace: 'long' }, 'stopGraceSeconds'],
    [{ description: 'd'.repeat(256) }, 'description'],
    [{ maxVcpus: '0' }, 'maxVcpus'],
    [{ maxVcpus: '256' }, 'maxVcpus'],
    [{ maxMemory: 'much' }, 'maxMemoryBytes'],
    [{ maxMemory: '256 MiB' }, 'maxMemoryBytes'],
  ])('says what is wrong with %j, and asks for nothing', (part, member) => {
    const d = draft(part);
    expect(wrong(d, offers())).toEqual([member]);
    expect(bodyOf(d, choicesOf(d, offers()), offers())).toBeNull();
  });

  it('sends cards in the order of the user, with the way out that was chosen', () => {
    const two = offers({ networks: [network('x'), network('y')] });
    const d = draft({
      networks: [
        { id: 'y', address: '10.0.0.9' },
        { id: 'x', address: '' },
      ],
      wayOut: 'x',
      vmm: ' qemu ',
      restartPolicy: 'on-failure',
      maxVcpus: '8',
      maxMemory: '4 GiB',
    });
    const choices = choicesOf(d, two);
    expect(bodyOf(d, choices, two)).toMatchObject({
      networks: [
        { network: 'y', address: '10.0.0.9' },
        { network: 'x', defaultRoute: true },
      ],
      vmm: 'qemu',
      restartPolicy: 'on-failure',
      maxVcpus: 8,
      maxMemoryBytes: 4 * 2 ** 30,
    });
    expect(commandOptions(d, choices, two)).toMatchObject({
      network: ['y,address=10.0.0.9', 'x,default-route'],
      vmm: 'qemu',
      'restart-policy': 'on-failure',
      'max-vcpus': '8',
      'max-memory': '4GiB',
      count: '',
    });
  });

  it('asks of the machine what was chosen, and else nothing', () => {
    const chosen = draft({ tpm: true, balloon: true, vsock: true, watchdog: 'restart', panic: 'stop' });
    const choices = choicesOf(chosen, offers());
    expect(bodyOf(chosen, choices, offers())?.machine).toEqual({
      secureBoot: false,
      tpm: true,
      balloon: true,
      vsock: true,
      watchdog: 'restart',
      panic: 'stop',
    });
    expect(commandOptions(chosen, choices, offers())).toMatchObject({
      tpm: true,
      balloon: true,
      watchdog: 'restart',
      panic: 'stop',
    });
    const plain = draft({});
    expect(bodyOf(plain, choicesOf(plain, offers()), offers())).not.toHaveProperty('machine');
  });

  it('asks for shares that there are, only to read those that are for reading', () => {
    const chosen = draft({ shares: { media: false, docs: false, gone: true } });
    const choices = choicesOf(chosen, offers());
    expect(bodyOf(chosen, choices, offers())?.shares).toEqual([
      { share: 'media', readonly: false },
      { share: 'docs', readonly: true },
    ]);
    expect(commandOptions(chosen, choices, offers()).share).toEqual(['media', 'docs:ro']);
    const reading = draft({ shares: { media: true } });
    expect(bodyOf(reading, choices, offers())?.shares).toEqual([{ share: 'media', readonly: true }]);
  });

  it('forgets the way out by a network that leads nowhere', () => {
    const two = offers({ networks: [network('x'), network('y', false)] });
    const cards = [
      { id: 'x', address: '' },
      { id: 'y', address: '' },
    ];
    expect(choicesOf(draft({ networks: cards, wayOut: 'y' }), two).wayOut).toBe('');
  });

  it('asks for several by their count', () => {
    const d = draft({ count: '3' });
    const choices = choicesOf(d, offers());
    expect(choices.names).toBe('web-1 to web-3');
    expect(commandOptions(d, choices, offers())).toMatchObject({ count: '3' });
  });
});
