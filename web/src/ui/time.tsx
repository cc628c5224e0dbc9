import { age, dateTime } from '../lib/format';
import { useNow } from '../lib/queries';

/** An age that grows; the exact time is its title. */
export function Age({ at, suffix = '' }: { at: string; suffix?: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={dateTime(at)} className="whitespace-nowrap">
      {age(at, now)}
      {suffix}
    </time>
  );
}
