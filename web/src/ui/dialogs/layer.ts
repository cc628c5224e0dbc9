/** The landmark of index.html that menus and hints open in, so that all of the page is in one. */
export const layer = (): HTMLElement | null => document.getElementById('layer');
