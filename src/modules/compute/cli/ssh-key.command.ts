import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { formatTime } from '../../../core/cli/format';
import type { SshKey } from '../contract/compute.api';
import { readPublicKey } from './public-key-file';

export class SshKeyCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const key = program.command('ssh-key').description('public keys that instances are given');
    key
      .command('list')
      .description('list ssh keys')
      .action(async () => {
        context.print(await context.list<SshKey>('/ssh-keys', { project: context.project() }), [
          { header: 'name', value: (k) => k.name },
          { header: 'type', value: (k) => k.type },
          { header: 'fingerprint', value: (k) => k.fingerprint },
          { header: 'created', value: (k) => formatTime(k.createdAt) },
          { header: 'id', value: (k) => k.id, wide: true },
        ]);
      });
    key
      .command('create')
      .description('store a public key')
      .argument('<name>')
      .argument('<file>', 'public key in OpenSSH form')
      .addHelpText('after', '\nExamples:\n  vcctl ssh-key create laptop ~/.ssh/id_ed25519.pub')
      .action(async (name: string, file: string) => {
        const publicKey = await readPublicKey(file);
        context.printOne(await context.request<SshKey>('POST', '/ssh-keys', { query: { project: context.project() }, body: { name, publicKey } }));
      });
    key
      .command('delete')
      .description('delete ssh keys; instances keep what they were given')
      .argument('<key...>', 'names or ids')
      .option('-y, --yes', 'do not ask')
      .action(async (refs: string[], options: { yes?: boolean }) => {
        if (!options.yes && !(await context.confirm(`Delete ${refs.join(', ')}?`))) return;
        await context.each(refs, async (ref) => {
          await context.request('DELETE', `/ssh-keys/${encodeURIComponent(ref)}`, { query: { project: context.project() } });
          context.info(`ssh key ${ref} deleted`);
        });
      });
  }
}
