import { Gauge, type Registry } from 'prom-client'
import { zoneRelease } from '#shared/calendar/time.ts'
import { countStaleEvents } from '#shared/calendar/zones-store.ts'
import type { Executor } from '#shared/db/database.ts'

/** Adds a gauge that names the release of the time zone data by which this process goes. */
export function zoneGauge(registry: Registry): void {
  const gauge = new Gauge({
    name: 'kontor_time_zone_release',
    help: 'The release of the time zone data by which this process reckons, as a label; always 1',
    labelNames: ['release'],
    registers: [registry],
  })
  gauge.set({ release: zoneRelease }, 1)
}

/** Calendar events that are not over and whose times an older release made: a worker derives them again. */
export const staleEvents = (db: Executor): Promise<number> => countStaleEvents(db, zoneRelease, new Date())
