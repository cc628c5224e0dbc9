/** A child that must not run in the open cannot be shut in. */
export class SandboxMissing extends Error {
  constructor(why = 'bubblewrap is not installed (apt-get install -y bubblewrap)', options: ErrorOptions = {}) {
    super(`no sandbox can be made: ${why}`, options);
    this.name = 'SandboxMissing';
  }
}
