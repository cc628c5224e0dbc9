import { bodyOf, commandOptions, emptyFlavor, problemsOf, type FlavorDraft } from './flavor-form';

const draft = (part: Partial<FlavorDraft> = {}): FlavorDraft => ({ ...emptyFlavor, name: 'small', ...part });

describe('the form of a flavor', () => {
  it('asks for what was filled in, in bytes', () => {
    expect(bodyOf(draft({ vcpus: '2', memory: '4 GiB', disk: '10', vmm: ' qemu ', description: 'web' }))).toEqual({
      name: 'small',
      vcpus: 2,
      memoryBytes: 4 * 2 ** 30,
      diskBytes: 10 * 2 ** 30,
      vmm: 'qemu',
      description: 'web',
    });
    expect(bodyOf(draft())).toEqual({ name: 'small', vcpus: 1, memoryBytes: 512 * 2 ** 20, diskBytes: 0 });
  });

  it.each<[Partial<FlavorDraft>, string]>([
    [{ name: '' }, 'name'],
    [{ vcpus: '0' }, 'vcpus'],
    [{ vcpus: '1.5' }, 'vcpus'],
    [{ vcpus: '1025' }, 'vcpus'],
    [{ memory: '63 MiB' }, 'memoryBytes'],
    [{ memory: 'much' }, 'memoryBytes'],
    [{ disk: 'large' }, 'diskBytes'],
  ])('says what is wrong with %j, and asks for nothing', (part, member) => {
    const problems = problemsOf(draft(part));
    expect(Object.keys(problems).filter((key) => problems[key] !== null)).toEqual([member]);
    expect(bodyOf(draft(part))).toBeNull();
  });

  it('shows the command that asks for the same', () => {
    expect(commandOptions(draft({ memory: '4 GiB', disk: '10 GiB', vmm: 'qemu' }))).toEqual({
      vcpus: '1',
      memory: '4GiB',
      disk: '10GiB',
      vmm: 'qemu',
      description: '',
    });
  });
});
