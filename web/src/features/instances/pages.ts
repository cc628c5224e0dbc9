export { default as CreateInstancePage } from './create-instance-page';
export { default as InstancePage } from './instance-page';
export { default as ConsolePage } from './console-page';
export { default as EditInstance } from './edit-instance';
export { default as InstanceResults } from './instance-results';
export { VmmsCard } from './vmms-card';
