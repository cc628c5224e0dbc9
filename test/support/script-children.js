/** Children that are scripts of ours are TypeScript in tests: they are loaded as the tests themselves are. */
process.execArgv.push('-r', require.resolve('./ts-register.js'));
