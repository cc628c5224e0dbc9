import { qemuByHand } from './qemu-by-hand';

describe('QEMU by hand', () => {
  it('fails with what it said when it ends before it runs', async () => {
    // As QEMU does with a machine that it does not know.
    const args = ['-c', 'echo "unsupported machine type" >&2; exit 1'];
    await expect(qemuByHand('/bin/sh', args, '/nonexistent')).rejects.toThrow(
      '/bin/sh ended (exit 1): unsupported machine type',
    );
  });

  it('fails when there is no such program', async () => {
    await expect(qemuByHand('/nonexistent/qemu', [], '/nonexistent')).rejects.toThrow('ENOENT');
  });
});
