/** The process that starts programs has ended. What it held back may have begun. */
export class LauncherGone extends Error {
  constructor() {
    super('the process that starts programs has ended');
    this.name = 'LauncherGone';
  }
}
