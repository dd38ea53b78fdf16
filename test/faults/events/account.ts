import { isDeepStrictEqual } from 'node:util'
import type { ReadEvent, Reader } from '#test/faults/events/readers.ts'
import type { Entry, Values } from '#test/faults/events/rows.ts'
import type { Change } from '#test/faults/events/writers.ts'

/** What the rights of a reader mean, written without Kontor's code. */
export interface Rights {
  readonly sees: (type: string, values: Values) => boolean
  readonly shows: (type: string, key: string) => boolean
}

/** What is wrong with the lists of readers; the counts are of events. */
export interface Account {
  readonly lost: number
  readonly repeated: number
  readonly wrong: readonly string[]
}

/** The list of a reader who sees everything has all numbers, and the changes of the audit, each once. */
export function accountWhole({ events, lastSeq }: Reader, entries: readonly Entry[]): Account {
  const wrong: string[] = []
  const numbers = events.map(({ seq }) => seq)
  if (
    !isDeepStrictEqual(
      numbers,
      Array.from({ length: lastSeq }, (_, index) => index + 1),
    )
  )
    wrong.push(`The numbers up to ${lastSeq} have a gap or are not in order`)
  const changes = events.filter(({ type }) => type.startsWith('records.'))
  const read = new Map(changes.map((event) => [event.id, event]))
  const missing = entries.filter(({ id }) => !read.has(id))
  const known = new Set(entries.map(({ id }) => id))
  if (changes.some(({ id }) => !known.has(id))) wrong.push('An event tells of a change that the audit does not have')
  const different = entries.filter((entry) => {
    const event = read.get(entry.id)
    return event && !isDeepStrictEqual([event.type, event.subject, event.data.before, event.data.after], factsOf(entry))
  })
  if (different.length > 0) wrong.push(`${different.length} events differ from the audit, such as ${JSON.stringify(different[0])}`)
  return { lost: missing.length, repeated: changes.length - read.size, wrong }
}

const factsOf = ({ event, type, record, before, after }: Entry) => [event, { object_type: type, id: record }, before, after]

/** The changes of each record follow each other: each begins with what the one before it left. */
export function accountChains(events: readonly ReadEvent[]): Account {
  const records = new Map<string, Values | null>()
  const broken: ReadEvent[] = []
  for (const event of events) {
    if (!event.type.startsWith('records.')) continue
    const { subject, data, type } = event
    const present = records.get(subject.id)
    const follows =
      type === 'records.created'
        ? present === undefined
        : !!present && Object.entries(data.before ?? {}).every(([key, value]) => is(present[key], value))
    if (!follows) broken.push(event)
    records.set(subject.id, type === 'records.deleted' ? null : { ...present, ...data.after })
  }
  return {
    lost: 0,
    repeated: 0,
    wrong: broken.length === 0 ? [] : [`${broken.length} changes do not follow the one before, such as ${broken[0]?.seq}`],
  }
}

const is = (one: unknown, other: unknown): boolean => (one ?? null) === (other ?? null)

/** Every acknowledged change has its event, and one that was answered before another was sent has the lower number. */
export function accountChanges(events: readonly ReadEvent[], changes: readonly Change[]): Account {
  const keyOf = (event: string, record: string, token: unknown) => `${event} ${record} ${event === 'records.deleted' ? '' : token}`
  const numbers = new Map(events.map(({ type, subject, data, seq }) => [keyOf(type, subject.id, data.after?.notes), seq]))
  const placed = changes.map((change) => ({ ...change, seq: numbers.get(keyOf(change.event, change.record, change.token)) }))
  const found = placed
    .flatMap(({ seq, ...change }) => (seq === undefined ? [] : [{ ...change, seq }]))
    .toSorted((one, other) => one.seq - other.seq)
  let lastSent = Number.NEGATIVE_INFINITY
  let late = 0
  for (const { sentAt, answeredAt } of found) {
    if (answeredAt < lastSent) late += 1
    lastSent = Math.max(lastSent, sentAt)
  }
  return {
    lost: placed.length - found.length,
    repeated: 0,
    wrong: late === 0 ? [] : [`${late} changes have a higher number than one that began after they were acknowledged`],
  }
}

/** A reader got what its rights show of every change, once and in order. */
export function accountReader({ name, events }: Reader, all: readonly ReadEvent[], rights: Rights): Account {
  const expected = showTo(all, rights)
  const [got, due] = [events.filter(({ type }) => type.startsWith('records.')), new Set(expected.map(({ seq }) => seq))]
  const read = new Set(got.map(({ seq }) => seq))
  const wrong: string[] = []
  if (got.some(({ seq }) => !due.has(seq)))
    wrong.push(`${name} got an event that it may not see: ${got.find(({ seq }) => !due.has(seq))?.seq}`)
  if (got.some(({ seq }, index) => seq <= (got[index - 1]?.seq ?? 0))) wrong.push(`${name} got events out of order`)
  const bySeq = new Map(got.map((event) => [event.seq, event]))
  const different = expected.find((event) => bySeq.has(event.seq) && !isDeepStrictEqual(bySeq.get(event.seq), event))
  if (different) wrong.push(`${name} got ${JSON.stringify(bySeq.get(different.seq))} instead of ${JSON.stringify(different)}`)
  return { lost: expected.filter(({ seq }) => !read.has(seq)).length, repeated: got.length - read.size, wrong }
}

/** What rights show of all changes: their views and values. */
function showTo(all: readonly ReadEvent[], { sees, shows }: Rights): ReadEvent[] {
  const records = new Map<string, Values>()
  return all.flatMap((event): ReadEvent[] => {
    if (!event.type.startsWith('records.')) return []
    const { type, subject, data } = event
    const kind = subject.object_type
    const before = records.get(subject.id)
    const after = type === 'records.deleted' ? undefined : { ...before, ...data.after }
    if (after) records.set(subject.id, after)
    else records.delete(subject.id)
    const [saw, isSeen] = [before !== undefined && sees(kind, before), after !== undefined && sees(kind, after)]
    const mask = (values: Values | null) => values && Object.fromEntries(Object.entries(values).filter(([key]) => shows(kind, key)))
    if (!saw && !isSeen) return []
    if (!isSeen) return [{ ...event, data: { view: 'left', before: after ? null : mask(data.before), after: null, changed: [] } }]
    const shown = mask(data.after) ?? {}
    const changed = data.changed.filter((key) => shows(kind, key))
    if (!saw) return [{ ...event, data: { view: 'entered', before: null, after: shown, changed } }]
    return changed.length === 0 ? [] : [{ ...event, data: { view: 'changed', before: mask(data.before), after: shown, changed } }]
  })
}
