/** Sizes of huge pages that instances can have, in bytes. */
export const pageSizes = { '2MiB': 2 * 1024 * 1024, '1GiB': 1024 * 1024 * 1024 } as const;
export type PageSize = keyof typeof pageSizes;

export const pageSizeNames = Object.keys(pageSizes) as [PageSize, ...PageSize[]];

/** Bytes of memory that consist of huge pages, by their size. */
export type HugePages = Readonly<Record<PageSize, number>>;

export const noHugePages: HugePages = { '2MiB': 0, '1GiB': 0 };

/** Of each size what `of` says. */
export const eachSize = (of: (size: PageSize) => number): HugePages =>
  Object.fromEntries(pageSizeNames.map((size) => [size, of(size)])) as HugePages;
