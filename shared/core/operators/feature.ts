import { operatorMaintenance } from '#shared/core/operators/maintenance.ts'

export const feature = { maintenance: operatorMaintenance }
