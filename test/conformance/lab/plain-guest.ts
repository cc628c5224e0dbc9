/**
 * A guest for KVMs that run no paging guests: 32-bit code in an ELF file with a PVH note. It says `ready`, echoes what
 * is typed, and obeys keys: `p` powers off, `r` resets, `c` reports a panic where there is a pvpanic device. It knows no
 * power button.
 *
 * In short: entered in 32-bit mode at 1 MiB; loop { key from 0x3f8 if 0x3fd says so }; off: 0x34 to 0x600, which is the
 * sleep control register; reset: 1 to the same; panic: 1 to the first byte of the memory of PCI device 1b36:0011, which it
 * looks for by 0xcf8 and 0xcfc.
 */
const code =
  '7f454c4602010100000000000000000002003e0001000000c40010000000000040000000000000000000000000000000000000004000380002000000000000000100000007000000000000' +
  '0000000000000010000000000000001000000000005a010000000000005a0100000000000000100000000000000400000004000000b000000000000000b000100000000000b00010000000' +
  '000014000000000000001400000000000000040000000000000004000000040000001200000058656e00c4001000bc00001f00be53011000e87300000066bafd03eca8017504f390ebf366' +
  'baf803ec3c70744f3c72744f3c63740766baf803eeebdbbf0000008089f8e8290000003d361b1100741081c70008000081ff0000018075e4eb0e8d4710e80a00000083e0f0c60001b063eb' +
  'c466baf80cef66bafc0cedc3b034eb02b00166ba0006eef4ebfd66baf803ac84c07403eeebf8c372656164790a00';

/** The file's content. */
export const plainGuest = (): Buffer => Buffer.from(code, 'hex');
