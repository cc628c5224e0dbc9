export { default as NetworksPage } from './networks-page';
export { default as NetworkPage } from './network-page';
