import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, instant, json, type RowOf, text, texts } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  target: text.as<'kind' | 'pool'>().notNull,
  name: text.notNull,
  /** The kinds of jobs that do not start because of it. */
  kinds: json.as<readonly string[]>().notNull,
  paused_at: instant.notNull,
}

/** A paused kind of jobs, or a paused pool. */
type Pause = RowOf<typeof columns>

const selectPauses = statement(
  'jobs.selectPauses',
  'select target, name, to_json(kinds) as kinds, paused_at from job_pauses order by target, name',
  { params: {}, columns },
)
/** Lists all pauses: those of kinds, then those of pools. */
export const listPauses = (db: Pick<Executor, 'query'>): Promise<Pause[]> => db.query(selectPauses())

const selectKindPaused = statement('jobs.selectKindPaused', 'select $kind = any(paused_kinds()) as is_paused', {
  params: { kind: text },
  columns: { is_paused: boolean.notNull },
})
/** Whether jobs of this kind do not start, because of their own pause or their pool's. */
export const isKindPaused = async (db: Executor, kind: string): Promise<boolean> =>
  (await db.query(selectKindPaused({ kind })))[0]?.is_paused ?? false

const changed = { name: text.notNull, notified: text }

// The notification commits with the change. It takes PostgreSQL's lock of all notifying commits (docs/decisions/job-signals.md), which does not
// matter for something that a person does.
const notified = `select name, pg_notify($channel, '')::text as notified from changed`

const insertPauseRow = statement(
  'jobs.insertPauseRow',
  `with changed as (
     insert into job_pauses (target, name, kinds) values ($target, $name, $kinds) on conflict do nothing returning name
   ) ${notified}`,
  { params: { target: text, name: text, kinds: texts, channel: text }, columns: changed },
)
/** Adds a pause and notifies all processes after the commit. Returns false when there is one already. */
export const insertPause = async (db: Executor, values: Parameters<typeof insertPauseRow>[0]): Promise<boolean> =>
  (await db.query(insertPauseRow(values))).length > 0

const deletePauseRow = statement(
  'jobs.deletePauseRow',
  `with changed as (delete from job_pauses where target = $target and name = $name returning name) ${notified}`,
  { params: { target: text, name: text, channel: text }, columns: changed },
)
/** Removes a pause and notifies all processes after the commit. Returns false when there is none. */
export const deletePause = async (db: Executor, values: Parameters<typeof deletePauseRow>[0]): Promise<boolean> =>
  (await db.query(deletePauseRow(values))).length > 0

const updatePoolPauses = statement(
  'jobs.updatePoolPauses',
  `update job_pauses as pause set kinds = array(select json_array_elements_text($pools::json -> pause.name))
   where target = 'pool' and $pools::json -> pause.name is not null`,
  { params: { pools: json } },
)
/** Sets the kinds of paused pools: `pools` has the kinds that may be paused by pool. For a release, whose kinds may be others. */
export async function setPausedKinds(db: Executor, pools: Readonly<Record<string, readonly string[]>>): Promise<void> {
  await db.query(updatePoolPauses({ pools: JSON.stringify(pools) }))
}
