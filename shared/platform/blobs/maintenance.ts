import { type Blobs, sweepIntervalSeconds } from '#shared/platform/blobs/blobs.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'

/**
 * Deletes blobs that no row holds. A statement assigns blobs to this process and commits before their bytes are deleted, since the store
 * may take longer than a transaction should last.
 */
export const blobMaintenance: readonly MaintenanceTask<{ readonly blobs: Blobs }>[] = [
  {
    name: 'bytes that nothing names',
    everySeconds: sweepIntervalSeconds,
    run: async ({ blobs }, signal) => void (await blobs.sweep(signal)),
  },
]
