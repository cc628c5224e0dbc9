import type { EditField } from './edit-dialog';

/** What guests read beside their user data, as an image or a flavor brings it. */
export const vendorDataField = (
  value: string | null | undefined,
  whose: 'image' | 'flavor',
): EditField<'vendorData'> => ({
  key: 'vendorData',
  label: 'Vendor data',
  value: value ?? '',
  optional: true,
  long: true,
  hint: `Given to guests made with this ${whose} from now on, beside their user data. Empty: none.`,
  option: 'vendor-data',
  optionValue: (text) => (text === '' ? '' : 'vendor-data.yaml'),
  parse: (text) => (text === '' ? null : text),
});
