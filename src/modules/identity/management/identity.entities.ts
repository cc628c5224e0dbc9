import { ApiTokenEntity } from './api-token.entity';
import { ProjectMemberEntity } from './project-member.entity';
import { ProjectEntity } from './project.entity';
import { RefreshTokenEntity } from './refresh-token.entity';
import { SessionEntity } from './session.entity';
import { SigningKeyEntity } from './signing-key.entity';
import { UserEntity } from './user.entity';

export const identityEntities = [
  UserEntity,
  ProjectEntity,
  ProjectMemberEntity,
  SessionEntity,
  RefreshTokenEntity,
  ApiTokenEntity,
  SigningKeyEntity,
];
