/** The configuration cannot be used. Every problem is named at once, each with its key's path and where it was set. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`the configuration is not valid:\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}
