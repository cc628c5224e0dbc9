/**
 * A guest of one sector for real VMMs with PC firmware and the q35 power management block at 0x600. It says `ready`,
 * echoes what is typed, and obeys keys: `p` powers off, `r` resets, `i` makes it ignore the power button from then on.
 * At the power button it says `button` and, unless told to ignore it, powers off.
 *
 * In short: PM1_EN (0x602) gets the power button bit; loop { key from 0x3f8 if 0x3fd says so; PM1_STS (0x600) bit 8 is
 * the button }; off: 0x2000 to PM1_CNT (0x604); reset: 6 to 0xcf9.
 */
const code =
  'ea057c000031c08ed88ed0bc007cba0206b80001efbe767ce84f0030dbbafd03eca8017413baf803ec3c70742b3c7274313c697502b301eeba0006eda90001740e' +
  'b80001efbe7d7ce81f0084db7409b9d007e680e2fcebc5ba0406b80020eff4ebfdbaf90cb006eeebfebaf803ac84c07403eeebf8c372656164790a00627574746f6e0a';

/** A raw disk of 1 MiB that boots it. */
export const serialGuestDisk = (): Buffer => {
  const disk = Buffer.alloc(1024 * 1024);
  Buffer.from(code, 'hex').copy(disk);
  disk.writeUInt16LE(0xaa55, 510);
  return disk;
};
