import { readBytes, readText } from '../../../core/cli/input/read-file';

/** As the API has it: of user data and of vendor data. */
const maxGuestDataBytes = 65_536;

/** User data of whatever kind, in base64 as the API takes it; `-` reads standard input. */
export const readUserData = async (file: string): Promise<string> =>
  (await readBytes(file, '--user-data', maxGuestDataBytes)).toString('base64');

/** Vendor data, which is text. */
export const readVendorData = (file: string): Promise<string> => readText(file, '--vendor-data', maxGuestDataBytes);
