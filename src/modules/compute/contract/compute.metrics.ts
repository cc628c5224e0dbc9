import type { MetricTable } from '../../../core/telemetry/declared-metrics';

export const computeMetrics: MetricTable = {
  vcstack_instances: { kind: 'gauge', help: 'Instances of all projects by state', labels: ['state'] },
};
