import type { ManagementWiring } from '../../../core/app/module-manifest';
import { VerbEvents } from '../../../core/m2m/verb-events';
import { TaskController } from './task.controller';
import { TaskListRepository } from './task-list.repository';
import { TaskProgress } from './task-progress';
import { TaskRepository } from './task.repository';
import { TaskService } from './task.service';
import { TaskUpkeep } from './task-upkeep';

export const taskWiring: ManagementWiring = {
  bind: ({ bind, rebind }) => {
    for (const one of [TaskController, TaskListRepository, TaskProgress, TaskRepository, TaskService, TaskUpkeep]) bind<object>(one).toSelf().inSingletonScope();
    rebind(VerbEvents).toService(TaskProgress);
  },
  controllers: [TaskController],
  services: [TaskUpkeep],
};
