import type { IncomingMessage } from 'node:http';
import { NodeVerbError } from './node-caller';
import { verbError } from './verb-error';

/** Bytes. */
const longest = 16_384;

/** The text of an answer, as far as it came and no longer than it may be. */
const textOf = async (answer: AsyncIterable<unknown>): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= longest) break;
    }
  } catch {
    // Cut: what came says as much as it says.
  }
  return Buffer.concat(chunks).subarray(0, longest).toString();
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Why a host takes no stream: in its own words, as of a verb, where it says any. */
export const streamRefused = async (hostId: string, answer: IncomingMessage): Promise<NodeVerbError> => {
  const { statusCode = 0 } = answer;
  const failure = verbError.safeParse(parse(await textOf(answer))).data?.error;
  if (failure) {
    const { code, message, permanent, extra, detail } = failure;
    return new NodeVerbError(hostId, 'stream', code, message, permanent, extra, detail);
  }
  const code = statusCode === 404 ? 'not_found' : 'refused';
  return new NodeVerbError(hostId, 'stream', code, `The host refused the stream (${statusCode}).`, true);
};
