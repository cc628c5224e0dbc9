import { z } from 'zod';
import { defineVerb } from '../../m2m/verbs/verb';
import { defineWorkflow } from './definition';
import { DefinitionRegistry, type AnyDefinition } from './definition-registry';

const base = { version: 1, input: z.object({}), deadline: '1m' } as const;
const verb = defineVerb('thing.make', { args: z.object({}), result: z.object({}) });
const as = (definition: unknown): AnyDefinition => definition as AnyDefinition;

describe('DefinitionRegistry', () => {
  it('takes a definition once, and other versions beside it', () => {
    const registry = new DefinitionRegistry();
    const one = as(defineWorkflow('test.a', base).tx('x', { run: async () => 1, noUndo: 'nothing' }));
    const two = as(
      defineWorkflow('test.a', { ...base, version: 2 }).tx('x', { run: async () => 1, noUndo: 'nothing' }),
    );
    registry.register(one);
    registry.register(one);
    registry.register(two);
    expect(registry.keys()).toEqual(['test.a@1', 'test.a@2']);
    expect(registry.get('test.a', 2)).toBe(two);
    expect(() =>
      registry.register(as(defineWorkflow('test.a', base).tx('x', { run: async () => 1, noUndo: 'nothing' }))),
    ).toThrow('another definition');
  });

  it.each([
    [
      'a step inside the database without undo',
      defineWorkflow('test.a', base).tx('x', { run: async () => 1 } as never),
      'neither an undo nor a reason',
    ],
    [
      'a call without undo',
      defineWorkflow('test.a', base).remote('x', { verb, node: () => 'h', args: () => ({}) } as never),
      'neither an undo nor a reason',
    ],
    [
      'an empty reason',
      defineWorkflow('test.a', base).tx('x', { run: async () => 1, noUndo: ' ' }),
      'neither an undo nor a reason',
    ],
    [
      'both',
      defineWorkflow('test.a', base).tx('x', {
        run: async () => 1,
        undo: async () => undefined,
        noUndo: 'why',
      } as never),
      'both',
    ],
    [
      'a slash in a step, for keys are made of names',
      defineWorkflow('test.a', base).tx('x/y', { run: async () => 1, noUndo: 'n' }),
      'kebab-case',
    ],
    [
      'a bad duration',
      defineWorkflow('test.a', { ...base, deadline: 'soon' as never }).tx('x', { run: async () => 1, noUndo: 'n' }),
      'no duration',
    ],
    ['no step', defineWorkflow('test.a', base), 'no step'],
    ['a type without module', defineWorkflow('a', base).tx('x', { run: async () => 1, noUndo: 'n' }), 'module.name'],
    [
      'a preemption without lock',
      defineWorkflow('test.a', { ...base, preempts: true }).tx('x', { run: async () => 1, noUndo: 'n' }),
      'no lock',
    ],
  ])('refuses %s', (_name, definition, message) => {
    expect(() => new DefinitionRegistry().register(as(definition))).toThrow(message);
  });

  it('refuses a name twice while it is built', () => {
    expect(() =>
      defineWorkflow('test.a', base)
        .tx('x', { run: async () => 1, noUndo: 'n' })
        .tx('x', { run: async () => 1, noUndo: 'n' }),
    ).toThrow('there twice');
  });
});
