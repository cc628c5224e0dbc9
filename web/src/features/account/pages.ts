export { default as AccountPage } from './account-page';
