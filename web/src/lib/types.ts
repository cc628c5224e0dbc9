/** The types of the REST API, from its OpenAPI document, and those of what the server sends beside it. */
import type { BodyOf } from '../../../src/rest/rest-call';
import type { Task, TaskDetail } from '../../../src/rest/rest-paths';

export type { Page } from '../../../src/core/http/routes/pagination';
export type { FieldError } from '../../../src/core/errors/problem';
export type { ProjectRole } from '../../../src/core/auth/principal';
export type { LiveEvent } from '../../../src/core/events/outbox';
export type { LiveEventRecord } from '../../../src/core/events/live-event-record';
export type { HostVerdict } from '../../../src/modules/scheduler/contract/scheduler.ports';
export type * from '../../../src/rest/rest-paths';

export type CreateInstance = BodyOf<'post', '/instances'>;
export type CreateFlavor = BodyOf<'post', '/flavors'>;
export type CreateImage = BodyOf<'post', '/images'>;
export type CreateVolume = BodyOf<'post', '/volumes'>;
export type CreateNetwork = BodyOf<'post', '/networks'>;
export type CreateSubnet = BodyOf<'post', '/subnets'>;
export type CreateSecurityGroup = BodyOf<'post', '/security-groups'>;
export type CreateSecurityGroupRule = BodyOf<'post', '/security-groups/{ref}/rules'>;
export type CreateRouter = BodyOf<'post', '/routers'>;
export type TaskState = Task['state'];
export type RelatedTask = TaskDetail['childTasks'][number];
