import { ImageEntity } from './image.entity';

export const imageEntities = [ImageEntity];
