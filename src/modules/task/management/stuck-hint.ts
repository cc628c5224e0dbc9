/** For a task whose undo did not succeed. */
export const stuckHint = (operator: boolean, taskId: string): string =>
  operator
    ? `Mend the cause, then let it undo again (vcctl task retry ${taskId}); or pass over the step (skip-step), or end the task as it is (abandon).`
    : 'An administrator must look at it. You may also delete the object: that ends this task and removes what it left.';
