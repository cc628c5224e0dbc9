import { useEffect, useRef } from 'react';
import type { ConnectionState } from '../../lib/connection';
import { ScreenLink } from './screen-link';

interface Props {
  instanceId: string;
  name: string;
  /** As large as there is room, or pixel by pixel. */
  fit: boolean;
  onState: (state: ConnectionState) => void;
  /** Gets the link, so that the frame can ask it for something. */
  onLink: (link: ScreenLink | null) => void;
  onLeave: () => void;
}

/** The screen, by noVNC. A chunk of its own: nothing of it loads before a console is opened. */
export default function Screen({ instanceId, name, fit, onState, onLink, onLeave }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const link = useRef<ScreenLink | null>(null);
  const callbacks = useRef({ onState, onLink, onLeave });
  useEffect(() => {
    callbacks.current = { onState, onLink, onLeave };
  });

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const made = new ScreenLink(instanceId, element, (state) => callbacks.current.onState(state));
    link.current = made;
    callbacks.current.onLink(made);
    // Before the viewer, which keeps every key: this one leads out of it, once the others that were held with it are let
    // go of and the guest knows.
    let leaving = false;
    const asked = (event: KeyboardEvent): void => {
      leaving = event.key === 'F6' && event.ctrlKey && event.shiftKey;
      if (!leaving) return;
      event.stopImmediatePropagation();
      event.preventDefault();
    };
    const released = (event: KeyboardEvent): void => {
      if (!leaving || event.ctrlKey || event.shiftKey) return;
      leaving = false;
      // After the viewer has passed it on, which lets nobody behind it see a key.
      setTimeout(() => {
        made.blur();
        callbacks.current.onLeave();
      });
    };
    element.addEventListener('keydown', asked, true);
    element.addEventListener('keyup', released, true);
    return () => {
      callbacks.current.onLink(null);
      link.current = null;
      element.removeEventListener('keydown', asked, true);
      element.removeEventListener('keyup', released, true);
      made.close();
    };
  }, [instanceId]);
  useEffect(() => link.current?.setFit(fit), [fit, instanceId]);

  return (
    <div
      ref={box}
      role="application"
      aria-label={`Screen of ${name}. Control Shift F6 leaves it.`}
      className="size-full overflow-hidden"
    />
  );
}
