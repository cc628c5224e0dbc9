import type { PermissionCatalogue } from '../auth/permissions/permission-catalogue';
import { tokenAllows, type Permission } from '../auth/permissions/permissions';
import type { Membership, Principal } from '../auth/principal';
import type { LiveEventRecord } from './live-event-record';
import type { LiveEvent } from './outbox';
import type { OutgoingEvent } from './outgoing-event';

const reading = (noun: string): Permission => `${noun}:read`;

/** True when an API token's own list, or its lack of one, leaves reading alone. */
const readsAll = ({ tokenScopes }: Principal): boolean =>
  tokenScopes === null || tokenScopes.some((scope) => /^\*(:(\*|read))?$/.test(scope));

/** Which events a caller sees: those of what it may read by REST. By rooms, so that it costs the same for any number. */
export class EventVisibility {
  constructor(private readonly permissions: PermissionCatalogue) {}

  /**
   * Rooms that an event goes to: whoever is in one of them may read its subject by REST. `project:<id>` is for the nouns
   * that every member may read, `project:<id>:<noun>` for the others and for API tokens with a list of their own.
   */
  roomsOfEvent({
    projectId,
    everyone,
    subject: { kind },
  }: Pick<LiveEvent, 'projectId' | 'everyone' | 'subject'>): string[] {
    return [
      'admins',
      `admins:${kind}`,
      ...(projectId === null
        ? []
        : [...(this.isCommon(kind) ? [`project:${projectId}`] : []), `project:${projectId}:${kind}`]),
      ...(everyone === true ? ['everyone', `everyone:${kind}`] : []),
    ];
  }

  /**
   * Rooms that a caller is in: its projects, or all for admins, and that of everyone. An API token with a list of its
   * own is in the rooms of the nouns that it may read.
   */
  roomsOfPrincipal(principal: Principal): string[] {
    if (readsAll(principal)) {
      if (principal.systemRoles.includes('admin')) return ['admins'];
      return [
        'everyone',
        ...principal.memberships.flatMap((m) => [
          `project:${m.projectId}`,
          ...this.further(m).map((noun) => `project:${m.projectId}:${noun}`),
        ]),
      ];
    }
    const nouns = new Set(
      (principal.tokenScopes ?? [])
        .map((scope) => scope.split(':')[0] ?? '')
        .filter((noun) => /^[a-z][a-z-]*$/.test(noun)),
    );
    return [...nouns].flatMap((noun) => {
      if (!tokenAllows(principal, reading(noun))) return [];
      const projects = this.permissions.allowedProjects(principal, reading(noun));
      return projects === 'all'
        ? [`admins:${noun}`]
        : ['everyone', ...projects.map((id) => `project:${id}`)].map((room) => `${room}:${noun}`);
    });
  }

  /** What of an event goes to somebody in these rooms; undefined when nothing does. */
  formFor({ event, insight }: OutgoingEvent, rooms: ReadonlySet<string>): LiveEventRecord | undefined {
    if (!this.roomsOfEvent(event).some((room) => rooms.has(room))) return undefined;
    return insight !== undefined && this.roomsOfInsight(insight.noun).some((room) => rooms.has(room))
      ? insight.event
      : event;
  }

  /** Rooms of those who may read a noun everywhere. */
  roomsOfInsight(noun: string): string[] {
    return ['admins', `admins:${noun}`];
  }

  /** True for nouns that every member of a project may read, whatever its role. */
  private isCommon(noun: string): boolean {
    return this.permissions.roleAllows('viewer', reading(noun));
  }

  /** Nouns that a role reads and not every member does. */
  private further({ role }: Membership): string[] {
    return this.permissions.nounsOf(role, 'read').filter((noun) => !this.isCommon(noun));
  }
}
