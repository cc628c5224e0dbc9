import { injectable } from 'inversify';
import { chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Config } from '../../../../core/config/config';
import { ExecError } from '../../../../core/host/processes/exec';
import { findProgram } from '../../../../core/host/processes/find-program';
import { execSandboxed } from '../../../../core/host/sandbox/sandbox';
import { sandboxUsers } from '../../../../core/host/sandbox/sandbox-users';
import { VerbFailure } from '../../../../core/m2m/verbs/verb-handler';
import type { DriveForm } from '../../../network/contract/drive-forms';
import { GuestFiles } from '../../../network/contract/network.ports';
import { InstanceStore } from '../instances/instance-store';
import { SeedStore } from './seed.store';

/** Labels by which guests find the drive. */
const labels: Readonly<Record<DriveForm, string>> = { openstack: 'config-2', nocloud: 'cidata' };
/** Programs that write an ISO 9660 file system, with what comes before the options that they share. */
const writers: readonly [string, readonly string[]][] = [
  ['genisoimage', []],
  ['xorriso', ['-as', 'mkisofs']],
];
/** Limits of the child: the files have some 200 KiB, so this is ample. */
const limits = ['--as=536870912', '--cpu=10', '--fsize=16777216', '--core=0'];
const timeoutMs = 15_000;

/**
 * Config drives: the metadata service's answers on a read-only disk, for guests that cannot ask it. Made anew for every
 * start, so that it says what is true now; gone when the machine has ended, and with the instance.
 */
@injectable()
export class ConfigDrives {
  constructor(
    private readonly store: InstanceStore,
    private readonly seeds: SeedStore,
    private readonly files: GuestFiles,
    private readonly config: Config,
  ) {}

  /** Where the drive of an instance is while its machine runs. */
  path(instanceId: string): string {
    return join(this.store.directory(instanceId), 'config-drive.iso');
  }

  /** Writes the drive. Throws `VerbFailure` `no_iso_writer` (permanent), `config_drive_failed`. */
  async make(instanceId: string, form: DriveForm): Promise<void> {
    const seed = await this.seeds.of(instanceId);
    if (!seed) throw new VerbFailure('no_seed', 'This host was not given the metadata of the instance.', true);
    const [program, options] = await this.writer();
    const path = this.path(instanceId);
    const [folder, fresh] = [`${path}.d`, `${path}.new`];
    try {
      await this.clear(folder, fresh);
      for (const { path: name, content } of await this.files.of(seed, form)) {
        const target = join(folder, name);
        // For the writer, who is nobody: the folder above is root's alone, and only inside the sandbox is there a way
        // here.
        await mkdir(dirname(target), { recursive: true, mode: 0o755 });
        await writeFile(target, content, { mode: 0o644 });
      }
      const { imageTools: user } = sandboxUsers(this.config.core.sandbox);
      await writeFile(fresh, '', { mode: 0o600 });
      await chown(fresh, user, user);
      const args = [...options, '-quiet', '-r', '-J', '-V', labels[form], '-o', fresh, folder];
      await execSandboxed(
        ['prlimit', ...limits, '--'],
        program,
        args,
        { user, readOnly: [folder], writable: [fresh], network: 'none' },
        { timeoutMs },
      );
      await chmod(fresh, 0o600);
      await rename(fresh, path);
    } catch (error) {
      await rm(path, { force: true });
      if (!(error instanceof ExecError)) throw error;
      throw new VerbFailure(
        'config_drive_failed',
        'The config drive could not be written.',
        false,
        {},
        { cause: error, detail: error.stderr.trim().slice(-500) },
      );
    } finally {
      await this.clear(folder, fresh);
    }
  }

  /** Ensures that there is none. */
  async remove(instanceId: string): Promise<void> {
    await this.clear(this.path(instanceId));
  }

  private async clear(...paths: string[]): Promise<void> {
    for (const path of paths) await rm(path, { recursive: true, force: true });
  }

  private async writer(): Promise<readonly [string, readonly string[]]> {
    for (const [name, options] of writers) {
      const program = findProgram(name);
      if (program !== null) return [program, options];
    }
    throw new VerbFailure(
      'no_iso_writer',
      `This host cannot make config drives: neither ${writers.map(([name]) => name).join(' nor ')} is installed.`,
      true,
    );
  }
}
