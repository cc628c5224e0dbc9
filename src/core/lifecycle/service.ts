/**
 * Something that lives as long as the process: reconcilers, supervisors, listeners. Started in module order, stopped in
 * reverse.
 */
export abstract class Service {
  abstract start(): Promise<void>;
  abstract stop(): Promise<void>;
}
