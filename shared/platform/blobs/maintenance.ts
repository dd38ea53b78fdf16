import { type Blobs, sweepTurnSeconds } from '#shared/platform/blobs/blobs.ts'
import type { Chore } from '#shared/platform/kernel/maintenance-task.ts'

/** Deletes unheld blobs. Its statements assign blobs to processes, since a store may take longer than a transaction should last. */
export const blobChores: readonly Chore<{ readonly blobs: Blobs }>[] = [
  { name: 'bytes that nothing names', everySeconds: sweepTurnSeconds, run: async ({ blobs }, signal) => void (await blobs.sweep(signal)) },
]
