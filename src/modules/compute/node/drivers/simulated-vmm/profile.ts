/** Behaviour that differs between releases of Cloud Hypervisor. */
export interface VersionProfile {
  name: 'v50' | 'v53' | 'v54';
  /** As `vmm.ping` says it. */
  buildVersion: string;
  /** Largest request body, in bytes. */
  bodyLimit: number;
  /** HTTP methods that the server knows at all. */
  methods: readonly string[];
  /** What is said of a user's id that starts as the VMM's own do. */
  invalidIdentifier: string;
  /** Absent options are left out of answers (else they are `null`). */
  omitsNull: boolean;
  /** An advisory lock beside the API socket, and stale sockets are removed. */
  locksSocket: boolean;
  /** Serial output is kept for a client that comes late. */
  buffersSerial: boolean;
  /** A second removal before the guest ejects is accepted. */
  retriesRemoval: boolean;
  /** A network interface without a MAC address is given one when it is configured; else when it is made. */
  drawsMacs: boolean;
  /** vm.info says the host's address of a tap. */
  tellsHostMac: boolean;
  /** Faults of disk images name the file and what was done to it. */
  namesDiskErrors: boolean;
  /** `--no-shutdown` is known. */
  canStay: boolean;
  migration: {
    /** It is sent beside the API, told of by events, and locks the VM; else the API waits for its end. */
    background: boolean;
    sendHeading: string;
    receiveHeading: string;
    /** What is wrong with where a VM is to be received. `address`: what is wrong with its host and port. */
    receiverFault: (address: string | null) => readonly string[];
    /** What is said of a vm.create while a VM is being sent. */
    create: string;
  };
  /** HTTP status of each kind of failure; 500 where not named. */
  statuses: Partial<Record<FailureKind, number>>;
}

export type FailureKind =
  | 'missing'
  | 'unknown-device'
  | 'validation'
  | 'duplicate'
  | 'pending'
  | 'malformed'
  | 'internal';

const older = (address: string | null): readonly string[] => [
  `Error validating receive migration parameters: receiver_url must use tcp:<host>:<port> or unix:<path>${address === null ? '' : `: ${address}`}.`,
];
const newer = (address: string | null): readonly string[] =>
  address === null
    ? ['Expected receiver_url to either use `tcp` or `unix` prefix']
    : ['Expected receiver_url in the form of either `tcp:<host>:<port>` or `unix:<path>:`', address];

export const profiles: Record<VersionProfile['name'], VersionProfile> = {
  v50: {
    name: 'v50',
    buildVersion: 'v50.0.0',
    bodyLimit: 51_200,
    methods: ['GET', 'PUT', 'PATCH'],
    invalidIdentifier: 'is not invalid',
    omitsNull: false,
    locksSocket: false,
    buffersSerial: false,
    retriesRemoval: false,
    drawsMacs: true,
    tellsHostMac: true,
    namesDiskErrors: false,
    canStay: false,
    migration: {
      background: false,
      sendHeading: 'Error starting migration sender',
      receiveHeading: 'Error starting migration receiver',
      receiverFault: older,
      create: 'VM is already created',
    },
    statuses: { pending: 429, malformed: 400 },
  },
  v53: {
    name: 'v53',
    buildVersion: 'v53.0.0',
    bodyLimit: 51_200,
    methods: ['GET', 'PUT', 'PATCH'],
    invalidIdentifier: 'is not invalid',
    omitsNull: true,
    locksSocket: true,
    buffersSerial: true,
    retriesRemoval: false,
    drawsMacs: true,
    tellsHostMac: true,
    namesDiskErrors: true,
    canStay: true,
    migration: {
      background: true,
      sendHeading: 'Error dispatching the migration worker',
      receiveHeading: 'Error receiving migration',
      receiverFault: older,
      create: "VM is currently migrating and can't be modified",
    },
    statuses: { missing: 404, pending: 429, malformed: 400 },
  },
  v54: {
    name: 'v54',
    buildVersion: 'v54.0.0-dev',
    bodyLimit: 4 * 1024 * 1024,
    methods: ['GET', 'PUT', 'PATCH', 'DELETE'],
    invalidIdentifier: 'is not valid',
    omitsNull: true,
    locksSocket: true,
    buffersSerial: true,
    retriesRemoval: true,
    drawsMacs: false,
    tellsHostMac: false,
    namesDiskErrors: true,
    canStay: true,
    migration: {
      background: true,
      sendHeading: 'Error dispatching the migration worker',
      receiveHeading: 'Error receiving migration',
      receiverFault: newer,
      create: "VM is currently migrating and can't be modified",
    },
    statuses: { missing: 404, 'unknown-device': 404, validation: 400, duplicate: 409, pending: 429, malformed: 400 },
  },
};
