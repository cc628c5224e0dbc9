/** Descriptor on which bubblewrap tells the program's process id. */
export const infoFd = 3;
/** Descriptor that bubblewrap reads before the program begins. */
export const blockFd = 4;
/** Descriptor of a file that the program writes events to. */
export const eventFd = 5;
