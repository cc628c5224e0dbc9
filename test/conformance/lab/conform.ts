import { bootFailureCases } from '../boot-failure.cases';
import { consoleCases } from '../console.cases';
import { hotplugCases } from '../hotplug.cases';
import { httpCases } from '../http.cases';
import { lifeCases } from '../life.cases';
import { migrationCases } from '../migration.cases';
import { processCases } from '../process.cases';
import { resizeCases } from '../resize.cases';
import { snapshotCases } from '../snapshot.cases';
import { validationCases } from '../validation.cases';
import { Casebook } from './casebook';
import type { Subject } from './subject';
import { VmmLab } from './vmm-lab';

/** In the order of the list; the last case looks at what all others were answered. */
const parts = [
  httpCases,
  lifeCases,
  validationCases,
  bootFailureCases,
  consoleCases,
  hotplugCases,
  resizeCases,
  snapshotCases,
  migrationCases,
  processCases,
];

/** Puts all cases to one subject. */
export const conform = (subject: Subject): void => {
  describe(subject.name, () => {
    const lab = new VmmLab(subject);
    const book = new Casebook(lab);
    afterEach(() => lab.close());
    for (const part of parts) part(book, lab);
    book.complete();
  });
};
