/** What is stored of an error: what its reader needs, and nothing that PostgreSQL's jsonb refuses. */
export interface StepError {
  /** Stable, snake_case. */
  code: string;
  message: string;
  /** Id of the host that the failed call was for. */
  host: string | null;
  step: string | null;
  /** What the reader may do; null when there is nothing special to say. */
  hint: string | null;
  /** The original text of an unexpected error, or what a program said on the host; for operators only. */
  cause?: string;
  extra?: Record<string, unknown>;
}
