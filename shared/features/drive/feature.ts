import type { Feature } from '#shared/core/automation/feature.ts'
import { objectEvents } from '#shared/features/drive/events/event-types.ts'
import { driveMaintenance } from '#shared/features/drive/maintenance.ts'
import { driveMethods } from '#shared/features/drive/sdk.ts'

export const feature = { events: [objectEvents], maintenance: driveMaintenance, sdkMethods: driveMethods } satisfies Feature
