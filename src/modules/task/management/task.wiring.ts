import type { ManagementWiring } from '../../../core/app/module-manifest';
import { EventDetails } from '../../../core/events/event-details';
import { TaskController } from './task.controller';
import { TaskEventDetails } from './task-event-details';
import { TaskListRepository } from './task-list.repository';
import { TaskRepository } from './task.repository';
import { TaskService } from './task.service';
import { TaskUpkeep } from './task-upkeep';

export const taskWiring: ManagementWiring = {
  bind: ({ bind }) => {
    for (const one of [TaskController, TaskListRepository, TaskRepository, TaskService, TaskUpkeep])
      bind<object>(one).toSelf().inSingletonScope();
    bind(EventDetails).to(TaskEventDetails).inSingletonScope();
  },
  controllers: [TaskController],
  periodic: [TaskUpkeep],
};
