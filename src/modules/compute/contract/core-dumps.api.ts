import { z } from 'zod';
import * as field from '../../../core/http/routes/fields';
import { instanceWithTask } from './compute.api';
import { coreDumpFormats } from './core-dump-formats';
import { coreDumpFile } from './core-dumps';

export const coreDumpRequest = z.strictObject({ format: z.enum(coreDumpFormats).default('elf') }).prefault({});
/** A core dump that its host has. */
const coreDump = coreDumpFile.meta({ id: 'CoreDump' });
export const coreDumpWithTask = instanceWithTask.extend({ coreDumpId: field.id }).meta({ id: 'CoreDumpWithTask' });
/** All of an instance's, the newest first. */
export const coreDumps = z.object({ items: z.array(coreDump) }).meta({ id: 'CoreDumps' });
export const coreDumpDeletion = z.object({ taskId: field.id }).meta({ id: 'CoreDumpDeletion' });
