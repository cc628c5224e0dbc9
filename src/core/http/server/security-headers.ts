import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * The console needs nothing from elsewhere. Inline styles are allowed because the terminal and the component library
 * set them; inline scripts are not. No HSTS: it would bind every other port of the same host name, which is the
 * operator's to decide.
 */
const headers = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:', 'blob:'],
      fontSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      workerSrc: ["'self'", 'blob:'],
      manifestSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  strictTransportSecurity: false,
  referrerPolicy: { policy: 'no-referrer' },
  xFrameOptions: { action: 'deny' },
});

/** What helmet sets, by name: the same on every answer, so it is asked once. */
export const securityHeaders = (): readonly (readonly [string, string])[] => {
  const found = new Map<string, string>();
  const answer = {
    setHeader: (name: string, value: string): void => void found.set(name.toLowerCase(), value),
    removeHeader: (name: string): void => void found.delete(name.toLowerCase()),
  };
  headers({} as IncomingMessage, answer as unknown as ServerResponse, (error?: unknown) => {
    if (error) throw error;
  });
  return [...found];
};
