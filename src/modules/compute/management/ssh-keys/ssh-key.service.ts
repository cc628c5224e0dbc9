import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { z } from 'zod';
import type { Access } from '../../../../core/auth/access';
import type { Op } from '../../../../core/db/rows/op';
import { nameTaken, unprocessable } from '../../../../core/errors/problem';
import { Outbox } from '../../../../core/events/outbox';
import { pickByRef } from '../../../../core/http/routes/pick-by-ref';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import type { createSshKey, SshKey, updateSshKey } from '../../contract/compute.api';
import { isKeyText, parsePublicKey } from './public-key';
import type { SshKeyEntity } from './ssh-key.entity';
import { SshKeyRepository } from './ssh-key.repository';

@injectable()
export class SshKeyService {
  constructor(
    private readonly keys: SshKeyRepository,
    private readonly outbox: Outbox,
  ) {}

  async create(op: Op, projectId: string, input: z.output<typeof createSshKey>): Promise<SshKey> {
    const parsed = parsePublicKey(input.publicKey, 'body.publicKey');
    if (await this.keys.nameTaken(op, projectId, input.name)) throw nameTaken('ssh key', input.name);
    const key = {
      id: timeOrderedUuid(),
      projectId,
      name: input.name,
      type: parsed.type,
      fingerprint: parsed.fingerprint,
      publicKey: parsed.text,
      createdAt: new Date(),
    };
    await this.keys.insert(op, key);
    await this.changed(op, 'created', key);
    return present(key);
  }

  async list(op: Op, access: Access, projectId: string | undefined, request: PageRequest): Promise<Page<SshKey>> {
    const page = await this.keys.list(op, projectId === undefined ? access.projects : [projectId], request);
    return { items: page.rows.map(present), next: page.next };
  }

  /** 409 `name_taken`. */
  async update(
    op: Op,
    access: Access,
    projectId: string | undefined,
    ref: string,
    { name }: z.output<typeof updateSshKey>,
  ): Promise<SshKey> {
    const key = await this.pick(op, access, projectId, ref);
    if (name === undefined) return present(key);
    await this.keys.update(op, key.id, { name });
    const changed = { ...key, name };
    await this.changed(op, 'updated', changed);
    return present(changed);
  }

  async remove(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<void> {
    const key = await this.pick(op, access, projectId, ref);
    await this.keys.remove(op, key.id);
    await this.changed(op, 'deleted', key);
  }

  /** Whole public keys for a create: each entry is a key's text, or the name or id of a stored key of the project. */
  async resolve(op: Op, projectId: string, entries: string[], path: string): Promise<string[]> {
    const resolved: string[] = [];
    for (const [index, entry] of entries.entries()) {
      if (isKeyText(entry)) {
        resolved.push(parsePublicKey(entry, `${path}.${index}`).text);
        continue;
      }
      const key = await this.keys.find(op, projectId, entry);
      if (!key)
        throw unprocessable(
          `${path}.${index}`,
          'unknown_ssh_key',
          `There is no ssh key "${entry.slice(0, 63)}" in this project, and it is no public key either.`,
        );
      resolved.push(key.publicKey);
    }
    return [...new Set(resolved)];
  }

  private pick(op: Op, access: Access, projectId: string | undefined, ref: string): Promise<SshKeyEntity> {
    return pickByRef('ssh key', ref, projectId, access, {
      byId: (id) => this.keys.byId(op, id),
      named: (projects, name) => this.keys.named(op, projects, name),
    });
  }

  private changed(op: Op, what: 'created' | 'updated' | 'deleted', key: SshKeyEntity): Promise<void> {
    return this.outbox.publish(op, {
      type: `ssh-key.${what}`,
      projectId: key.projectId,
      subject: { kind: 'ssh-key', id: key.id },
      data: { ...present(key) },
    });
  }
}

const present = (k: SshKeyEntity): SshKey => ({
  id: k.id,
  projectId: k.projectId,
  name: k.name,
  type: k.type,
  fingerprint: k.fingerprint,
  publicKey: k.publicKey,
  createdAt: k.createdAt.toISOString(),
});
