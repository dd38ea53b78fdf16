import { blobMaintenance } from '#shared/platform/blobs/maintenance.ts'

export const feature = { maintenance: blobMaintenance }
