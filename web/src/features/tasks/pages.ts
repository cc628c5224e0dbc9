export { default as TasksPage } from './tasks-page';
