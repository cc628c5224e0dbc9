import type { ShareInventory } from '../../contract/vmm.inventory';
import { ShareInventoryPart } from './share-inventory.part';

const media: ShareInventory = { name: 'media', readonly: false, projects: [], usable: true, reason: '' };
const condition = (shares: ShareInventory[]) => new ShareInventoryPart().conditions(shares)[0];

describe('the shares of a host', () => {
  it('are well while each can be used', () => {
    expect(condition([])).toMatchObject({ type: 'Shares', status: 'true', message: 'it has no shares' });
    expect(condition([media])).toMatchObject({ status: 'true', message: 'its shares can be used' });
  });
  it('are told of when they cannot be used, with the reason of each', () =>
    expect(condition([media, { ...media, name: 'docs', usable: false, reason: 'it is not there' }])).toMatchObject({
      status: 'false',
      message: 'the share "docs" cannot be used: it is not there',
    }));
});
