import type { ManagementWiring } from '../../../core/app/module-manifest';
import { TaskController } from './task.controller';
import { TaskListRepository } from './task-list.repository';
import { TaskRepository } from './task.repository';
import { TaskService } from './task.service';
import { TaskUpkeep } from './task-upkeep';

export const taskWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const one of [TaskController, TaskListRepository, TaskRepository, TaskService, TaskUpkeep])
      bind<object>(one).toSelf().inSingletonScope();
  },
  controllers: [TaskController],
  periodic: [TaskUpkeep],
};
