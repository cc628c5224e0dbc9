/** Of this build, as its clients and operators see it. */
export const buildVersion = '0.1.0';
