/** What is made in a form of its list's page and deleted there by its name. */
export interface Form {
  list: string;
  fill: Record<string, string>;
  button: string;
  name: string;
}

export const madeInForms: readonly Form[] = [
  { list: 'flavors', fill: { Name: 'made-flavor', Memory: '1 GiB' }, button: 'Create flavor', name: 'made-flavor' },
  {
    list: 'networks',
    fill: { Name: 'made-network', Subnet: '10.66.0.0/24', 'DNS servers': '1.1.1.1, 9.9.9.9' },
    button: 'Create network',
    name: 'made-network',
  },
  {
    list: 'security-groups',
    fill: { Name: 'made-group' },
    button: 'Create group',
    name: 'made-group',
  },
  { list: 'routers', fill: { Name: 'made-router' }, button: 'Create router', name: 'made-router' },
  { list: 'projects', fill: { Name: 'made-project' }, button: 'Create project', name: 'made-project' },
  {
    list: 'users',
    fill: { Name: 'made-user', Password: 'a long enough password' },
    button: 'Create user',
    name: 'made-user',
  },
];
