/** The product's version, as in package.json: of the server, the agent and the client. */
export const version = '0.1.0';
