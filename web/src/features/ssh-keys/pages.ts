export { default as SshKeysPage } from './ssh-keys-page';
