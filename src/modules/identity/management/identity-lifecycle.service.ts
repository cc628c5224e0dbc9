import { randomBytes } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { injectable } from 'inversify';
import { v7 as uuid } from 'uuid';
import { Service } from '../../../core/lifecycle/service';
import { Config } from '../../../core/config/config';
import { Database } from '../../../core/db/database';
import { Logging } from '../../../core/telemetry/logging';
import { AuthorityCache } from './authority/authority-cache';
import { PasswordHasher } from './users/password-hasher';
import { ProjectMemberRepository } from './projects/project-member.repository';
import { ProjectRepository } from './projects/project.repository';
import { UserRepository } from './users/user.repository';

/** Makes the first admin. */
@injectable()
export class IdentityLifecycle extends Service {
  constructor(
    private readonly database: Database,
    private readonly users: UserRepository,
    private readonly projects: ProjectRepository,
    private readonly members: ProjectMemberRepository,
    private readonly hasher: PasswordHasher,
    private readonly config: Config,
    private readonly logging: Logging,
    private readonly cache: AuthorityCache,
  ) {
    super();
  }

  override async start(): Promise<void> {
    if (!(await this.users.any(this.database.op))) await this.firstBoot();
    await this.cache.start();
  }

  override async stop(): Promise<void> {
    await this.cache.stop();
  }

  /**
   * The user `admin` and the project `default`, by whichever process comes first. Its password goes to a private file
   * and nowhere else.
   */
  private async firstBoot(): Promise<void> {
    const password = randomBytes(18).toString('base64url');
    const passwordHash = await this.hasher.hash(password);
    const file = join(this.config.core.stateDir, 'management', 'admin-password');
    const made = await this.database.tx(async (op) => {
      await this.users.lockFirstBoot(op);
      if (await this.users.any(op)) return false;
      const user = await this.users.insert(op, { id: uuid(), name: 'admin', passwordHash, admin: true });
      const project =
        (await this.projects.insert(op, { id: uuid(), name: 'default', description: '' })) ??
        (await this.projects.byRef(op, 'default'));
      if (!user || !project) throw new Error('the first user or project vanished while it was made');
      await this.members.set(op, project.id, user.id, 'project-admin');
      await writePrivate(file, `${password}\n`);
      return true;
    });
    if (made) this.logging.for('identity').info({ file }, 'made the user "admin"; its password is in the file');
  }
}

/**
 * Whole and on disk, or not there: written before the commit, since a password that nobody knows would be worse than
 * one for nobody.
 */
const writePrivate = async (file: string, content: string): Promise<void> => {
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.new`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
};
