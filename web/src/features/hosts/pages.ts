export { default as HostsPage } from './hosts-page';
export { default as HostPage } from './host-page';
