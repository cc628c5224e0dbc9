import { askOperator, type HintTable } from '../../../core/errors/problem-hints';

/** What to do about failures of virtual machines, by code. */
export const computeProblems: HintTable = {
  out_of_memory: {
    user: 'Try again later or choose a smaller flavor.',
    operator: 'Other programs use the memory of the host: free it, or raise what is kept back for the host.',
  },
  no_huge_pages: {
    user: 'Try again later or choose another flavor.',
    operator:
      'Other programs use the huge pages of the host, or fewer are kept than before: keep more (vm.nr_hugepages).',
  },
  no_room_to_suspend: {
    user: 'Stop it instead, or ask an administrator to make room on its host.',
    operator: 'Free space on the file system of the state directory of the host: the memory of the guest goes there.',
  },
  no_room_to_dump: {
    user: 'Delete core dumps that are not needed any more, or ask an administrator to make room on its host.',
    operator:
      'Free space on the file system of the state directory of the host, or lower modules.compute.coreDumps.keepFreeBytes.',
  },
  too_many_core_dumps: { user: 'Download and delete one of them, then try again.' },
  core_dumps_full: {
    user: 'Delete core dumps that are not needed any more, or ask an administrator.',
    operator: 'Delete core dumps, or raise modules.compute.coreDumps.hostBytes on the host.',
  },
  core_dump_failed: {
    user: askOperator,
    operator: 'The message is the one of the VMM or of the system: the instance goes on, nothing is left of the dump.',
  },
  suspend_unprepared: { user: 'Stop the instance and start it once; from then on it can be suspended.' },
  suspend_failed: { user: askOperator, operator: 'The message is the VMM’s own: the instance runs on.' },
  no_root_volume: { user: 'The instance has no disk to run on: delete it, and create it anew.' },
  instance_gone: { user: 'Nothing is left to do: the instance is gone.' },
  instance_not_running: { user: 'Start the instance first.' },
  not_running: { user: 'Start the instance first.' },
  already_running: { user: 'Look at the state of the instance: it runs already.' },
  no_usable_vmm: { user: askOperator, operator: 'Run vc-stack doctor on the host: it says what is missing.' },
  vmm_unusable: { user: askOperator, operator: 'Run vc-stack doctor on the host: it says what is missing.' },
  record_unreadable: {
    user: askOperator,
    operator:
      'Read the condition Records of the host: it names the file. Bring the agent to the release that wrote it, or delete the instance.',
  },
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
  tap_down: {
    user: 'Try again.',
    operator: 'Look on the host at what put the tap down: Cloud Hypervisor has no right to put it up.',
  },
  tap_missing: {
    user: 'Try again.',
    operator: "Read the agent's log on the host: the network there could not be set up.",
  },
  tap_failed: { user: askOperator, operator: 'Run vc-stack doctor on the host: /dev/net/tun cannot be opened.' },
  netns_missing: {
    user: 'Try again.',
    operator: "Read the agent's log on the host: the network there could not be set up.",
  },
  device_held: {
    user: 'Let the guest finish booting, or stop the instance, and detach it again.',
  },
  resize_needs_stop: { user: 'Stop the instance, resize it, and start it.' },
  resize_held: {
    user: 'Look whether its guest takes memory while it runs (virtio-mem) and gives vCPUs back, or stop it first.',
  },
  balloon_held: {
    user: 'Look whether its guest has a driver for the balloon (virtio_balloon) and memory that it can do without.',
  },
  balloon_inflated: {
    user: 'Give the guest all of its memory again (vcctl instance balloon --memory all), and try again.',
  },
  balloon_too_large: { user: 'Leave the guest more of its memory.' },
  no_hotplug: { user: 'Reboot the instance and try again.' },
  no_free_slot: { user: 'Stop the instance and try again.' },
  // Their messages say enough.
  config_drive_failed: null,
  instance_paused: null,
  instance_absent: null,
  instance_failed: null,
  instances_gone: null,
  no_free_user: null,
  no_balloon: null,
  no_iso_writer: null,
  no_seed: null,
  no_such_firmware: null,
  no_vsock: null,
  vsock_refused: null,
  vsock_silent: null,
  vsock_cid_taken: { user: 'Try again in a moment.' },
  vsock_unreachable: {
    user: askOperator,
    operator:
      'The message is what socat says on the host: try there what it does (socat - VSOCK-CONNECT:<cid>:<port>).',
  },
  invalid_port: null,
  too_many_guest_streams: null,
  no_such_machine: null,
  no_dedicated_cpus: {
    user: askOperator,
    operator:
      'Compare modules.host.dedicatedCpus of the host with the CPUs that are on there (vcctl host show): an instance keeps its claim while they change.',
  },
  not_confined: {
    user: 'Try again.',
    operator: 'The message is the kernel’s own: look whether the CPUs are on, and in the cpuset of the agent.',
  },
  companion_failed: {
    user: askOperator,
    operator: 'The message is the program’s own: try it again, and look at the log of the instance on its host.',
  },
  nic_limit_failed: {
    user: askOperator,
    operator: 'The message is the one of nft on the host: look at the kernel modules there.',
  },
  no_such_share: {
    user: 'Look which shares there are (vcctl share list), and make it anew without this one, or ask an administrator.',
    operator: 'Look at modules.compute.shares in the configuration of the host: name, projects and readonly.',
  },
  share_unusable: {
    user: askOperator,
    operator: 'Bring the directory of the share to what modules.compute.shares says, and start the instance again.',
  },
  has_shares: null,
  no_screen: null,
  no_core_dump: null,
  core_dump_absent: null,
  screenshot_too_large: null,
  sandbox_missing: null,
};
