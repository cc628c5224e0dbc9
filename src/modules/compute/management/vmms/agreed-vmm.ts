import { unprocessable } from '../../../../core/errors/problem';

/** Who may ask for a kind of virtual machine monitor, and what each asks for; null for nothing. */
export interface AskedVmms {
  instance: string | null;
  flavor: string | null;
  image: string | null;
}

const whose = { instance: 'you', flavor: 'the flavor', image: 'the image' } as const;
const codes = { flavor: 'other_vmm_of_flavor', image: 'other_vmm_of_image' } as const;

/**
 * The one kind that all who ask for one agree on, and the field of the request that brought it; null when nobody asks.
 * Throws 422 that names both who differ: what they are made for cannot be had at once.
 */
export const agreedVmm = (asked: AskedVmms): { kind: string; path: string } | null => {
  const paths = { instance: 'body.vmm', flavor: 'body.flavor', image: 'body.image' } as const;
  const [first, ...others] = (['instance', 'flavor', 'image'] as const).filter((who) => asked[who] !== null);
  const kind = first && asked[first];
  if (!first || kind == null) return null;
  for (const other of others) {
    if (other === 'instance' || asked[other] === kind) continue;
    const way = first === 'instance' ? 'leave the VMM out, or' : '';
    throw unprocessable(
      first === 'instance' ? paths.instance : paths[other],
      codes[other],
      `${whose[first]} ask${first === 'instance' ? '' : 's'} for ${kind}, and ${whose[other]} for ${asked[other] ?? ''}: ${way} choose another ${other}.`
        .replace(/^./, (letter) => letter.toUpperCase())
        .replace(/ {2}/g, ' '),
    );
  }
  return { kind, path: paths[first] };
};
