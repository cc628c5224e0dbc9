import type { MetricTable } from '../../../core/telemetry/declared-metrics';

export const computeMetrics: MetricTable = {
  vcstack_instances: {
    kind: 'gauge',
    help: 'Instances of all projects by state, as they were counted last',
    labels: ['state'],
  },
  vcstack_instances_counted_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the instances of all projects were counted last, seconds since 1970 on the clock of the database',
  },
};
