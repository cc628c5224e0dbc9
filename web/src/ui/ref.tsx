import { Link } from 'react-router';

/** The name of another thing, as the way to it. A long one is cut and told whole by its title. */
export const Ref = ({ to, children }: { to: string; children: string }) => (
  <Link to={to} title={children} className="block truncate rounded text-accent-text hover:underline">
    {children}
  </Link>
);
