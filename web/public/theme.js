// Runs before the first paint, so that a chosen theme never flashes in the other one.
(() => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    let choice = 'system';
    try {
      choice = localStorage.getItem('vcs.theme') ?? 'system';
    } catch {
      // Storage is blocked: follow the system.
    }
    document.documentElement.dataset.theme = choice === 'system' ? (dark.matches ? 'dark' : 'light') : choice;
  };
  apply();
  dark.addEventListener('change', apply);
  addEventListener('storage', apply);
  addEventListener('vcs-theme', apply);
})();
