import { ApiTokenEntity } from './api-tokens/api-token.entity';
import { ProjectMemberEntity } from './projects/project-member.entity';
import { ProjectEntity } from './projects/project.entity';
import { RefreshTokenEntity } from './sessions/refresh-token.entity';
import { SessionEntity } from './sessions/session.entity';
import { SigningKeyEntity } from './sessions/signing-key.entity';
import { UserEntity } from './users/user.entity';

export const identityEntities = [
  UserEntity,
  ProjectEntity,
  ProjectMemberEntity,
  SessionEntity,
  RefreshTokenEntity,
  ApiTokenEntity,
  SigningKeyEntity,
];
