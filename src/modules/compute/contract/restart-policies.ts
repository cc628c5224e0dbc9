/**
 * What a host does of itself when an instance ends by a failure: nothing, or it starts it again, within the budget of its
 * configuration (`modules.compute.restarts`).
 */
export const restartPolicies = ['never', 'on-failure'] as const;
export type RestartPolicy = (typeof restartPolicies)[number];
