export { default as SecurityGroupsPage } from './security-groups-page';
export { default as SecurityGroupPage } from './security-group-page';
