import { z } from 'zod';
import { exec } from '../../../../../core/host/processes/exec';

/** The members of `ip -d -j addr show` that are compared. */
const linkSchema = z.object({
  ifname: z.string(),
  flags: z.array(z.string()),
  mtu: z.number(),
  master: z.string().optional(),
  address: z.string().optional(),
  linkinfo: z
    .object({
      info_kind: z.string().optional(),
      info_data: z
        .object({ id: z.unknown(), local: z.unknown(), port: z.unknown(), learning: z.unknown() })
        .partial()
        .optional(),
    })
    .optional(),
  addr_info: z.array(
    z.object({ family: z.string().optional(), local: z.string().optional(), prefixlen: z.number().optional() }),
  ),
});
const routeSchema = z.object({ dst: z.string(), gateway: z.string().optional(), dev: z.string().optional() });

export interface ActualLink {
  name: string;
  /** As iproute2 calls it; a tap is `tun`. */
  kind: string;
  up: boolean;
  mtu: number;
  mac: string;
  master: string | undefined;
  /** IPv4, `a.b.c.d/n`. */
  addresses: string[];
  /** Of a VXLAN device: what it is, in one word, as `vxlanWord` has it. */
  vxlan?: string;
}

/** What cannot be changed of a VXLAN device. */
export const vxlanWord = (device: { vni?: unknown; local?: unknown; port?: unknown }): string =>
  [device.vni, device.local, device.port].map(String).join(' ');

export interface ActualNamespace {
  links: Map<string, ActualLink>;
  routes: { dst: string; via: string | undefined; dev: string | undefined }[];
}

export const emptyNamespace = (): ActualNamespace => ({ links: new Map(), routes: [] });

/** iproute2 prints an empty object for entries that a filter left out. */
const parse = <T extends z.ZodType>(schema: T, text: string): z.output<T>[] =>
  text.trim() === ''
    ? []
    : (JSON.parse(text) as unknown[]).flatMap((row) =>
        Object.keys(row as object).length === 0 ? [] : [schema.parse(row)],
      );

export const parseLinks = (text: string): Map<string, ActualLink> =>
  new Map(
    parse(linkSchema, text).map((l) => [
      l.ifname,
      {
        name: l.ifname,
        kind: l.linkinfo?.info_kind ?? '',
        up: l.flags.includes('UP'),
        mtu: l.mtu,
        mac: l.address ?? '',
        master: l.master,
        ...(l.linkinfo?.info_kind === 'vxlan' && {
          vxlan: vxlanWord({ ...l.linkinfo.info_data, vni: l.linkinfo.info_data?.id }),
        }),
        addresses: l.addr_info.flatMap((a) =>
          a.family === 'inet' && a.local !== undefined ? [`${a.local}/${a.prefixlen ?? 32}`] : [],
        ),
      },
    ]),
  );

/** Reads links, addresses and routes of a namespace (null: the agent's own). */
export const readNamespace = async (netns: string | null): Promise<ActualNamespace> => {
  const where = netns === null ? [] : ['-n', netns];
  const [links, routes] = await Promise.all([
    exec('ip', [...where, '-d', '-j', 'addr', 'show']),
    exec('ip', [...where, '-4', '-j', 'route', 'show']),
  ]);
  return {
    links: parseLinks(links.stdout),
    routes: parse(routeSchema, routes.stdout).map((r) => ({ dst: r.dst, via: r.gateway, dev: r.dev })),
  };
};
