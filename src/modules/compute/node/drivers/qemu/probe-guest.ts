/**
 * A boot sector that goes where a kernel goes: protected mode, paging, long mode; then it says `VC64` on the first
 * serial port and powers off. For hosts without a readable kernel under /boot. Assembled from: clear page tables at
 * 0x1000; PML4, PDPT and one 2 MiB page; CR4.PAE; CR3; EFER.LME; GDT with a 64-bit code segment; CR0.PG|PE; far jump;
 * text to port 0x3f8; 0x2000 to PM1_CNT at 0x604.
 */
const code =
  'ea057c0000fa31c08ed88ec08ed0bc007cfcbf0010b90018f3abc70600100320c70600200330c706003083000f20e06683c8200f22e066b8001000000f22d8' +
  '66b9800000c00f32660d000100000f300f0116b07c0f20c0660d010000800f22c0ea657c080066b810008ed88ec08ed0488d351900000066baf803ac84c074' +
  '03eeebf866ba040666b8002066eff4ebfd564336340a000f1f000000000000000000ffff0000009aaf00ffff00000092cf001700987c';

export const probeSectorBanner = 'VC64';

/** A raw disk of 1 MiB (firmware refuses smaller ones) with the sector and its signature. */
export const probeDisk = (): Buffer => {
  const disk = Buffer.alloc(1024 * 1024);
  Buffer.from(code, 'hex').copy(disk);
  disk.writeUInt16LE(0xaa55, 510);
  return disk;
};
