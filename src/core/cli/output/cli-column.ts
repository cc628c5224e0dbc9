/** How a state is to be taken: green, yellow, red; anything else is not coloured. */
export type Tone = 'good' | 'busy' | 'bad' | undefined;

export interface CliColumn<T> {
  header: string;
  value: (row: T) => string;
  /** What `--sort` and `--filter` look at, where the shown text is not it: bytes, times, counts. */
  raw?: (row: T) => string | number | boolean | null | undefined;
  /** Only in `-o wide`. */
  wide?: boolean;
  /** Colour on a terminal. */
  tone?: (row: T) => Tone;
  /** Never cut, however narrow the terminal: an id is worth nothing in parts. */
  whole?: boolean;
}
