export { default as VolumesPage } from './volumes-page';
