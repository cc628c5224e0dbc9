export const outputFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
/** `-o`. */
export type OutputFormat = (typeof outputFormats)[number];
