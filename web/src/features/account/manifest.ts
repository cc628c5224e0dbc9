import type { Feature } from '../../app/feature';
import { lazyPage } from '../../app/lazy-page';

export const account: Feature = {
  routes: [{ path: '/account', page: lazyPage('account', 'AccountPage') }],
};
