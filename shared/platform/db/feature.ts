import { databaseMaintenance } from '#shared/platform/db/maintenance.ts'

export const feature = { maintenance: databaseMaintenance }
