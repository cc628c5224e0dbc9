import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import type { CliColumn } from '../../../core/cli/output/cli-column';
import { addDelete } from '../../../core/cli/commands/delete-command';
import { addRename } from '../../../core/cli/commands/edit-command';
import { formatTime, moment } from '../../../core/cli/output/format';
import { addListOptions, type ListOptions } from '../../../core/cli/input/list-options';
import { nounCommand, type Noun } from '../../../core/cli/noun';
import { fact, type Section } from '../../../core/cli/output/sections';
import type { SshKey } from '../contract/compute.api';
import { readPublicKey } from './public-key-file';

const sshKeyNoun: Noun = { name: 'ssh-key', plural: 'ssh-keys', path: '/ssh-keys', inProject: true, listOnly: true };

const columns: CliColumn<SshKey>[] = [
  { header: 'name', value: (k) => k.name },
  { header: 'type', value: (k) => k.type },
  { header: 'fingerprint', value: (k) => k.fingerprint },
  { header: 'created', value: (k) => formatTime(k.createdAt), raw: (k) => k.createdAt },
  { header: 'id', value: (k) => k.id, wide: true, whole: true },
];

const view = (key: SshKey): Section[] => [
  {
    facts: [
      fact('Name', key.name),
      fact('Type', key.type),
      fact('Fingerprint', key.fingerprint),
      fact('Public key', key.publicKey),
      fact('Created', moment(key.createdAt)),
      fact('Id', key.id),
    ],
  },
];

export class SshKeyCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const key = nounCommand(program, context, sshKeyNoun, 'public keys that instances are given');
    addListOptions(key.command('list').description('list ssh keys')).action((options: ListOptions) =>
      context.printList(
        (search) => context.list('/ssh-keys', { query: { ...search, project: context.project() } }),
        columns,
        options,
      ),
    );
    key
      .command('create')
      .description('store a public key')
      .argument('<name>')
      .argument('<file>', 'public key in OpenSSH form')
      .addHelpText('after', '\nExamples:\n  vcctl ssh-key create laptop ~/.ssh/id_ed25519.pub')
      .action(async (name: string, file: string) => {
        const publicKey = await readPublicKey(file);
        context.show(
          await context.request('post', '/ssh-keys', {
            query: { project: context.project() },
            body: { name, publicKey },
          }),
          view,
        );
      });
    key
      .command('show')
      .description('show an ssh key')
      .argument('<ssh-key>', 'name or id')
      .action(async (ref: string) => context.show(await context.get<SshKey>('ssh-key', ref), view));
    addRename(key, context, sshKeyNoun);
    addDelete(key, context, sshKeyNoun, { description: 'delete ssh keys; instances keep what they were given' });
  }
}
