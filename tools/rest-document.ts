import { createHash } from 'node:crypto';
import { EventsController } from '../src/core/events/events.controller';
import { openApiDocument, type OpenApiDocument } from '../src/core/http/openapi/openapi';
import type { Controller, Route } from '../src/core/http/routes/route';
import { inventoryOf } from '../src/core/app/declarations';
import { allModules } from '../src/modules/all-modules';

/**
 * The OpenAPI document of these sources, without a server: routes are declared by their schemas alone, so no controller
 * need be built for it.
 */
export const restDocument = async (): Promise<OpenApiDocument> => {
  const wirings = await Promise.all(allModules.map((module) => module.management?.()));
  const controllers = [...wirings.flatMap((wiring) => wiring?.controllers ?? []), EventsController];
  const declared = { inventory: await inventoryOf(allModules) };
  const routes = controllers.flatMap((c): Route[] =>
    (Object.create(c.prototype as object) as Controller).routes(declared),
  );
  return openApiDocument(routes, '');
};

/** The first line of the generated types: it fits this document and this text below it, and no other. */
export const bannerOf = (document: OpenApiDocument, types: string): string => {
  const digest = createHash('sha256')
    .update(`${JSON.stringify(document)}\n${types}`)
    .digest('hex');
  return `// Made by "npm run rest-types" from the OpenAPI document: run it again instead of editing. sha256 ${digest}`;
};
