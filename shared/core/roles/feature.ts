import { roleEvents } from '#shared/core/roles/events.ts'

export const feature = { events: [roleEvents] }
