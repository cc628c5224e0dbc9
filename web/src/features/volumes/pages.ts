export { default as VolumesPage } from './volumes-page';
export { PoolsCard } from './pools-card';
