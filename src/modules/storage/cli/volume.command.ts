import type { Command } from 'commander';
import type { CliContext, CliRegistrar } from '../../../core/cli/cli-context';
import { formatBytes, formatTime } from '../../../core/cli/format';
import type { Volume } from '../contract/storage.api';

export class VolumeCommands implements CliRegistrar {
  register(program: Command, context: CliContext): void {
    const volume = program.command('volume').description('disks of instances');
    volume
      .command('list')
      .description('list volumes')
      .action(async () => {
        context.print(await context.list<Volume>('/volumes', { project: context.project() }), [
          { header: 'name', value: (v) => v.name },
          { header: 'state', value: (v) => v.state },
          { header: 'size', value: (v) => formatBytes(v.bytes) },
          { header: 'role', value: (v) => v.role },
          { header: 'host', value: (v) => v.host?.name ?? '' },
          { header: 'pool', value: (v) => v.pool },
          { header: 'created', value: (v) => formatTime(v.createdAt), wide: true },
          { header: 'instance', value: (v) => v.instanceId ?? '', wide: true },
          { header: 'id', value: (v) => v.id, wide: true },
        ]);
      });
  }
}
