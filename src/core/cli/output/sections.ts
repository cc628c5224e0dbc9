import stringWidth from 'string-width';
import type { Tone } from './cli-column';
import { plain } from './format';
import { tableText, toned, type Fit } from './table';

export interface Fact {
  label: string;
  value: string;
  tone?: Tone;
}

/** A part of what `show` prints for people: facts, or a table with headers, under a title. Empty ones are left out. */
export interface Section {
  title?: string;
  facts?: Fact[];
  headers?: string[];
  rows?: string[][];
  /** Tone of a row's cell; by default none. */
  tone?: (row: number, column: number) => Tone;
  /** Shown instead of a table without rows. */
  none?: string;
}

/** A fact; an empty value shows as a dash. */
export const fact = (label: string, value: string | null | undefined, tone?: Tone): Fact => ({
  label,
  value: value || '-',
  ...(tone && { tone }),
});

/** Breaks a text into lines of at most `width` characters, between words. */
const wrapWords = (text: string, width: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && stringWidth(last) + stringWidth(word) < width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};

const indent = '  ';

const factLines = (facts: Fact[], pad: string, fit: Fit): string[] => {
  const label = Math.max(...facts.map((f) => f.label.length));
  const room = fit.width === undefined ? Number.MAX_SAFE_INTEGER : Math.max(20, fit.width - pad.length - label - 2);
  return facts.flatMap((f) =>
    wrapWords(plain(f.value), room).map(
      (line, i) => `${pad}${(i === 0 ? f.label : '').padEnd(label)}  ${toned(line, f.tone, fit.colour)}`,
    ),
  );
};

const tableLines = (section: Section, pad: string, fit: Fit): string[] => {
  const { headers = [], rows = [] } = section;
  if (rows.length === 0) return section.none === undefined ? [] : [`${pad}${section.none}`];
  const cells = rows.map((row, r) => row.map((text, c) => ({ text: plain(text) || '-', tone: section.tone?.(r, c) })));
  const text = tableText([headers.map((h) => ({ text: h.toUpperCase() })), ...cells], [], {
    ...fit,
    width: fit.width === undefined ? undefined : fit.width - pad.length,
  });
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `${pad}${line}`.trimEnd());
};

/** Sections as people read them, with an empty line between two. */
export const sectionsText = (sections: Section[], fit: Fit): string => {
  const blocks = sections.flatMap((section) => {
    const pad = section.title === undefined ? '' : indent;
    const lines = [
      ...(section.facts && section.facts.length > 0 ? factLines(section.facts, pad, fit) : []),
      ...(section.headers ? tableLines(section, pad, fit) : []),
    ];
    return lines.length === 0 ? [] : [[...(section.title === undefined ? [] : [section.title]), ...lines].join('\n')];
  });
  return blocks.length === 0 ? '' : `${blocks.join('\n\n')}\n`;
};
