export { default as ImagesPage } from './images-page';
