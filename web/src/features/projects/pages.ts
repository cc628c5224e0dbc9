export { default as ProjectsPage } from './projects-page';
export { default as ProjectPage } from './project-page';
