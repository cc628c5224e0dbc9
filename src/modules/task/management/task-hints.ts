/** What to do about a failure: for whoever asked for the task, and for those who run the hosts. */
interface Hint {
  user: string;
  operator?: string;
}

const askOperator = 'Try again later; if it fails again, show an administrator this task.';
const tooSmall = 'Choose a flavor with a larger disk, and try again.';

const hints: Record<string, Hint> = {
  // Between management and hosts
  node_unreachable: {
    user: askOperator,
    operator:
      'Check that the host is up and that its agent runs and reaches management (vcctl host show), then try again.',
  },
  unknown_host: { user: 'The host was removed meanwhile. Try again.' },
  invalid_answer: {
    user: askOperator,
    operator: "Compare the versions of management and of the host's agent, and read the agent's log.",
  },
  invalid_result: {
    user: askOperator,
    operator: "Compare the versions of management and of the host's agent, and read the agent's log.",
  },
  stopping: { user: 'The host was being restarted. Try again.' },
  interrupted: { user: 'Something else was asked of the object meanwhile. Look at its state, and try again.' },
  stale_generation: {
    user: 'A newer change came first. Look at the state of the object, and try again if it is needed still.',
  },
  deadline_exceeded: {
    user: askOperator,
    operator: 'Look at the step that took so long, and at its host; then try again.',
  },
  step_timeout: {
    user: askOperator,
    operator: 'Look at the host of the step: its load, its disks, its agent. Then try again.',
  },
  internal: {
    user: 'Show an administrator this task: the log of management has the details under its id.',
    operator: 'Search the log of management for the id of the task, and report it as a bug.',
  },
  // Placement and capacity
  no_host: {
    user: 'Choose a smaller flavor, or ask an administrator for room.',
    operator: 'Add a host, or make room on one (vcctl host list).',
  },
  no_space: {
    user: 'Choose a smaller disk, or ask an administrator to make room.',
    operator: 'Make room on the disk of the host, or put the host into maintenance so that others are chosen.',
  },
  out_of_memory: {
    user: 'Try again later or choose a smaller flavor.',
    operator: 'Other programs use the memory of the host: free it, or raise what is kept back for the host.',
  },
  // Images and volumes
  image_gone: { user: 'Choose another image, and try again.' },
  image_deleted: { user: 'Add the image again.' },
  image_not_cached: { user: 'Try again: the host fetches the image anew.' },
  download_failed: {
    user: askOperator,
    operator: 'Check the way from the host to management, and the room for images on the host.',
  },
  checksum_mismatch: { user: 'Get the image again from its source, and compare its checksum.' },
  size_mismatch: { user: 'Add the image again.' },
  volume_too_small: { user: tooSmall },
  volume_not_found: {
    user: askOperator,
    operator: 'The volume is not on its host any more: look for it in the pool, or delete its instance.',
  },
  unknown_pool: {
    user: askOperator,
    operator: 'Compare the pools in the configuration of the host with those that it reported (vcctl host show).',
  },
  no_root_volume: { user: 'The instance has no disk to run on: delete it, and create it anew.' },
  url_not_allowed: { user: 'Give a public http or https address, or upload the image.' },
  url_credentials: { user: 'Give an address without user name and password, or upload the image.' },
  url_failed: { user: 'Check the address in a browser, or upload the image.' },
  import_failed: { user: askOperator, operator: 'The log of management has the details under this task.' },
  // Networks
  port_failed: {
    user: askOperator,
    operator: "Read the agent's log on the host: the network there could not be set up as asked.",
  },
  port_not_active: {
    user: askOperator,
    operator: "Read the agent's log on the host: the network there could not be set up as asked.",
  },
  port_not_applied: {
    user: 'Try again.',
    operator: "Read the agent's log on the host: it has not applied its newest networks.",
  },
  network_failed: { user: askOperator, operator: "Read the agent's log on the host, and run vc-stack doctor there." },
  // Virtual machines
  instance_gone: { user: 'Nothing is left to do: the instance is gone.' },
  instance_not_running: { user: 'Start the instance first.' },
  not_running: { user: 'Start the instance first.' },
  already_running: { user: 'Look at the state of the instance: it runs already.' },
  no_usable_vmm: { user: askOperator, operator: 'Run vc-stack doctor on the host: it says what is missing.' },
  vmm_unusable: { user: askOperator, operator: 'Run vc-stack doctor on the host: it says what is missing.' },
  vmm_unknown: { user: askOperator, operator: "Upgrade the host's agent: it does not have this VMM." },
  no_firmware: { user: askOperator, operator: 'Install the firmware, or name it in the configuration of the host.' },
  firmware_missing: {
    user: askOperator,
    operator: 'Install the firmware, or name it in the configuration of the host.',
  },
  kernel_missing: { user: askOperator, operator: 'Check the path of the kernel in the configuration of the host.' },
  vmm_start_failed: {
    user: 'Check that the image is one for this architecture, and try again; else show an administrator this task.',
    operator: "Read the instance's log on the host, and try again.",
  },
  vmm_start_timeout: { user: askOperator, operator: 'Look at the load of the host, then try again.' },
  vmm_refused: {
    user: askOperator,
    operator: 'The message is the VMM’s own: compare its version with those that are supported.',
  },
  vmm_unresponsive: {
    user: askOperator,
    operator: 'Look at the process of the VMM on the host; force a stop if it hangs.',
  },
  vmm_unkillable: {
    user: askOperator,
    operator: 'The process hangs in the kernel, often on a disk: look at the log of the kernel on the host.',
  },
  vmm_mismatch: {
    user: askOperator,
    operator: 'Another process took the place of the VMM: look at the host before anything else is done there.',
  },
  invalid_spec: { user: 'Change what the message names, and try again.' },
  disk_missing: { user: askOperator, operator: 'Look for the disk in the pool of the host.' },
  disk_locked: {
    user: 'Try again in a moment.',
    operator: 'Look for another process on the host that holds the disk, and end it.',
  },
  disk_format: { user: 'The image carries another format than it says: add it again.' },
  tap_busy: { user: 'Try again in a moment.', operator: 'Look for a VMM on the host that still holds the tap.' },
  tap_missing: {
    user: 'Try again.',
    operator: "Read the agent's log on the host: the network there could not be set up.",
  },
  tap_failed: { user: askOperator, operator: 'Run vc-stack doctor on the host: /dev/net/tun cannot be opened.' },
  netns_missing: {
    user: 'Try again.',
    operator: "Read the agent's log on the host: the network there could not be set up.",
  },
};

/** What to do next, in a sentence, by the code of the error. */
export const hintFor = (code: string, operator: boolean): string => {
  const hint = hints[code];
  if (!hint)
    return operator
      ? 'Mend what the message names, and try again.'
      : 'Try again; if it fails again, show an administrator this task.';
  return operator ? (hint.operator ?? hint.user) : hint.user;
};

/** For a task whose undo did not succeed. */
export const stuckHint = (operator: boolean, taskId: string): string =>
  operator
    ? `Mend the cause, then let it undo again (vcctl task retry ${taskId}); or pass over the step (skip-step), or end the task as it is (abandon).`
    : 'An administrator must look at it. You may also delete the object: that ends this task and removes what it left.';
