import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ProjectRole } from '../../../../core/auth/principal';

@Entity('project_member')
export class ProjectMemberEntity {
  @PrimaryColumn('uuid', { name: 'project_id' })
  projectId!: string;

  @PrimaryColumn('uuid', { name: 'user_id' })
  userId!: string;

  @Column('text')
  role!: ProjectRole;
}
