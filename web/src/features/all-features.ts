import { Features } from '../app/features';
import { account } from './account/manifest';
import { flavors } from './flavors/manifest';
import { hosts } from './hosts/manifest';
import { images } from './images/manifest';
import { instances } from './instances/manifest';
import { networks } from './networks/manifest';
import { overview } from './overview/manifest';
import { projects } from './projects/manifest';
import { securityGroups } from './security-groups/manifest';
import { sshKeys } from './ssh-keys/manifest';
import { tasks } from './tasks/manifest';
import { users } from './users/manifest';
import { volumes } from './volumes/manifest';

/** Every feature of the console, in the order of navigation and palette. The only list of them. */
export const allFeatures = new Features([
  overview,
  instances,
  images,
  networks,
  securityGroups,
  volumes,
  flavors,
  sshKeys,
  hosts,
  projects,
  users,
  tasks,
  account,
]);
