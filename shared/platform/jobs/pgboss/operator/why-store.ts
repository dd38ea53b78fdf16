import { integer, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, statement } from '#shared/platform/db/statements/statement.ts'

const selectPools = statement(
  'jobs.selectPools',
  `select pool, count(*)::integer as processes
   from processes cross join unnest(pools) as pool where kind = 'worker' and heartbeat_at >= now() - interval '30 seconds' group by pool`,
  { params: {}, columns: { pool: text.notNull, processes: integer.notNull } },
)
/** The live worker processes of each pool. */
export const countPools = () => asUnprepared(selectPools())

const selectRunning = statement(
  'jobs.selectRunning',
  `select name, group_id::uuid as workspace_id, count(*)::integer as running
   from pgboss.job where name = any($names) and state = 'active' and group_id is not null group by name, group_id`,
  { params: { names: texts }, columns: { name: text.notNull, workspace_id: uuid.notNull, running: integer.notNull } },
)
/** The running jobs of kinds, by workspace. */
export const countRunning = (names: readonly string[]) => asUnprepared(selectRunning({ names }))

const selectTaken = statement(
  'jobs.selectTaken',
  `select gated.workspace_id, gated.gate, count(*)::integer as taken
   from gated_jobs as gated
   join (select distinct * from unnest($workspaces::uuid[], $gates::text[]) as wanted (workspace_id, gate)) as wanted
     on gated.workspace_id = wanted.workspace_id and gated.gate = wanted.gate
   where gated.slot is not null group by gated.workspace_id, gated.gate`,
  {
    params: { workspaces: uuids, gates: texts },
    columns: { workspace_id: uuid.notNull, gate: text.notNull, taken: integer.notNull },
  },
)
/** The slots that are taken at gates. */
export const countTaken = (workspaces: readonly (string | null)[], gates: readonly (string | null)[]) =>
  asUnprepared(selectTaken({ workspaces, gates }))
