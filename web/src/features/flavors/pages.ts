export { default as FlavorsPage } from './flavors-page';
