import { LayoutDashboard } from 'lucide-react';
import type { Feature } from '../../app/feature';
import { OverviewPage } from './overview-page';

export const overview: Feature = {
  nav: [{ group: null, item: { to: '/', label: 'Overview', icon: LayoutDashboard, key: 'o' } }],
  routes: [{ path: '/', page: OverviewPage }],
};
