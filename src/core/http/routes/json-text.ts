const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON in strict UTF-8; bytes that are none are an error, not replaced. Throws `TypeError` for these and
 * `SyntaxError` for what is no JSON.
 */
export const parseJsonBytes = (bytes: Uint8Array): unknown => JSON.parse(utf8.decode(bytes));
