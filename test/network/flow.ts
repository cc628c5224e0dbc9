import type { Endpoint } from './endpoint';

/** What came of packets that were sent all the time. */
export interface FlowReport {
  /** Echo requests. */
  sent: number;
  received: number;
  /** Between two answers over one TCP connection, milliseconds. */
  longestGapMs: number;
  /** The connection ended before its time. */
  broken: boolean;
}

const port = 7100;

/** Sends a line every 20 ms over one connection, which answers each; says the longest gap between answers when told to end. */
const talker = (address: string): string => `
  const socket = require('node:net').connect(${port}, ${JSON.stringify(address)});
  let last = 0, longest = 0, broken = false, ending = false;
  const heard = () => { const now = performance.now(); if (last) longest = Math.max(longest, now - last); last = now; };
  socket.on('data', () => { if (!last) console.log('flows'); heard(); });
  socket.on('error', () => (broken = true)).on('close', () => (broken = broken || !ending));
  setInterval(() => socket.write('line\\n'), 20);
  process.on('SIGINT', () => { ending = true; heard(); console.log(JSON.stringify({ longest: Math.round(longest), broken })); process.exit(); });
`;

/** A ping every 100 ms and a conversation over one TCP connection, from one to the other, until `end`. */
export const flowing = async (from: Endpoint, to: Endpoint): Promise<{ end: () => Promise<FlowReport> }> => {
  const answers = to.start('socat', `TCP-LISTEN:${port},reuseaddr`, 'EXEC:cat');
  const ping = from.start('ping', '-i', '0.1', '-W', '2', to.address);
  await ping.until(/icmp_seq=/);
  const talk = from.start(process.execPath, '-e', talker(to.address));
  await talk.until(/flows/);
  return {
    end: async () => {
      const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(await ping.end()) ?? [];
      const { longest, broken } = JSON.parse((await talk.end()).trim().split('\n').pop() ?? '{}') as {
        longest: number;
        broken: boolean;
      };
      await answers.end('SIGKILL');
      return { sent: Number(sent), received: Number(received), longestGapMs: longest, broken };
    },
  };
};
