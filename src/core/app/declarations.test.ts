import { PermissionCatalogue } from '../auth/permissions/permission-catalogue';
import { ProblemHints } from '../errors/problem-hints';
import { auditEvents, hintsOf, hostConditionsOf, permissionsOf } from './declarations';
import { HostConditionTypes } from '../m2m/reports/host-condition-types';
import type { ModuleManifest } from './module-manifest';

const manifest = (name: string, over: Partial<ModuleManifest>): ModuleManifest => ({ name, needs: [], ...over });

it('gathers what modules declare', () => {
  const modules = [
    manifest('a', { permissions: { 'thing:read': 'viewer' }, problems: { no_thing: { user: 'Make a thing.' } } }),
    manifest('b', { permissions: { 'other:read': 'admin' }, problems: { no_other: null } }),
  ];
  expect(new PermissionCatalogue(permissionsOf(modules)).all()).toEqual(['other:read', 'thing:read']);
  const hints = new ProblemHints(hintsOf(modules));
  expect(hints.for('no_thing', true)).toBe('Make a thing.');
  expect(hints.for('no_other', true)).toBe('Mend what the message names, and try again.');
  expect(hints.for('constructor', false)).toContain('show an administrator');
  expect(hints.for('node_unreachable', true)).toContain('vcctl host show');
});

it('names both who declare the same', () => {
  const twice = (over: Partial<ModuleManifest>) => [manifest('a', over), manifest('b', over)];
  expect(() => permissionsOf(twice({ permissions: { 'thing:read': 'viewer' } }))).toThrow(
    'the permission "thing:read" is declared by "a" and by "b"',
  );
  expect(() => hintsOf(twice({ problems: { no_thing: null } }))).toThrow(
    'the problem code "no_thing" is declared by "a" and by "b"',
  );
  expect(() => hintsOf([manifest('a', { problems: { internal: null } })])).toThrow('"internal" is declared by "core"');
  expect(() => hostConditionsOf(twice({ hostConditions: { Sound: 'warns' } }))).toThrow(
    'the host condition "Sound" is declared by "b" and by "a"',
  );
});

it('knows the conditions of hosts, and the required ones of the modules nearest to users first', () => {
  const types = new HostConditionTypes(
    hostConditionsOf([
      manifest('disks', { hostConditions: { Disks: 'required', Slow: 'warns' } }),
      manifest('machines', { hostConditions: { Machines: 'required' } }),
    ]),
  );
  expect(types.required).toEqual(['Machines', 'Disks']);
  expect(() => types.assertDeclared('Slow')).not.toThrow();
  expect(() => types.assertDeclared('Quick')).toThrow('no module declares the host condition "Quick"');
});

it('refuses an event that nobody could see, or that two modules publish', () => {
  const reads = manifest('a', { permissions: { 'thing:read': 'viewer' }, events: ['thing.created'] });
  expect(() => auditEvents([reads])).not.toThrow();
  expect(() => auditEvents([reads, manifest('b', { events: ['thing.created'] })])).toThrow(
    'the event "thing.created" is declared by "a" and by "b"',
  );
  expect(() => auditEvents([manifest('b', { events: ['other.created'] })])).toThrow(
    '"b" publishes "other.created", but no module declares the permission "other:read"',
  );
});
