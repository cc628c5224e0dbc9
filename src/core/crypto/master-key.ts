import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { injectable } from 'inversify';

const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** A sealed value was made with another key, for another purpose, or was changed. */
export class SealError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SealError';
  }
}

/**
 * The key that protects secrets at rest in the database (signing keys, the CA key, seeds): AES-256-GCM, one random IV
 * per value. Sealed form: `v1.<key id>.<base64url of iv, tag and ciphertext>`. Several management processes on one
 * database share the same key file.
 */
@injectable()
export class MasterKey {
  /** First 8 hex digits of the key's SHA-256: tells a wrong key from a damaged value without giving the key away. */
  readonly id: string;
  private readonly key: Buffer;
  /** By purpose, of which there are a few, all ours. */
  private readonly macKeys = new Map<string, Buffer>();

  constructor(key: Buffer) {
    if (key.length !== keyBytes) throw new Error(`a master key has ${keyBytes} bytes, this one ${key.length}`);
    this.key = Buffer.from(key);
    this.id = createHash('sha256').update(this.key).digest('hex').slice(0, 8);
  }

  /**
   * Reads `<dir>/master.key` (32 bytes, mode 0600); makes it when it is missing. Safe when several processes start at
   * once: the file appears whole or not at all, and the first one wins.
   */
  static async load(dir: string): Promise<MasterKey> {
    const file = join(dir, 'master.key');
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const present = await readKey(file);
    if (present) return new MasterKey(present);
    const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(randomBytes(keyBytes));
      await handle.sync();
    } finally {
      await handle.close();
    }
    try {
      await link(temporary, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      await unlink(temporary);
    }
    await syncDirectory(dir);
    const key = await readKey(file);
    if (!key) throw new Error(`${file} vanished while it was made`);
    return new MasterKey(key);
  }

  /**
   * @param purpose bound to the value: it opens only with the same purpose, so one sealed secret cannot stand in for
   * another
   */
  seal(plain: Buffer | string, purpose: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv);
    cipher.setAAD(Buffer.from(purpose, 'utf8'));
    const body = Buffer.concat([cipher.update(plain as Buffer), cipher.final()]);
    return `v1.${this.id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`;
  }

  /**
   * HMAC-SHA256 with a key of its own for the purpose: tells that something comes from this installation, or is the
   * same, without showing it.
   */
  mac(data: string, purpose: string): Buffer {
    return createHmac('sha256', this.macKey(purpose)).update(data).digest();
  }

  private macKey(purpose: string): Buffer {
    let key = this.macKeys.get(purpose);
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', this.key, '', `mac ${purpose}`, keyBytes));
      this.macKeys.set(purpose, key);
    }
    return key;
  }

  /** Throws `SealError` when the value is damaged or belongs to another key or purpose. */
  open(sealed: string, purpose: string): Buffer {
    const [version, id, data, rest] = sealed.split('.');
    if (version !== 'v1' || !id || !data || rest !== undefined) throw new SealError('not a sealed value');
    if (id !== this.id)
      throw new SealError(
        `sealed with master key ${id}, but this process has ${this.id}: give all management processes of one database the same master.key`,
      );
    const bytes = Buffer.from(data, 'base64url');
    if (bytes.length < ivBytes + tagBytes) throw new SealError('sealed value is too short');
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(purpose, 'utf8'));
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
    } catch {
      throw new SealError('sealed value is damaged or was made for another purpose');
    }
  }
}

const readKey = async (file: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const syncDirectory = async (dir: string): Promise<void> => {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
