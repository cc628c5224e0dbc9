import { parseAction } from './palette-actions';

describe('parseAction', () => {
  it.each([
    ['stop web', 'stop', 'web'],
    ['  Restart  my web server ', 'reboot', 'my web server'],
    ['delete 10.0.0.5', 'delete', '10.0.0.5'],
    ['console ', 'console', ''],
  ])('takes "%s" for %s of "%s"', (text, action, rest) => {
    const found = parseAction(text);
    expect([found?.verb.action, found?.rest]).toEqual([action, rest]);
  });

  it.each(['stop', 'stopped web', 'web stop', ''])('takes "%s" for no action', (text) =>
    expect(parseAction(text)).toBeNull(),
  );
});
