import { setImmediate as yieldThread } from 'node:timers/promises'
import { Temporal } from 'temporal-polyfill'

/**
 * The offsets of a zone from UTC by the zone data of this process, for statements that must not use the database's. `offsets` has one more
 * element than `starts`: the first holds until the first start, each other one from its start on, the last for ever.
 */
export interface ZoneOffsets {
  /** Instants of the clock changes, in order. */
  readonly starts: readonly Date[]
  /** Intervals of PostgreSQL, such as `3600 seconds`. */
  readonly offsets: readonly string[]
}

/** No zone had a clock of its own by law before the first year. After the last year the zone's last offset is kept. */
const first = Temporal.Instant.from('1847-01-01T00:00:00Z')
const lastMs = Date.parse('2101-01-01T00:00:00Z')

/** There are some 600 zones, and one has at most some 350 clock changes in these years, so that 10 MB hold all. */
const known = new Map<string, Promise<ZoneOffsets>>()

/** Returns the offsets of an IANA zone. The first call for a zone computes for some 100 ms and yields the thread after each clock change. */
export function zoneOffsets(zone: string): Promise<ZoneOffsets> {
  const found = known.get(zone) ?? computeOffsets(zone)
  known.set(zone, found)
  return found
}

async function computeOffsets(zone: string): Promise<ZoneOffsets> {
  const starts: Date[] = []
  let at = first.toZonedDateTimeISO(zone)
  const offsets = [inSeconds(at)]
  for (;;) {
    const next = at.getTimeZoneTransition('next')
    if (next === null || next.epochMilliseconds >= lastMs) return { starts, offsets }
    starts.push(new Date(next.epochMilliseconds))
    offsets.push(inSeconds(next))
    at = next
    await yieldThread()
  }
}

const inSeconds = ({ offsetNanoseconds }: Temporal.ZonedDateTime): string => `${offsetNanoseconds / 1_000_000_000} seconds`
