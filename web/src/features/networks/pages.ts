export { default as NetworksPage } from './networks-page';
export { default as NetworkPage } from './network-page';
export { default as RoutersPage } from './routers-page';
export { default as RouterPage } from './router-page';
