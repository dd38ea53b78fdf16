import type { Feature } from '#shared/core/automation/feature.ts'
import { driveMaintenance } from '#shared/features/drive/maintenance.ts'
import { driveMethods } from '#shared/features/drive/sdk.ts'

export const feature = { maintenance: driveMaintenance, sdkMethods: driveMethods } satisfies Feature
