import type { ManagementWiring } from '../../../core/app/module-manifest';
import { Authenticator } from '../../../core/auth/authenticator';
import { Projects } from '../contract/identity.ports';
import { AccessTokens } from './sessions/access-tokens.service';
import { ApiTokenController } from './api-tokens/api-token.controller';
import { ApiTokenRepository } from './api-tokens/api-token.repository';
import { ApiTokenService } from './api-tokens/api-token.service';
import { AuthorityCache } from './authority/authority-cache';
import { IdentityAuthenticator } from './authority/identity-authenticator';
import { IdentityLifecycle } from './identity-lifecycle.service';
import { PasswordHasher } from './users/password-hasher';
import { PrincipalRepository } from './authority/principal.repository';
import { ProjectController } from './projects/project.controller';
import { ProjectMemberRepository } from './projects/project-member.repository';
import { ProjectRepository } from './projects/project.repository';
import { ProjectService } from './projects/project.service';
import { SessionController } from './sessions/session.controller';
import { SessionRepository } from './sessions/session.repository';
import { SessionService } from './sessions/session.service';
import { SigningKeyRepository } from './sessions/signing-key.repository';
import { SigningKeys } from './sessions/signing-keys.service';
import { UserAccessController } from './users/user-access.controller';
import { UserAccessService } from './users/user-access.service';
import { UserController } from './users/user.controller';
import { UserRepository } from './users/user.repository';
import { UserService } from './users/user.service';
import { SessionUpkeep } from './sessions/session-upkeep';

export const identityWiring: ManagementWiring = {
  bind: ({ bind }) => {
    const classes = [
      AccessTokens,
      ApiTokenController,
      ApiTokenRepository,
      ApiTokenService,
      AuthorityCache,
      IdentityAuthenticator,
      IdentityLifecycle,
      PasswordHasher,
      PrincipalRepository,
      ProjectController,
      ProjectMemberRepository,
      ProjectRepository,
      ProjectService,
      SessionController,
      SessionRepository,
      SessionService,
      SessionUpkeep,
      SigningKeyRepository,
      SigningKeys,
      UserAccessController,
      UserAccessService,
      UserController,
      UserRepository,
      UserService,
    ];
    for (const one of classes) bind<object>(one).toSelf().inSingletonScope();
    bind(Authenticator).toService(IdentityAuthenticator);
    bind(Projects).toService(ProjectService);
  },
  controllers: [SessionController, UserController, UserAccessController, ProjectController, ApiTokenController],
  services: [IdentityLifecycle],
  periodic: [SessionUpkeep],
};
