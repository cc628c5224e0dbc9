/** Why work on an image stopped: somebody deleted it or took it over. */
export class ImageWithdrawn extends Error {
  constructor() {
    super('the image was deleted or taken over meanwhile');
    this.name = 'ImageWithdrawn';
  }
}
