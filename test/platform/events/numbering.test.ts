import test, { type ExecutionContext } from 'ava'
import { countInbox, deleteDeliveries, readEvents } from '#test/platform/events/rows.ts'
import { createSubjects, Numberer, readLastSeq, type Write, Writer } from '#test/platform/events/schedule.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { pools: [] })

const [schedules, stepsOfSchedule, records] = [8, 200, 8]

/** Whole numbers from 0 to below a bound, the same ones for the same seed. */
function createChoice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** The actors of a schedule; each step is of one of them. */
interface Stage {
  readonly workspaceId: string
  readonly writers: readonly Writer[]
  readonly numberers: readonly Numberer[]
  /** Ids of the events in the order of their numbers, as far as they were read. */
  read: readonly string[]
}

test('numbering: whatever the order of steps, numbers have no gap, never change, and follow records and commits', async (t) => {
  const w = await shared()
  await deleteDeliveries(w.db)
  let total = 0
  for (let seed = 1; seed <= schedules; seed += 1) {
    const url = w.config.databaseUrl
    const workspaceId = await createSubjects(w.db, records)
    const writers = Array.from({ length: 6 }, () => new Writer(url, workspaceId))
    const numberers = Array.from({ length: 3 }, () => new Numberer(url, workspaceId))
    const stage: Stage = { workspaceId, writers, numberers, read: [] }
    for (const writer of writers) await writer.connect()
    const choose = createChoice(seed)
    for (let step = 0; step < stepsOfSchedule; step += 1) {
      await takeStep(stage, choose, step, w.db)
      if (choose(4) === 0) await read(t, stage, `seed ${seed}, step ${step}`, w.db)
    }
    for (const numberer of numberers) if (numberer.isOpen) await numberer.rollBack()
    for (const writer of writers) if (writer.isOpen) await writer.finish(true, stepsOfSchedule)
    while ((await countInbox(w.db)) > 0) await numberers[0]?.advance(3)
    while (numberers[0]?.isOpen) await numberers[0].advance(3)
    await read(t, stage, `seed ${seed}, end`, w.db)
    const committed = writers.flatMap(({ writes }) => writes.flatMap(({ events }) => events.map(({ id }) => id)))
    t.deepEqual(stage.read.toSorted(), committed.toSorted(), `seed ${seed}: every committed event once, and no other`)
    total += committed.length
    for (const actor of [...writers, ...numberers]) await actor.end()
  }
  t.true(total > 20 * schedules, `${total} events are few`)
})

async function takeStep(
  { writers, numberers }: Stage,
  choose: (below: number) => number,
  step: number,
  db: Parameters<Numberer['kill']>[0],
) {
  const actor = choose(writers.length + numberers.length)
  const writer = writers[actor]
  if (writer) {
    if (!writer.isOpen) return writer.begin(step)
    // Some transactions stay open for long, so that their events commit late.
    if (choose(actor < 2 ? 12 : 3) > 0) return writer.change(choose(records))
    return writer.finish(choose(6) > 0, step)
  }
  const numberer = numberers[actor - writers.length]
  const fate = choose(10)
  if (fate === 0) return numberer?.kill(db)
  if (fate === 1 && numberer?.isOpen) return numberer.rollBack()
  return numberer?.advance(1 + choose(4))
}

/** Reads the list and compares it with what was read before and with the writers' transactions. */
async function read(t: ExecutionContext, stage: Stage, at: string, db: Parameters<typeof readEvents>[0]): Promise<void> {
  const events = await readEvents(db, stage.workspaceId)
  const ids = events.map(({ id }) => id)
  t.deepEqual(
    events.map(({ seq }) => seq),
    ids.map((_, index) => index + 1),
    `${at}: numbers without a gap`,
  )
  t.is(await readLastSeq(db, stage.workspaceId), ids.length, at)
  t.deepEqual(ids.slice(0, stage.read.length), stage.read, `${at}: what was read has not changed`)
  stage.read = ids
  const place = new Map(ids.map((id, index) => [id, index]))
  const writes = stage.writers.flatMap((writer) => writer.writes)
  for (const [record, changes] of Map.groupBy(
    writes.flatMap(({ events }) => events),
    (change) => change.record,
  )) {
    const places = changes.toSorted((a, b) => a.version - b.version).map(({ id }) => place.get(id) ?? Number.POSITIVE_INFINITY)
    t.true(isAscending(places), `${at}: changes of record ${record} are in their order`)
  }
  t.deepEqual(precedenceFaults(writes, place), [], `${at}: what committed before another began is lower`)
}

const isAscending = (places: readonly number[]): boolean => places.every((one, index) => index === 0 || one >= (places[index - 1] ?? 0))

/** Pairs of transactions of which the first committed before the second began, and has an event with a higher number, or none yet. */
function precedenceFaults(writes: readonly Write[], place: ReadonlyMap<string, number>): string[] {
  const bounds = writes.flatMap(({ events, beganAt, committedAt }) => {
    const places = events.map(({ id }) => place.get(id) ?? Number.POSITIVE_INFINITY)
    return places.length === 0 ? [] : [{ beganAt, committedAt, lowest: Math.min(...places), highest: Math.max(...places) }]
  })
  return bounds.flatMap((first) =>
    bounds.flatMap((second) =>
      first.committedAt < second.beganAt && second.lowest < first.highest ? [`${first.highest} before ${second.lowest}`] : [],
    ),
  )
}
