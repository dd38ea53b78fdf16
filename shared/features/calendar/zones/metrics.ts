import { Gauge, type Registry } from 'prom-client'
import { zoneRelease } from '#shared/features/calendar/time.ts'
import { countStaleEvents } from '#shared/features/calendar/zones/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Adds a gauge whose label is the release of this process's time zone data. */
export function addZoneReleaseGauge(registry: Registry): void {
  const gauge = new Gauge({
    name: 'kontor_time_zone_release',
    help: 'Release of the time zone data that this process uses, as a label; always 1',
    labelNames: ['release'],
    registers: [registry],
  })
  gauge.set({ release: zoneRelease }, 1)
}

/** Number of events that are not over and have times of an older release. Maintenance derives them again. */
export const countEventsOfOlderZones = (db: Executor): Promise<number> => countStaleEvents(db, zoneRelease, new Date())
