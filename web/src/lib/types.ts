/** The REST contract's types. Only types are imported, so that no schema code reaches the browser. */
import type { z } from 'zod';
import type { consoleTicket, createInstance, createFlavor } from '../../../src/modules/compute/contract/compute.api';
import type { hostToken } from '../../../src/modules/host/contract/host.api';
import type { createdApiToken } from '../../../src/modules/identity/contract/identity.api';
import type { createImage } from '../../../src/modules/image/contract/image.api';
import type { createNetwork } from '../../../src/modules/network/contract/network.api';

export type { Page } from '../../../src/core/http/pagination';
export type { FieldError } from '../../../src/core/errors/problem';
export type { ProjectRole } from '../../../src/core/auth/principal';
export type { TaskState } from '../../../src/core/workflow/definition/task-state';
export type { LiveEvent } from '../../../src/core/events/outbox';
export type { LiveEventRecord } from '../../../src/core/events/live-event-record';
export type { HostVerdict } from '../../../src/modules/scheduler/contract/scheduler.ports';
export type {
  Flavor,
  GuestData,
  Instance,
  SshKey,
} from '../../../src/modules/compute/contract/compute.api';
export type {
  Condition,
  Host,
  HostDetail,
  HostTokenInfo,
} from '../../../src/modules/host/contract/host.api';
export type {
  ApiToken,
  Member,
  Project,
  Session,
  Tokens,
  User,
  Whoami,
} from '../../../src/modules/identity/contract/identity.api';
export type { Image } from '../../../src/modules/image/contract/image.api';
export type { Network, Port } from '../../../src/modules/network/contract/network.api';
export type { Volume } from '../../../src/modules/storage/contract/storage.api';
export type { RelatedTask, Task, TaskDetail, TaskStep } from '../../../src/modules/task/contract/task.api';

export type CreateInstance = z.input<typeof createInstance>;
export type CreateFlavor = z.input<typeof createFlavor>;
export type CreateImage = z.input<typeof createImage>;
export type CreateNetwork = z.input<typeof createNetwork>;
export type ConsoleTicket = z.infer<typeof consoleTicket>;
export type HostToken = z.infer<typeof hostToken>;
export type CreatedApiToken = z.infer<typeof createdApiToken>;
