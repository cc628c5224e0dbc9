/** Outputs as they will be read after a resume: JSON, so that a run behaves the same with and without one. */
export const jsonOutput = (value: unknown): unknown => {
  if (value === undefined || value === null || typeof value !== 'object') return value;
  return JSON.parse(JSON.stringify(value)) as unknown;
};
