import { Gauge } from 'prom-client'
import { zoneRelease } from '#shared/features/calendar/time.ts'
import { countStaleEvents } from '#shared/features/calendar/zones/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { addGauge, type Metrics } from '#shared/platform/kernel/metrics.ts'

const releaseInUse = new Gauge({
  name: 'kontor_time_zone_release',
  help: 'Release of the time zone data that this process uses, as a label; always 1',
  labelNames: ['release'],
  registers: [],
})
releaseInUse.set({ release: zoneRelease }, 1)

export const calendarMetrics: Metrics<Executor> = {
  counters: [releaseInUse],
  addGauges: (registry, query) => {
    const help = 'Calendar events that are not over and whose times were derived from an older release of the time zone data'
    // Maintenance derives the times of these events again.
    addGauge(registry, 'kontor_calendar_stale_events', help, [], async () => {
      const counts = await query((db) => db.query(countStaleEvents({ release: zoneRelease, now: new Date() })), 'events')
      return counts.map(({ events }) => ({ labels: {}, value: events }))
    })
  },
}
