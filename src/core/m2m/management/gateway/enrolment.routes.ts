import { injectable } from 'inversify';
import { z } from 'zod';
import { Problem } from '../../../errors/problem';
import { SecretLimiter } from '../../../http/secret-limiter';
import { nodeAddress } from '../../reports/heartbeat';
import { sendJson } from '../../json-body';
import { NodeRegistry } from '../node-registry';
import { NodeRoutes, type AnonymousNodeRoute, type NodeRoute } from '../node-route';
import { bodyOf, smallBody } from './node-body';

const enrolBody = z.object({
  ticket: z.string().min(1).max(200),
  csr: z.string().min(1).max(10_000),
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/,
      'a host name: letters, digits, dots and hyphens, at most 63 characters',
    ),
  address: nodeAddress,
  port: z.number().int().min(1).max(65_535),
});
const renewBody = z.object({ csr: z.string().min(1).max(10_000) });

/** How a host comes to its certificate, and to its next one. */
@injectable()
export class EnrolmentRoutes extends NodeRoutes {
  constructor(
    private readonly registry: NodeRegistry,
    private readonly limiter: SecretLimiter,
  ) {
    super();
  }

  override anonymousRoutes(): AnonymousNodeRoute[] {
    return [
      {
        method: 'POST',
        path: '/enroll',
        handle: async ({ raw, res }) => {
          const body = await bodyOf(raw, enrolBody, smallBody);
          const enrolled = await this.registry.enroll(body).catch(async (error: unknown) => {
            if (error instanceof Problem && error.status === 401)
              await this.limiter.failed(raw.socket.remoteAddress ?? '');
            throw error;
          });
          sendJson(res, 200, enrolled);
        },
      },
    ];
  }

  override nodeRoutes(): NodeRoute[] {
    return [
      {
        method: 'POST',
        path: '/renew',
        handle: async ({ hostId, raw, res }) => {
          const { csr } = await bodyOf(raw, renewBody, smallBody);
          sendJson(res, 200, await this.registry.renew(hostId, csr));
        },
      },
    ];
  }
}
