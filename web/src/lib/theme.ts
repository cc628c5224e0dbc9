export type Theme = 'system' | 'light' | 'dark';
const key = 'vcs.theme';

export const currentTheme = (): Theme => {
  try {
    const stored = localStorage.getItem(key);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
};

/** Keeps the choice and applies it (`public/theme.js` listens). */
export const chooseTheme = (theme: Theme): void => {
  try {
    if (theme === 'system') localStorage.removeItem(key);
    else localStorage.setItem(key, theme);
  } catch {
    document.documentElement.dataset.theme = theme;
    return;
  }
  window.dispatchEvent(new Event('vcs-theme'));
};
