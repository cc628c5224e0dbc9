import type { ManagementWiring } from '../../../core/app/module-manifest';
import { TaskController } from './task.controller';
import { TaskRepository } from './task.repository';
import { TaskService } from './task.service';

export const taskWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const one of [TaskController, TaskRepository, TaskService]) bind<object>(one).toSelf().inSingletonScope();
  },
  controllers: [TaskController],
};
