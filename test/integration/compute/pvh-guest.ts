/**
 * The guest of `serial-guest.ts` for VMMs without PC firmware: an ELF file with a PVH note, given as firmware or
 * kernel. It says `ready`, echoes what is typed, and obeys keys: `p` powers off, `r` resets, `i` makes it ignore the
 * power button from then on. At the power button it says `button` and, unless told to ignore it, powers off.
 *
 * In short: entered in 32-bit mode at 1 MiB; start info, RSDP, XSDT, FADT, DSDT; there it looks for the operation
 * region `GDST` of the event device (its address is beyond 4 GiB, so PAE paging maps its 2 MiB at 1 GiB); loop { key
 * from 0x3f8 if 0x3fd says so; bit 3 of the event device's byte is the button }; off: 0x34 to 0x600, which is the sleep
 * control register; reset: 1 to the same.
 */
const code =
  '7f454c4602010100000000000000000002003e0001000000c40010000000000040000000000000000000000000000000000000004000380002000000000000000100000007000000000000' +
  '000000000000001000000000000000100000000000d701000000000000d70100000000000000100000000000000400000004000000b000000000000000b000100000000000b00010000000' +
  '000014000000000000001400000000000000040000000000000004000000040000001200000058656e00c4001000bc00001f008b43208b70188b4e0401f183c62439ce0f83d90000008b06' +
  '83c60881384641435075eb8bb88c0000008b4f0447490f84bb000000813f4744535475f066817f04000e75e88b6f068b570a89e8250000e0ff0d93000000bb00c01f008903895304c70500' +
  'b01f0083000000c70500a01f0001b01f00c70508a01f0001c01f0081e5ffff1f0081cd00000040b800a01f000f22d80f20e083c8200f22e00f20c00d000000800f22c0bec8011000e84200' +
  '000031db66bafd03eca801741466baf803ecee3c70741f3c72741f3c697502b3018a4500a80874dcbecf011000e81200000084db75ceb034eb02b00166ba0006eef4ebfd66baf803ac84c0' +
  '7403eeebf8c372656164790a00627574746f6e0a00';

/** The file's content. */
export const pvhGuest = (): Buffer => Buffer.from(code, 'hex');
