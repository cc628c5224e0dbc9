/** What is wrong with a new password, or null. */
export const checkPassword = (password: string): string | null =>
  password.length < 12 ? 'At least 12 characters.' : password.length > 256 ? 'At most 256 characters.' : null;
