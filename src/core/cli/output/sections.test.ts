import { fact, sectionsText } from './sections';

const plainly = { colour: false };

describe('sectionsText', () => {
  it('aligns facts, puts titles above what belongs to them, leaves out what is empty', () => {
    const text = sectionsText(
      [
        { facts: [fact('Name', 'web'), fact('Started', null), fact('Longer label', 'x')] },
        { title: 'Addresses', headers: ['network', 'address'], rows: [['n1', '10.0.0.2']] },
        { title: 'Disks', headers: ['name'], rows: [] },
        { title: 'Ports', headers: ['name'], rows: [], none: 'none yet' },
      ],
      plainly,
    );
    expect(text).toBe(
      'Name          web\nStarted       -\nLonger label  x\n\nAddresses\n  NETWORK   ADDRESS\n  n1        10.0.0.2\n\nPorts\n  none yet\n',
    );
  });

  it('wraps between words below the value, in the width of the terminal', () => {
    const text = sectionsText([{ facts: [fact('Reason', 'one two three four five six seven eight nine')] }], {
      colour: false,
      width: 30,
    });
    expect(text).toBe('Reason  one two three four\n        five six seven eight\n        nine\n');
  });

  it('lets no value move the cursor, and colours what has a tone', () => {
    expect(sectionsText([{ facts: [fact('Name', 'a\u001b[2Jb')] }], plainly)).toBe('Name  a [2Jb\n');
    expect(sectionsText([{ facts: [fact('State', 'error', 'bad')] }], { colour: true })).toBe(
      'State  \u001b[31merror\u001b[39m\n',
    );
  });
});
