import { unprocessable } from '../../../../core/errors/problem';
import type { AskedOfHardware } from '../../contract/hardware';

/** 422 `balloon_with_huge_pages`: a guest gives memory by small pages, and huge ones do not come apart. */
export const refuseHugePages = (
  at: string,
  { balloon }: { balloon?: boolean },
  { pageSize }: AskedOfHardware,
): void => {
  if (balloon === true && pageSize !== undefined)
    throw unprocessable(
      at,
      'balloon_with_huge_pages',
      'The memory of the flavor consists of huge pages, of which a balloon gives nothing back.',
    );
};
