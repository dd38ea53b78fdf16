import test from 'ava'
import { maintenance } from '#shared/features.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { defineCleanup } from '#shared/platform/db/old-rows.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import { addEndedSession, createLitter, dropLitter, prolongSessions } from '#test/platform/due/rows.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, { LOG_LEVEL: 'silent' })

test('maintenance: every maintenance task has a unique name and an interval', (t) => {
  t.is(new Set(maintenance.map(({ name }) => name)).size, maintenance.length)
  t.true(maintenance.every(({ everySeconds }) => everySeconds >= 3))
})

test('maintenance: every maintenance task runs', async (t) => {
  const w = await shared()
  const { services } = w.api
  for (const task of maintenance) {
    await t.notThrowsAsync(task.run({ ...services, db: services.database }, new AbortController().signal), task.name)
  }
})

test('maintenance: old rows are deleted in batches, and the others stay', async (t) => {
  const w = await shared()
  await createLitter(w.db)
  t.teardown(() => dropLitter(w.db))
  const texts: string[] = []
  const { database } = w.api.services
  const query = <Row>(statement: Statement<Row>) => {
    texts.push(statement.text)
    return database.query<Row>(statement)
  }
  const db: Executor = {
    owner: null,
    query,
    transaction: (work) => database.transaction(work),
    afterCommit: (hook) => hook(),
    forWorkspace: () => db,
  }
  const task = defineCleanup('sweep_litter', { table: 'litter', old: 'at < $before', by: 'at', keptDays: 1, everyMinutes: 60, batch: 4 })
  await task.run({ db, now: () => new Date('2030-01-02T12:00:00Z') }, new AbortController().signal)
  t.is(await countRows(w.db, 'litter'), 13)
  t.is(texts.length, 4)
  const stopped = task.run({ db, now: () => new Date('2031-01-01T00:00:00Z') }, AbortSignal.abort())
  await t.throwsAsync(stopped)
  t.is(await countRows(w.db, 'litter'), 13)
})

test('maintenance: expired sessions are deleted, and valid ones are not', async (t) => {
  const w = await shared()
  await prolongSessions(w.db)
  const before = await countRows(w.db, 'sessions')
  await addEndedSession(w.db)
  await runMaintenanceTask(w, 'sweep_sessions')
  t.is(await countRows(w.db, 'sessions'), before)
})
