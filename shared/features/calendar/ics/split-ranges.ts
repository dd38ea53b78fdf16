import { createHash } from 'node:crypto'
import { eventTimeColumns, instantOfWallClock, wallClockOf } from '#shared/features/calendar/event-time.ts'
import { seriesOf, wallClockText } from '#shared/features/calendar/events/event.ts'
import { type FileWhen, originalStartIn } from '#shared/features/calendar/ics/file-starts.ts'
import { byNewestFirst, type FileEvent, maxUidBytes } from '#shared/features/calendar/ics/read-event.ts'
import { utcBasicText } from '#shared/features/calendar/series/expand.ts'
import { moveBetween, moveRepeats, splitRepeats } from '#shared/features/calendar/series/shift.ts'
import { dateText } from '#shared/features/calendar/time.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/**
 * Splits series at changes of an occurrence and all later ones (RANGE=THISANDFUTURE): the later part is a series under a UID that is
 * derived from the first, so that another import finds it. Takes and returns the events by UID. A change that cannot be applied stays a
 * change of one occurrence, with a note.
 */
export function splitRanges(byUid: ReadonlyMap<string, readonly FileEvent[]>, budget: ComputeBudget): Map<string, readonly FileEvent[]> {
  const split = new Map<string, readonly FileEvent[]>()
  for (const [uid, events] of byUid) {
    let rest: readonly FileEvent[] = events
    let own = uid
    for (;;) {
      budget.takeSteps(rest.length)
      const [master] = rest.filter(({ original }) => original === undefined).sort(byNewestFirst)
      const range = master && firstRange(rest, master)
      if (!master || !range) break
      budget.takeSteps(stepsPerSplit)
      const parts = splitAt(uid, rest, master, range)
      if (parts.earlier.length > 0) split.set(own, parts.earlier)
      own = parts.earlier.length > 0 ? (parts.later[0]?.uid ?? own) : own
      rest = parts.later
    }
    split.set(
      own,
      rest.map((event) => (event.isForLater ? onlyFirst(event) : event)),
    )
  }
  return split
}

/** Steps of a split: counting the occurrences of a series takes up to 20,000. */
const stepsPerSplit = 5_000

const onlyFirst = (event: FileEvent): FileEvent => ({
  ...event,
  isForLater: false,
  notes: [...event.notes, 'changes all later occurrences, of which only the first is imported'],
})

/** The newest of the earliest changes of later occurrences. */
function firstRange(events: readonly FileEvent[], master: FileEvent): FileEvent | undefined {
  if (master.recurrence === null) return undefined
  const startOf = (event: FileEvent) => (event.original ? originalStartIn(event.original, master.when, event.zoneLookup) : 0)
  return events
    .filter(({ isForLater, original }) => isForLater && original)
    .sort((a, b) => startOf(a) - startOf(b) || byNewestFirst(a, b))[0]
}

interface Parts {
  readonly earlier: readonly FileEvent[]
  readonly later: readonly FileEvent[]
}

/** The events before a change, and those from there on, of which the first is the later series. `root` is the UID of the file. */
function splitAt(root: string, events: readonly FileEvent[], master: FileEvent, range: FileEvent): Parts {
  const at = originalStartIn(range.original as NonNullable<FileEvent['original']>, master.when, range.zoneLookup)
  const unchanged = { earlier: [], later: events.map((event) => (event === range ? onlyFirst(event) : event)) }
  const startOf = (event: FileEvent) =>
    event.original ? originalStartIn(event.original, master.when, event.zoneLookup) : Number.NEGATIVE_INFINITY
  const columns = columnsOf(master)
  const parts = partsAt(master, columns, at)
  if (!parts || range.when.allDay !== master.when.allDay) return unchanged
  const { start, ...repeats } = parts.after
  const length = master.when.end - master.when.start
  const rest = { ...columns, ...eventTimeColumns({ ...master.when, start, end: start + length }), ...repeats }
  const named = { ...master.when, start: at, end: at + length }
  const move = moveBetween(named, range.when)
  const first = start === at ? range.when.start : move(start)
  const when: FileWhen = { ...range.when, start: first, end: first + (range.when.end - range.when.start) }
  const series = seriesOf({ ...rest, ...moveRepeats(rest, when), ...eventTimeColumns(when) })
  if (!series) return unchanged
  const isLater = (start: number) => start >= at
  const laterEnds = [...master.ownEnds]
    .filter(([start]) => isLater(start))
    .map(([start, end]) => [move(start), move(start) + (end - start)] as const)
  const uid = parts.isWhole ? master.uid : uidOfLater(root, at, master.when.allDay)
  const later: FileEvent = {
    ...range,
    uid,
    when,
    original: undefined,
    isForLater: false,
    recurrence: series.rule,
    rdates: series.rdates,
    exdates: series.exdates,
    ownEnds: new Map(laterEnds),
  }
  const others = events
    .filter((event) => event !== range && event.original && isLater(startOf(event)) && !(event.isForLater && startOf(event) === at))
    .map((event) => ({ ...event, uid, original: movedOriginal(move(startOf(event)), when) }))
  if (parts.isWhole) return { earlier: [], later: [later, ...others] }
  const before = seriesOf({ ...columns, ...parts.before })
  const kept = { ...master, recurrence: before?.rule ?? null, rdates: before?.rdates ?? [], exdates: before?.exdates ?? [] }
  const earlierEnds = [...master.ownEnds].filter(([start]) => !isLater(start))
  const earlier = events.filter((event) => event !== master && event.original && !isLater(startOf(event)))
  return { earlier: [{ ...kept, ownEnds: new Map(earlierEnds) }, ...earlier], later: [later, ...others] }
}

type Columns = ReturnType<typeof columnsOf>

const columnsOf = ({ when, recurrence, rdates, exdates }: FileEvent) => ({
  ...eventTimeColumns(when),
  recurrence,
  rdates: rdates.map(wallClockText),
  exdates: exdates.map(wallClockText),
  original_start: null,
  original_date: null,
})

/** The repeats of both parts; undefined when the series has no start from there on, or its rule takes too long to compute. */
function partsAt({ when, rdates }: FileEvent, columns: Columns, at: number) {
  const added = rdates.map((wall) => instantOfWallClock(when, wall))
  const isWhole = at <= Math.min(when.start, ...added)
  try {
    const whole = { start: when.start, recurrence: columns.recurrence, rdates: columns.rdates, exdates: columns.exdates }
    if (isWhole) return { isWhole, before: whole, after: whole }
    const parts = splitRepeats(columns, at)
    return Number.isFinite(parts.after.start) && Number.isFinite(parts.before.start) ? { isWhole, ...parts } : undefined
  } catch {
    return undefined
  }
}

const movedOriginal = (start: number, { allDay, zone, tzid }: FileWhen) =>
  allDay
    ? { wall: start, isDate: true, isUtc: false, tzid: undefined }
    : { wall: wallClockOf({ allDay, zone }, start), isDate: false, isUtc: false, tzid }

/** The text between the UID of a series and the start of its later part. */
const laterMark = '/from-'

/** The UID of the later part of a series that a file splits. */
function uidOfLater(root: string, at: number, allDay: boolean): string {
  const suffix = `${laterMark}${allDay ? dateText(at).replaceAll('-', '') : utcBasicText(at)}`
  const uid = `${root}${suffix}`
  const isShort = uid.length <= 1_000 && Buffer.byteLength(uid) <= maxUidBytes
  return isShort ? uid : `${createHash('sha256').update(root).digest('hex')}${suffix}`
}
