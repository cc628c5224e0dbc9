import { TestNamespaces } from '../../support/namespaces';

/** Makes a namespace of the test that is named, tells its name, and waits to be killed. */
process.send?.(new TestNamespaces(process.argv[2] ?? '').add('one'));
setInterval(() => undefined, 60_000);
