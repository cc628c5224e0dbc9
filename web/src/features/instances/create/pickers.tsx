import { ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { bytes, plural } from '../../../lib/format';
import { checkAddress, rangesOf } from '../../networks/address-rules';
import type { Flavor, Image, Network, SshKey } from '../../../lib/types';
import { inputClass } from '../../../ui/forms/field';
import { Skeleton } from '../../../ui/lists/table';
import { Choice } from './choice';
import type { ChosenNetwork } from './drafts';
import { imageReason } from './image-reason';
import { PickList } from './pick-list';

/** Said in place of a choice when there is nothing to choose, with the way to make it. */
export function Missing({ children, to, label }: { children: ReactNode; to?: string; label?: string }) {
  return (
    <p className="rounded-lg border border-dashed border-line-strong px-3 py-3 text-sm text-dim">
      {children}{' '}
      {to !== undefined && (
        <Link to={to} className="inline-flex items-center gap-1 font-medium text-accent-text hover:underline">
          {label}
          <ArrowRight aria-hidden className="size-3.5" />
        </Link>
      )}
    </p>
  );
}

export const PickerSkeleton = () => (
  <div className="grid grid-cols-1 gap-2 sm:grid-cols-2">
    <Skeleton className="h-14" />
    <Skeleton className="h-14" />
  </div>
);

export function FlavorPicker({
  flavors,
  value,
  onChange,
}: {
  flavors: Flavor[];
  value: string;
  onChange: (id: string) => void;
}) {
  return (
    <PickList
      label="flavors"
      items={flavors}
      textOf={(f) => f.name}
      chosen={(f) => f.id === value}
      columns="sm:grid-cols-2 xl:grid-cols-3"
    >
      {(f) => (
        <Choice key={f.id} type="radio" name="flavor" checked={value === f.id} onChange={() => onChange(f.id)}>
          <span title={f.name} className="block truncate font-medium">
            {f.name}
          </span>
          <span className="nums mt-0.5 block text-xs text-dim">
            {plural(f.vcpus, 'vCPU')} · {bytes(f.memoryBytes)} ·{' '}
            {f.diskBytes === 0 ? 'disk as image' : `${bytes(f.diskBytes)} disk`}
          </span>
        </Choice>
      )}
    </PickList>
  );
}

export function ImagePicker({
  images,
  flavor,
  value,
  onChange,
}: {
  images: Image[];
  flavor: Flavor | undefined;
  value: string;
  onChange: (id: string) => void;
}) {
  return (
    <PickList label="images" items={images} textOf={(i) => i.name} chosen={(i) => i.id === value}>
      {(i) => {
        const reason = imageReason(i, flavor);
        return (
          <Choice
            key={i.id}
            type="radio"
            name="image"
            checked={value === i.id}
            disabled={reason !== null}
            onChange={() => onChange(i.id)}
          >
            <span title={i.name} className="block truncate font-medium">
              {i.name}
            </span>
            <span className="nums mt-0.5 block text-xs break-words text-dim">
              {reason ??
                [i.virtualBytes === null ? null : bytes(i.virtualBytes), i.architecture, i.public ? 'public' : null]
                  .filter(Boolean)
                  .join(' · ')}
            </span>
          </Choice>
        );
      }}
    </PickList>
  );
}

interface NetworkPickerProps {
  networks: Network[];
  value: ChosenNetwork[];
  onChange: (value: ChosenNetwork[]) => void;
  /** What the server said of the address in a network. */
  refused: (networkId: string) => string | null;
}

export function NetworkPicker({ networks, value, onChange, refused }: NetworkPickerProps) {
  return (
    <PickList
      label="networks"
      items={networks}
      textOf={(n) => `${n.name} ${rangesOf(n).join(' ')}`}
      chosen={(n) => value.some((v) => v.id === n.id)}
      columns=""
    >
      {(n) => {
        const chosen = value.find((v) => v.id === n.id);
        const free = n.addresses.total - n.addresses.used;
        const wrong =
          chosen === undefined || chosen.address === ''
            ? null
            : (checkAddress(chosen.address, ...rangesOf(n)) ?? refused(n.id));
        return (
          <div key={n.id}>
            <Choice
              type="checkbox"
              name="network"
              checked={chosen !== undefined}
              disabled={chosen === undefined && (free === 0 || value.length >= 8)}
              onChange={(on) =>
                onChange(on ? [...value, { id: n.id, address: '' }] : value.filter((v) => v.id !== n.id))
              }
            >
              <span className="flex min-w-0 items-baseline gap-2">
                <span title={n.name} className="truncate font-medium">
                  {n.name}
                </span>
                {chosen !== undefined && value.length > 1 && value[0]?.id === n.id && (
                  <span className="shrink-0 text-xs text-dim">first interface</span>
                )}
              </span>
              <span className="nums mt-0.5 block text-xs text-dim">
                {rangesOf(n).join(', ') || 'no subnet'} ·{' '}
                {free === 0 ? 'no free address' : `${plural(free, 'free address', 'free addresses')}`}
                {n.router === null ? ' · isolated' : n.router.snat ? ' · reaches the outside' : ' · routed'}
              </span>
            </Choice>
            {chosen !== undefined && (
              <div className="mt-1.5 ml-10 max-w-60">
                <input
                  aria-label={`Fixed address in ${n.name}`}
                  aria-invalid={wrong === null ? undefined : true}
                  placeholder="Next free address"
                  value={chosen.address}
                  onChange={(event) =>
                    onChange(value.map((v) => (v.id === n.id ? { ...v, address: event.target.value.trim() } : v)))
                  }
                  className={inputClass}
                />
                {wrong !== null && <p className="mt-1 text-xs text-bad">{wrong}</p>}
              </div>
            )}
          </div>
        );
      }}
    </PickList>
  );
}

export function KeyPicker({
  keys,
  value,
  onChange,
}: {
  keys: SshKey[];
  value: string[];
  onChange: (ids: string[]) => void;
}) {
  return (
    <PickList label="keys" items={keys} textOf={(k) => k.name} chosen={(k) => value.includes(k.id)}>
      {(k) => (
        <Choice
          key={k.id}
          type="checkbox"
          name="ssh-key"
          checked={value.includes(k.id)}
          onChange={(on) => onChange(on ? [...value, k.id] : value.filter((v) => v !== k.id))}
        >
          <span title={k.name} className="block truncate font-medium">
            {k.name}
          </span>
          <span title={k.fingerprint} className="mt-0.5 block truncate font-mono text-xs text-dim">
            {k.fingerprint}
          </span>
        </Choice>
      )}
    </PickList>
  );
}
