import type { ManagementWiring } from '../../../core/app/module-manifest';
import { Authenticator } from '../../../core/auth/authenticator';
import { Projects } from '../contract/identity.ports';
import { AccessTokens } from './access-tokens.service';
import { ApiTokenController } from './api-token.controller';
import { ApiTokenRepository } from './api-token.repository';
import { ApiTokenService } from './api-token.service';
import { AuthorityCache } from './authority-cache';
import { IdentityAuthenticator } from './identity-authenticator';
import { IdentityLifecycle } from './identity-lifecycle.service';
import { PasswordHasher } from './password-hasher';
import { PrincipalRepository } from './principal.repository';
import { ProjectController } from './project.controller';
import { ProjectMemberRepository } from './project-member.repository';
import { ProjectRepository } from './project.repository';
import { ProjectService } from './project.service';
import { SessionController } from './session.controller';
import { SessionRepository } from './session.repository';
import { SessionService } from './session.service';
import { SigningKeyRepository } from './signing-key.repository';
import { SigningKeys } from './signing-keys.service';
import { UserAccessController } from './user-access.controller';
import { UserAccessService } from './user-access.service';
import { UserController } from './user.controller';
import { UserRepository } from './user.repository';
import { UserService } from './user.service';

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
};
