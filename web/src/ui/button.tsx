import type { LucideIcon } from 'lucide-react';
import { LoaderCircle } from 'lucide-react';
import type { ButtonHTMLAttributes, MouseEvent, ReactNode } from 'react';
import { Link } from 'react-router';
import { cx } from './cx';
import { Tooltip } from './feedback/tooltip';

export type ButtonLook = 'primary' | 'secondary' | 'ghost' | 'danger';

const looks: Record<ButtonLook, string> = {
  primary: 'bg-accent text-accent-ink',
  secondary: 'border border-line-strong bg-raised text-ink shadow-lift',
  ghost: 'text-dim',
  danger: 'bg-danger text-white',
};
const hovers: Record<ButtonLook, string> = {
  primary: 'hover:bg-accent-hover',
  secondary: 'hover:bg-sunken',
  ghost: 'hover:bg-sunken hover:text-ink',
  danger: 'hover:bg-danger-hover',
};
const base =
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md text-sm font-medium whitespace-nowrap transition-colors select-none';
const sizes = { md: 'h-8 px-3', sm: 'h-7 px-2', icon: 'size-8', 'icon-sm': 'size-7' } as const;
const off = 'cursor-not-allowed opacity-50';

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  look?: ButtonLook;
  size?: keyof typeof sizes;
  icon?: LucideIcon;
  busy?: boolean;
  /** Why it cannot be pressed now. The button stays focusable and tells it as a tooltip. */
  reason?: string | null;
  /** Tooltip of a button that can be pressed. */
  hint?: string;
}

export function Button({
  look = 'secondary',
  size = 'md',
  icon: Icon,
  busy = false,
  reason = null,
  hint,
  className,
  children,
  onClick,
  type = 'button',
  ...rest
}: Props) {
  const blocked = busy || reason !== null;
  const press = (event: MouseEvent<HTMLButtonElement>): void => {
    if (blocked) {
      event.preventDefault();
      return;
    }
    onClick?.(event);
  };
  return (
    <Tooltip text={reason ?? hint}>
      <button
        type={type}
        aria-disabled={blocked || undefined}
        aria-busy={busy || undefined}
        onClick={press}
        className={cx(base, sizes[size], looks[look], blocked ? off : hovers[look], className)}
        {...rest}
      >
        {busy ? (
          <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
        ) : (
          Icon !== undefined && <Icon aria-hidden className={size.startsWith('icon') ? 'size-4' : 'size-3.5'} />
        )}
        {children}
      </button>
    </Tooltip>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  to,
  look = 'secondary',
  icon: Icon,
  children,
  className,
}: {
  to: string;
  look?: ButtonLook;
  icon?: LucideIcon;
  children: ReactNode;
  className?: string;
}) {
  return (
    <Link to={to} className={cx(base, sizes.md, looks[look], hovers[look], className)}>
      {Icon !== undefined && <Icon aria-hidden className="size-3.5" />}
      {children}
    </Link>
  );
}
