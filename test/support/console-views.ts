import type { Page } from 'playwright-core';

/** A page of the console, with what is open on it. */
export interface View {
  name: string;
  path: (ids: Ids) => string;
  /** What to open on the page, and how to close it. */
  open?: (page: Page) => Promise<unknown>;
}
/** Of what the paths name. */
export interface Ids {
  instance: string;
  network: string;
  router: string;
  securityGroup: string;
  user: string;
  host: string;
  project: string;
  failedTask: string;
}

/** A dialog that a button opens. */
const opened = (name: string, path: View['path'], button: string): View => ({
  name,
  path,
  open: async (page) => {
    await page.getByRole('button', { name: button, exact: true }).first().click();
    await page.getByRole('dialog').waitFor();
  },
});
const dialog = (name: string, path: string): View => ({
  name,
  path: () => path,
  open: (page) => page.getByRole('dialog').waitFor(),
});
/** A dialog of an instance's menu. */
const ofInstance = (instance: string, item: string): View => ({
  name: `instance-${item.toLowerCase()}`,
  path: () => 'instances',
  open: async (page) => {
    await page.getByRole('button', { name: `Actions for ${instance}` }).click();
    await page.getByRole('menuitem', { name: `${item}…` }).click();
    await page.getByRole('dialog').waitFor();
  },
});
/** Every page, and every form on it. */
export const views: View[] = [
  { name: 'overview', path: () => '' },
  { name: 'instances', path: () => 'instances' },
  {
    name: 'instances-selected',
    path: () => 'instances',
    open: (page) => page.getByRole('checkbox', { name: 'Select steady' }).click(),
  },
  {
    name: 'instances-menu',
    path: () => 'instances',
    open: (page) => page.getByRole('button', { name: 'Actions for steady' }).click(),
  },
  {
    name: 'instances-nothing-found',
    path: () => 'instances?q=nothing-like-it',
    open: (page) => page.getByText('Nothing matches the filter').waitFor(),
  },
  {
    name: 'instance-new',
    path: () => 'instances/new',
    open: (page) => page.getByRole('button', { name: 'Create instance' }).click(),
  },
  { name: 'instance', path: ({ instance }) => `instances/${instance}` },
  {
    name: 'instance-console',
    path: ({ instance }) => `instances/${instance}?tab=console`,
    open: (page) => page.getByText('Connected', { exact: true }).waitFor(),
  },
  {
    name: 'instance-guest-data',
    path: ({ instance }) => `instances/${instance}?tab=guest-data`,
    open: (page) => page.getByRole('heading', { name: /meta_data\.json/ }).waitFor(),
  },
  {
    name: 'console',
    path: ({ instance }) => `instances/${instance}/console`,
    open: (page) => page.getByText('Connected', { exact: true }).waitFor(),
  },
  ofInstance('steady', 'Lock'),
  ofInstance('stopped', 'Resize'),
  ofInstance('stopped', 'Rebuild'),
  { name: 'images', path: () => 'images' },
  dialog('image-new', 'images?new=1'),
  { name: 'flavors', path: () => 'flavors' },
  dialog('flavor-new', 'flavors?new=1'),
  opened('flavor-edit', () => 'flavors', 'Edit tiny'),
  { name: 'ssh-keys', path: () => 'ssh-keys' },
  { name: 'networks', path: () => 'networks' },
  dialog('network-new', 'networks?new=1'),
  { name: 'network', path: ({ network }) => `networks/${network}` },
  opened('network-edit', ({ network }) => `networks/${network}`, 'Edit'),
  opened('subnet-new', ({ network }) => `networks/${network}`, 'Add subnet'),
  { name: 'routers', path: () => 'routers' },
  { name: 'router', path: ({ router }) => `routers/${router}` },
  { name: 'router-new', path: () => 'routers?new=1' },
  { name: 'security-groups', path: () => 'security-groups' },
  { name: 'security-group', path: ({ securityGroup }) => `security-groups/${securityGroup}` },
  opened('security-group-rule-new', ({ securityGroup }) => `security-groups/${securityGroup}`, 'Add rule'),
  dialog('security-group-new', 'security-groups?new=1'),
  { name: 'volumes', path: () => 'volumes' },
  dialog('volume-new', 'volumes?new=1'),
  { name: 'tasks', path: () => 'tasks' },
  {
    name: 'task-failed',
    path: ({ failedTask }) => `tasks/${failedTask}`,
    open: (page) => page.getByRole('complementary', { name: 'Task' }).getByRole('alert').waitFor(),
  },
  { name: 'hosts', path: () => 'hosts' },
  { name: 'host', path: ({ host }) => `hosts/${host}` },
  {
    name: 'host-leftovers',
    path: ({ host }) => `hosts/${host}`,
    open: async (page) => {
      await page.getByRole('button', { name: 'Look', exact: true }).click();
      await page.getByRole('table', { name: 'Leftovers' }).waitFor();
    },
  },
  {
    name: 'host-leftovers-remove',
    path: ({ host }) => `hosts/${host}`,
    open: async (page) => {
      await page.getByRole('button', { name: 'Look', exact: true }).click();
      await page.getByRole('button', { name: 'Remove all…' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'projects', path: () => 'projects' },
  { name: 'project', path: ({ project }) => `projects/${project}` },
  { name: 'users', path: () => 'users' },
  { name: 'user', path: ({ user }) => `users/${user}` },
  opened('user-edit', ({ user }) => `users/${user}`, 'Edit'),
  { name: 'account', path: () => 'account' },
  { name: 'not-found', path: () => 'nowhere' },
  {
    name: 'palette',
    path: () => '',
    open: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('stead');
      await page
        .getByRole('option', { name: /steady/ })
        .first()
        .waitFor();
    },
  },
  { name: 'project-menu', path: () => '', open: (page) => page.getByRole('button', { name: /^Project:/ }).click() },
  { name: 'account-menu', path: () => '', open: (page) => page.getByRole('button', { name: /^Account of/ }).click() },
  { name: 'shortcuts', path: () => '', open: (page) => page.keyboard.press('?') },
];
