import type { Place } from './place';

/** One datagram that a host sent to another one. */
export interface Datagram {
  port: number;
  /** Hexadecimal. */
  payload: string;
}

/** Listens where `socat` passes frames on, and says each as a line. */
const collector = `require('node:dgram').createSocket('udp4').on('message', (m) => console.log(m.toString('hex'))).bind(9, '127.0.0.1', () => console.log('ready'))`;

const udp = 17;
const etherHeader = 14;

/** The datagram in an Ethernet frame, when it is one over IPv4 to that address. */
const datagramTo = (address: string, frame: Buffer): Datagram[] => {
  if (frame.length < etherHeader + 28 || frame.readUInt16BE(12) !== 0x0800) return [];
  const packet = frame.subarray(etherHeader);
  const header = (packet.readUInt8(0) & 15) * 4;
  const to = [...packet.subarray(16, 20)].join('.');
  if (packet.readUInt8(9) !== udp || to !== address) return [];
  const length = packet.readUInt16BE(header + 4);
  return [
    {
      port: packet.readUInt16BE(header + 2),
      payload: packet.subarray(header + 8, header + length).toString('hex'),
    },
  ];
};

/** What a host sends to that address while something is done. */
export const overheard = async (host: Place, to: string, during: () => Promise<unknown>): Promise<Datagram[]> => {
  const lines = host.start(process.execPath, '-e', collector);
  await lines.until(/ready/);
  const tap = host.start('socat', '-u', 'INTERFACE:up0', 'UDP-SENDTO:127.0.0.1:9');
  await during();
  await tap.end();
  const frames = (await lines.end()).split('\n').map((line) => Buffer.from(line, 'hex'));
  return frames.flatMap((frame) => datagramTo(to, frame));
};

/** Says the same to that address, from wherever the place is. */
export const repeated = async (from: Place, to: string, datagrams: readonly Datagram[]): Promise<void> => {
  const script = `const s = require('node:dgram').createSocket('udp4');
    Promise.all(${JSON.stringify(datagrams)}.map((d) => new Promise((done) => s.send(Buffer.from(d.payload, 'hex'), d.port, ${JSON.stringify(to)}, done)))).then(() => s.close())`;
  await from.in(process.execPath, '-e', script);
};
