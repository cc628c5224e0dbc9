/** Trees that a config drive can hold: OpenStack's (label `config-2`) or NoCloud's (`cidata`). */
export const driveForms = ['openstack', 'nocloud'] as const;
export type DriveForm = (typeof driveForms)[number];
