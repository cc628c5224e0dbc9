/**
 * What a condition of hosts is for. `required`: a host takes nothing new while it is not true, and unknown means that it
 * is still being tested. `warns`: it is only told. `decides`: the state follows from it in a way of its own, which its
 * owner knows.
 */
type HostConditionEffect = 'required' | 'warns' | 'decides';

/** By type, a CamelCase word. */
export type HostConditionTable = Readonly<Record<string, HostConditionEffect>>;

/** The conditions of hosts that there are: all that modules declare, each by its one owner. */
export class HostConditionTypes {
  /** Those that must be true. Of several that are not, the first is told as the reason. */
  readonly required: readonly string[];

  constructor(private readonly table: HostConditionTable) {
    this.required = Object.keys(table).filter((type) => table[type] === 'required');
  }

  all(): string[] {
    return Object.keys(this.table);
  }

  /** Throws for a type that no module declares: nobody would own it. */
  assertDeclared(type: string): void {
    if (!Object.hasOwn(this.table, type)) throw new Error(`no module declares the host condition "${type}"`);
  }
}
