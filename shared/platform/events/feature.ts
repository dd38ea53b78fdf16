import { eventMaintenance } from '#shared/platform/events/maintenance.ts'

export const feature = { maintenance: eventMaintenance }
