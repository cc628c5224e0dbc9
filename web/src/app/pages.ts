/** The pages that load after the first one. */
export { default as CreateInstancePage } from '../features/instances/create-instance-page';
export { default as InstancePage } from '../features/instances/instance-page';
export { default as ConsolePage } from '../features/instances/console-page';
export { default as ImagesPage } from '../features/images/images-page';
export { default as NetworksPage } from '../features/networks/networks-page';
export { default as NetworkPage } from '../features/networks/network-page';
export { default as SshKeysPage } from '../features/ssh-keys/ssh-keys-page';
export { default as FlavorsPage } from '../features/flavors/flavors-page';
export { default as VolumesPage } from '../features/volumes/volumes-page';
export { default as HostsPage } from '../features/hosts/hosts-page';
export { default as HostPage } from '../features/hosts/host-page';
export { default as TasksPage } from '../features/tasks/tasks-page';
export { default as ProjectsPage } from '../features/projects/projects-page';
export { default as ProjectPage } from '../features/projects/project-page';
export { default as UsersPage } from '../features/users/users-page';
export { default as UserPage } from '../features/users/user-page';
export { default as AccountPage } from '../features/account/account-page';
