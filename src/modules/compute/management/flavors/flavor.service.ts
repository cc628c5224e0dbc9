import { injectable } from 'inversify';
import { v7 as timeOrderedUuid } from 'uuid';
import type { z } from 'zod';
import type { Op } from '../../../../core/db/rows/op';
import { nameTaken, notFound, unprocessable } from '../../../../core/errors/problem';
import { Outbox } from '../../../../core/events/outbox';
import type { Page, PageRequest } from '../../../../core/http/routes/pagination';
import { askedOfHardware, numaRefusal, shownOfHardware } from '../../contract/hardware';
import type { createFlavor, Flavor, updateFlavor } from '../../contract/compute.api';
import type { FlavorEntity } from './flavor.entity';
import { FlavorRepository } from './flavor.repository';
import { VmmKinds } from '../vmms/vmm-kinds';

/** Sizes that instances come in. An instance keeps a copy, so a flavor may go at any time. */
@injectable()
export class FlavorService {
  constructor(
    private readonly flavors: FlavorRepository,
    private readonly outbox: Outbox,
    private readonly vmmKinds: VmmKinds,
  ) {}

  async create(op: Op, input: z.output<typeof createFlavor>): Promise<Flavor> {
    if (await this.flavors.nameTaken(op, input.name)) throw nameTaken('flavor', input.name);
    await this.vmmKinds.check(op, input.vmm, 'body.vmm');
    refuseUneven(input);
    const flavor = {
      id: timeOrderedUuid(),
      ...input,
      hardware: askedOfHardware(input.hardware),
      vendorData: input.vendorData ?? '',
      createdAt: new Date(),
    };
    await this.flavors.insert(op, flavor);
    await this.changed(op, 'created', flavor);
    return present(flavor);
  }

  async get(op: Op, ref: string): Promise<Flavor> {
    return present(await this.require(op, ref));
  }

  async require(op: Op, ref: string): Promise<FlavorEntity> {
    const flavor = await this.flavors.find(op, ref);
    if (!flavor) throw notFound('flavor', ref);
    return flavor;
  }

  async list(op: Op, request: PageRequest): Promise<Page<Flavor>> {
    const page = await this.flavors.list(op, request);
    return { items: page.rows.map(present), next: page.next };
  }

  /** Changes what was given. 409 `name_taken`. */
  async update(op: Op, ref: string, input: z.output<typeof updateFlavor>): Promise<Flavor> {
    const flavor = await this.require(op, ref);
    const changes = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.description !== undefined && { description: input.description }),
      ...(input.vendorData !== undefined && { vendorData: input.vendorData ?? '' }),
    };
    if (Object.keys(changes).length === 0) return present(flavor);
    await this.flavors.update(op, flavor.id, changes);
    const changed = { ...flavor, ...changes };
    await this.changed(op, 'updated', changed);
    return present(changed);
  }

  async remove(op: Op, ref: string): Promise<void> {
    const flavor = await this.require(op, ref);
    await this.flavors.remove(op, flavor.id);
    await this.changed(op, 'deleted', flavor);
  }

  private changed(op: Op, what: 'created' | 'updated' | 'deleted', flavor: FlavorEntity): Promise<void> {
    const { vendorData: _long, ...data } = present(flavor);
    return this.outbox.publish(op, {
      type: `flavor.${what}`,
      projectId: null,
      everyone: true,
      subject: { kind: 'flavor', id: flavor.id },
      data,
    });
  }
}

/** 422 `uneven_numa`: each NUMA node has as many vCPUs and as much memory as every other one. */
const refuseUneven = ({ hardware, ...size }: z.output<typeof createFlavor>): void => {
  const refused = numaRefusal(size, hardware.numaNodes);
  if (refused !== undefined) throw unprocessable('body.hardware.numaNodes', 'uneven_numa', refused);
};

const present = (f: FlavorEntity): Flavor => ({
  id: f.id,
  name: f.name,
  description: f.description,
  vcpus: f.vcpus,
  memoryBytes: f.memoryBytes,
  diskBytes: f.diskBytes,
  vendorData: f.vendorData === '' ? null : f.vendorData,
  vmm: f.vmm,
  limits: f.limits,
  hardware: shownOfHardware(f.hardware),
  createdAt: f.createdAt.toISOString(),
});
