import { crc32 } from 'node:zlib';

interface JournalRecord<T> {
  key: string;
  /** Milliseconds since the epoch. */
  at: number;
  value: T;
}

export interface DecodedJournal<T> {
  /** In the order they were written; a key may come several times. */
  records: JournalRecord<T>[];
  /** Bytes up to the end of the last whole line. */
  good: number;
  /** Whole lines up to there. */
  lines: number;
  /** Damaged lines before the last whole one. */
  damaged: number;
  /** Of the first line; 1 where it does not say. */
  format: number;
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');
const newline = 10;

/** One line: a checksum, a space, JSON. */
export const encodeRecord = (key: string, at: number, value: unknown): string => {
  const json = JSON.stringify({ k: key, t: at, v: value });
  return `${checksum(json)} ${json}\n`;
};

const format = 1;

/** The first line of every file: a file without it that is empty has lost what it held. Its key is no record's. */
export const journalHeader = encodeRecord('', 0, { format });

/** Whether a newer build wrote the file in a way that this one does not know. */
export const isNewer = (decoded: Pick<DecodedJournal<unknown>, 'format'>): boolean => decoded.format > format;

/** Lines are split by byte: no character of a value can look like a line's end. */
export const decodeJournal = <T>(data: Buffer): DecodedJournal<T> => {
  const decoded: DecodedJournal<T> = { records: [], good: 0, lines: 0, damaged: 0, format };
  let pendingDamage = 0;
  for (let start = 0, end = data.indexOf(newline); end >= 0; start = end + 1, end = data.indexOf(newline, start)) {
    const record = decodeLine<T>(data.toString('utf8', start, end));
    if (!record) {
      pendingDamage += 1;
      continue;
    }
    decoded.damaged += pendingDamage;
    pendingDamage = 0;
    decoded.good = end + 1;
    decoded.lines += 1;
    if (record.key !== '') decoded.records.push(record);
    else decoded.format = Number((record.value as { format?: unknown } | null)?.format ?? format);
  }
  return decoded;
};

const decodeLine = <T>(line: string): JournalRecord<T> | null => {
  const json = line.slice(9);
  if (line[8] !== ' ' || checksum(json) !== line.slice(0, 8)) return null;
  const { k, t, v } = JSON.parse(json) as { k: string; t: number; v: T };
  return { key: k, at: t, value: v };
};
