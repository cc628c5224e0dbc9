/** The noun with its article, by its sound: an instance, an API token, a user. */
export const withArticle = (noun: string): string => `${/^(?:[aeio]|ssh\b)/i.test(noun) ? 'an' : 'a'} ${noun}`;
