import { PermissionCatalogue } from '../auth/permissions/permission-catalogue';
import { ProblemHints } from '../errors/problem-hints';
import { auditCalls, auditEvents, hintsOf, hostConditionsOf, metricsOf, permissionsOf, verbsOf } from './declarations';
import { z } from 'zod';
import { DeclaredMetrics } from '../telemetry/declared-metrics';
import { Metrics } from '../telemetry/metrics';
import { defineVerb } from '../m2m/verbs/verb';
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

it('refuses verbs that two modules declare, and steps that call what none does', async () => {
  const empty = z.object({});
  const paint = defineVerb('wall.paint', { args: empty, result: empty });
  const other = defineVerb('wall.paint', { args: empty, result: empty });
  const walls = manifest('walls', { verbs: async () => [paint] });
  await expect(verbsOf([walls, manifest('doors', { verbs: async () => [other] })])).rejects.toThrow(
    'the verb "wall.paint" is declared by "walls" and by "doors"',
  );
  const verbs = await verbsOf([walls]);
  const calling = (verb: typeof paint, undo?: typeof paint) => [
    { type: 'wall.make', steps: [{ name: 'paint', verb, undo: undo && { verb: undo } }] },
  ];
  expect(() => auditCalls(calling(paint, paint), verbs)).not.toThrow();
  // Of the same name, and yet another one: its arguments need not be those that the node knows.
  expect(() => auditCalls(calling(other), verbs)).toThrow('"paint" of "wall.make" calls "wall.paint"');
  expect(() => auditCalls(calling(paint, other), verbs)).toThrow('which no module declares');
});

it('shows the metrics that modules declare, and refuses others', async () => {
  const walls = manifest('walls', {
    metrics: {
      vcstack_walls_total: { kind: 'counter', help: 'Walls', labels: ['colour'] },
      vcstack_rooms: { kind: 'gauge', help: 'Rooms' },
    },
  });
  expect(() => metricsOf([walls, { ...walls, name: 'again' }])).toThrow('is declared by "walls" and by "again"');
  const metrics = new Metrics();
  const declared = new DeclaredMetrics(metrics, metricsOf([walls]));
  declared.count('vcstack_walls_total', { colour: 'red' });
  declared.count('vcstack_walls_total', { colour: 'red' }, 2);
  declared.collect('vcstack_rooms', async () => [{ labels: {}, value: 4 }]);
  const text = await metrics.registry.metrics();
  expect(text).toContain('vcstack_walls_total{colour="red"} 3');
  expect(text).toContain('vcstack_rooms 4');
  expect(() => declared.count('vcstack_doors_total')).toThrow('no module declares');
  expect(() => declared.collect('vcstack_walls_total', async () => [])).toThrow('no module declares');
});
