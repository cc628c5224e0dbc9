import type { ComponentType } from 'react';

/** The pages of all features that load after the first one, by folder. */
export const pages = import.meta.glob<Record<string, ComponentType<object>>>('../features/*/pages.ts', { eager: true });
