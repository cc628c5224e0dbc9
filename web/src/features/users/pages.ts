export { default as UsersPage } from './users-page';
export { default as UserPage } from './user-page';
