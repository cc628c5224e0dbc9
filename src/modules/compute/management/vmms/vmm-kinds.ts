import { injectable } from 'inversify';
import type { Op } from '../../../../core/db/rows/op';
import { unprocessable } from '../../../../core/errors/problem';
import { Hosts } from '../../../host/contract/host.ports';
import { vmmsOf } from './vmm-needs';

/** The kinds of virtual machine monitors that there are: those that hosts report. Management has no list of its own. */
@injectable()
export class VmmKinds {
  constructor(private readonly hosts: Hosts) {}

  /** 422 `unknown_vmm` for a kind that no host has a driver of. */
  async check(op: Op, kind: string | null, path: string): Promise<void> {
    if (kind === null) return;
    const kinds = new Set((await this.hosts.all(op)).flatMap((host) => vmmsOf(host.parts).map(({ kind }) => kind)));
    if (kinds.has(kind)) return;
    const there = [...kinds].sort().join(', ');
    throw unprocessable(
      path,
      'unknown_vmm',
      `There is no virtual machine monitor "${kind}"; ${there === '' ? 'no host has reported one yet' : `there are ${there}`}.`,
    );
  }
}
