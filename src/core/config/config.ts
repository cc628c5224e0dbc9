import { injectable } from 'inversify';
import type { CoreConfig } from './core-config';

/** The effective configuration: defaults, files and environment merged and validated. Immutable. */
@injectable()
export class Config {
  constructor(
    readonly core: CoreConfig,
    private readonly modules: Readonly<Record<string, unknown>>,
  ) {}

  /** A module's own section, as its manifest's schema parsed it. */
  section<T>(module: string): T {
    if (!(module in this.modules)) throw new Error(`module "${module}" has no configuration section`);
    return this.modules[module] as T;
  }

  /** All module sections by module name, for printing the effective configuration. */
  sections(): Readonly<Record<string, unknown>> {
    return this.modules;
  }
}
