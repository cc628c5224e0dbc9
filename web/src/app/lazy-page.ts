import type { ComponentType, ReactNode } from 'react';
import { lazyPart } from '../ui/lazy-part';

/**
 * A part of a feature that is not shown first: what its `pages.ts` exports under this name. Those of all features come in
 * one chunk: they are small, and each request costs a round trip.
 * @param feature its folder
 * @param fallback what shows until it has come; room for a page unless given
 */
export const lazyPage = <P extends object = object>(
  feature: string,
  name: string,
  fallback?: ReactNode,
): ComponentType<P> =>
  lazyPart<P>(async () => {
    const { pages } = await import('./pages');
    const page = pages[`../features/${feature}/pages.ts`]?.[name];
    if (page === undefined) throw new Error(`the feature ${feature} has no page ${name}`);
    return { default: page as ComponentType<P> };
  }, fallback);
