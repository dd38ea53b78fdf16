import test from 'ava'
import { tableVersion } from '#shared/platform/jobs/pgboss/table-version.ts'
import { callKontor } from '#test/bin/call.ts'
import { setTableVersion } from '#test/platform/jobs/rows.ts'
import { world } from '#test/support/world.ts'

test('table version: the statements are written for the tables that the installed pg-boss makes', async (t) => {
  const w = await world()
  t.teardown(w.close)
  t.is(await w.worker.jobQueue.boss.schemaVersion(), tableVersion)
})

test('table version: nothing starts on tables of another version', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await setTableVersion(w.db, tableVersion + 1)
  const { code, err } = await callKontor(w, 'jobs', 'list')
  await setTableVersion(w.db, tableVersion)
  t.is(code, 1)
  t.regex(
    err,
    new RegExp(
      `^The tables of pg-boss have version ${tableVersion + 1}, this release of Kontor is written for ${tableVersion}: a newer release`,
    ),
  )
})
