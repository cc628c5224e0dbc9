import type { MetricTable } from '../../../core/telemetry/declared-metrics';

export const imageMetrics: MetricTable = {
  vcstack_image_imports_total: {
    kind: 'counter',
    help: 'Imports that ended in this process, by outcome: ready or failed',
    labels: ['outcome'],
  },
  vcstack_image_imported_bytes_total: {
    kind: 'counter',
    help: 'Bytes of the sources of images that imports made ready in this process',
  },
};
