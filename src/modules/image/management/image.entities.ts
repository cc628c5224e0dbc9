import { ImageEntity } from './images/image.entity';

export const imageEntities = [ImageEntity];
