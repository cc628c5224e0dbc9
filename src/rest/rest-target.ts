/** Values of a query; those that are missing or empty are not sent. */
export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** `/instances/{ref}` with its parameters in their places, whatever characters they have. Throws when one is missing. */
export const filledPath = (template: string, parameters: Record<string, string> = {}): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined) throw new Error(`${template}: ${name} is missing`);
    return encodeURIComponent(value);
  });

/** A path below the API's root with its query. */
export const restTarget = (template: string, parameters: Record<string, string> = {}, query: Query = {}): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value])
      if (one !== undefined && one !== null && one !== '') search.append(name, String(one));
  const tail = search.toString();
  return `${filledPath(template, parameters)}${tail === '' ? '' : `?${tail}`}`;
};
