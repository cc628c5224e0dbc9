import { injectable } from 'inversify';
import type { DriveForm } from '../../contract/drive-forms';
import { GuestFiles, type InstanceMetadata } from '../../contract/network.ports';
import { NetworkAgent } from '../network.agent';
import { ec2MetaData } from './ec2';
import type { Answer, GuestView } from './guest-view';
import { GuestViews } from './guest-views';
import { nocloud } from './nocloud';
import { openstack } from './openstack';

type Files = { path: string; content: Buffer }[];

const file = (path: string, answer: Answer): Files =>
  answer === null ? [] : [{ path, content: Buffer.from(answer.body) }];
const below = (folder: string, names: readonly string[], answer: (name: string) => Answer): Files =>
  names.flatMap((name) => file(`${folder}${name}`, answer(name)));

const trees: Readonly<Record<DriveForm, (view: GuestView) => Files>> = {
  openstack: (view) => [
    ...below('openstack/latest/', ['meta_data.json', 'network_data.json', 'vendor_data.json', 'user_data'], (name) =>
      openstack(view, ['latest', name]),
    ),
    { path: 'ec2/latest/meta-data.json', content: Buffer.from(JSON.stringify(ec2MetaData(view))) },
  ],
  nocloud: (view) =>
    below('', ['meta-data', 'network-config', 'user-data', 'vendor-data'], (name) => nocloud(view, [name])),
};

/** The metadata service's answers as files: the same bytes on a drive as by HTTP. */
@injectable()
export class DriveFiles extends GuestFiles {
  constructor(
    private readonly agent: NetworkAgent,
    private readonly views: GuestViews,
  ) {
    super();
  }

  override async of(instance: InstanceMetadata, form: DriveForm): Promise<Files> {
    await this.agent.settled();
    const nics = this.views.cards(instance.instanceId);
    const [first] = nics;
    if (!first) throw new Error(`the instance ${instance.instanceId} has no port on this host`);
    return trees[form]({ port: first.port, nics, instance });
  }
}
