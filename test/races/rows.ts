import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Db } from '#test/support/rows.ts'

/** Adds a failed submission to a form. */
export async function addFailedSubmission(db: Db, workspaceId: string, formId: string, id: string, values: object): Promise<void> {
  await db.query(
    `insert into form_submissions (workspace_id, form_id, id, "values", state, error) values ($1, $2, $3, $4, 'failed', 'x')`,
    [workspaceId, formId, id, JSON.stringify(values)],
  )
}

/** Adds messages that were sent to an address in two spellings, and returns their ids. */
export async function addSentMessages(db: Db, workspaceId: string, count: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `insert into outbox_mails (workspace_id, id, kind, recipient, contact_keys, subject, body_text, status)
     select $1, uuidv7(), 'message', 'Ann@example.com', array['ann@example.com'], 'A', 'B', 'sent' from generate_series(1, $2) returning id`,
    [workspaceId, count],
  )
  return rows.map(({ id }) => id)
}

/** The numbers of created invoices in the audit, of all and of different ones. */
export async function countCreatedNumbers(db: Db, workspaceId: string): Promise<{ all: number; different: number }> {
  const { rows } = await db.query<{ all: number; different: number }>(
    `select count(*)::int as all, count(distinct number)::int as different
     from (select after->>'number' as number from audit_entries where action = 'record.created' and workspace_id = $1) as created`,
    [workspaceId],
  )
  return rows[0] ?? { all: 0, different: 0 }
}

/** The deadlocks that the database has resolved. */
export async function countDeadlocks(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select deadlocks::integer as count from pg_stat_database where datname = current_database()',
  )
  return rows[0]?.count ?? 0
}

/** The number of pairs of a calendar's events that are nearer to each other than five minutes. */
export async function countEventClashes(db: Db, calendarId: string): Promise<number> {
  const { rows } = await db.query<{ clashes: number }>(
    `select count(*)::integer as clashes from calendar_events as a join calendar_events as b
     on a.calendar_id = b.calendar_id and a.id < b.id
       and a.extent && tstzrange(lower(b.extent) - interval '5 minutes', upper(b.extent) + interval '5 minutes') where a.calendar_id = $1`,
    [calendarId],
  )
  return rows[0]?.clashes ?? 0
}

/** The number of a workspace's runs of flows with a status, or of those that have not ended. */
export async function countFlowRuns(db: Db, workspaceId: string, status: 'ok' | 'open'): Promise<number> {
  const condition = status === 'ok' ? `status = 'ok'` : 'finished_at is null'
  return (await db.query(`select from flow_runs where workspace_id = $1 and ${condition}`, [workspaceId])).rowCount ?? 0
}

/** The number of ledger entry lines of an account. */
export async function countLines(db: Db, accountId: string): Promise<number> {
  return (await db.query('select from journal_lines where account_id = $1', [accountId])).rowCount ?? 0
}

/** The number of payments of a link that are recorded. */
export async function countPayments(db: Db, workspaceId: string, linkId: string): Promise<number> {
  const statement = 'select from provider_payments where workspace_id = $1 and link_id = $2'
  return (await db.query(statement, [workspaceId, linkId])).rowCount ?? 0
}

/** The number of roles that a principal holds. */
export async function countRolesOf(db: Db, principalId: string): Promise<number> {
  return (await db.query('select from role_members where principal_id = $1', [principalId])).rowCount ?? 0
}

/** The number of a workspace's rows that a condition is true of. */
export async function countRowsWhere(db: Db, table: string, workspaceId: string, condition: string): Promise<number> {
  return (await db.query(`select from ${table} where workspace_id = $1 and ${condition}`, [workspaceId])).rowCount ?? 0
}

/** Deletes the row of a field, past the API. */
export async function deleteField(db: Db, id: string): Promise<void> {
  await db.query('delete from fields where id = $1', [id])
}

/** Lets the sweep of a workspace's payments fall due. */
export async function letSweepDue(db: Db, workspaceId: string): Promise<void> {
  await db.query(`update due_work set at = 'epoch' where workspace_id = $1 and kind = 'payments.sweep'`, [workspaceId])
}

/** The ids of a workspace's ledger entries of a date, sorted. */
export async function listEntries(db: Db, workspaceId: string, date: string): Promise<string[]> {
  const statement = 'select id from journal_entries where workspace_id = $1 and date = $2'
  return (await db.query<{ id: string }>(statement, [workspaceId, date])).rows.map(({ id }) => id).sort()
}

/** Makes caches read the record types of a workspace again. */
export async function outdateTypes(db: Db, workspaceId: string): Promise<void> {
  await db.query('update record_types set label = label where workspace_id = $1', [workspaceId])
}

/** Bytes and files of a workspace's drives, as stored and as counted. */
export interface DriveFigures {
  readonly bytes: number
  readonly totals: number
  readonly usage: number
  readonly files: number
  readonly counted: number
  readonly held: number
  readonly doubled: number
}

/** Compares the content of a workspace's drives with every count of it. */
export async function readDriveFigures(db: Db, workspaceId: string): Promise<DriveFigures | undefined> {
  const { rows } = await db.query<DriveFigures>(
    `select (select coalesce(sum(size_bytes), 0)::int from drive_objects where workspace_id = $1) as bytes,
       (select coalesce(sum(bytes), 0)::int from drive_totals where workspace_id = $1) as totals,
       (select coalesce(sum(total_bytes), 0)::int from file_usage where workspace_id = $1) as usage,
       (select count(*)::int from drive_objects where workspace_id = $1 and blob_id is not null) as files,
       (select coalesce(sum(files), 0)::int from drive_totals where workspace_id = $1) as counted,
       (select count(*)::int from blobs where workspace_id = $1 and holders = 1) as held,
       (select count(*)::int from blobs where workspace_id = $1 and holders > 1) as doubled`,
    [workspaceId],
  )
  return rows[0]
}

/** The present instant of the database, with microseconds. */
export async function readInstant(db: Db): Promise<string> {
  const statement = `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`
  return (await db.query<{ now: string }>(statement)).rows[0]?.now ?? ''
}

/** Whether every record of a table was changed later than half an hour from now. */
export async function isChangedInFuture(db: Db, table: string): Promise<boolean> {
  const { rows } = await db.query<{ late: boolean }>(`select bool_and(updated_at > now() + interval '30 minutes') as late from ${table}`)
  return rows[0]?.late ?? false
}

/** Counts the indexes of a workspace's tables, and those that its types and fields need. */
export async function countIndexes(db: Db, workspaceId: string): Promise<{ present: number; needed: number }> {
  const present = 'select count(*)::int as count from pg_indexes where schemaname = $1'
  const needed = `
    select (count(distinct type.id) + count(*) filter (where field.is_unique) + count(*) filter (where field.type = 'ref'))::int as count
    from record_types as type left join fields as field on field.type_id = type.id where type.workspace_id = $1`
  const [one, other] = [await db.query(present, [schemaOf(workspaceId)]), await db.query(needed, [workspaceId])]
  return { present: one.rows[0].count, needed: other.rows[0].count }
}

/** The columns of a workspace's tables, and those that its types and fields need, as `table.column`, sorted. */
export async function readColumns(db: Db, workspaceId: string): Promise<{ present: string[]; needed: string[] }> {
  const present = await db.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns where table_schema = $1`,
    [schemaOf(workspaceId)],
  )
  const needed = await db.query<{ name: string }>(
    `select type.key || '.' || name as name
     from record_types as type
     cross join lateral (
       values ('id'), ('created_by'), ('created_at'), ('updated_at'), ('_edition_' || type.edition)
       union all select column_name from fields as field where field.type_id = type.id
       union all select column_name || '_code' from fields as field where field.type_id = type.id and field.type = 'currency'
     ) as own (name)
     where type.workspace_id = $1`,
    [workspaceId],
  )
  const [one, other] = [present, needed].map(({ rows }) => rows.map(({ name }) => name).sort())
  return { present: one ?? [], needed: other ?? [] }
}

/** Gives a record type another id, of which no cache learns. The connection must not be used for anything else. */
export async function replaceTypeSilently(db: Db, workspaceId: string, typeKey: string): Promise<void> {
  await db.query('set session_replication_role = replica')
  await db.query('delete from record_counts where workspace_id = $1', [workspaceId])
  await db.query('update record_types set id = uuidv7() where workspace_id = $1 and key = $2', [workspaceId, typeKey])
}

/** Changes the time of the last change of every record of a table to a value of SQL. */
export async function setUpdatedAt(db: Db, table: string, time: string): Promise<void> {
  await db.query(`update ${table} set updated_at = ${time}`)
}

/** Adds operations of jobs that callers have filed and that no worker takes. */
export async function addFiledOperations(db: Db, workspaceId: string, kind: string, count: number): Promise<void> {
  await db.query(
    `insert into operations (id, workspace_id, kind, job, request_id, is_filed, created_at)
     select gen_random_uuid(), $1, $2, 'none', 'test', true, now() + interval '1 hour' from generate_series(1, $3)`,
    [workspaceId, kind, count],
  )
}

/** The waiting jobs of a kind that callers of a workspace have filed. */
export async function countFiledOperations(db: Db, workspaceId: string, kind: string): Promise<number> {
  const statement = `select from operations where workspace_id = $1 and kind = $2 and is_filed and status = 'queued'`
  return (await db.query(statement, [workspaceId, kind])).rowCount ?? 0
}

/** Removes the operations that `addFiledOperations` added. */
export async function removeFiledOperations(db: Db, workspaceId: string): Promise<void> {
  await db.query(`delete from operations where workspace_id = $1 and job = 'none'`, [workspaceId])
}

/** Adds runs that callers have started and that no worker takes. */
export async function addFiledRuns(db: Db, workspaceId: string, count: number): Promise<void> {
  await db.query(
    `insert into flow_runs (workspace_id, id, flow_id, flow_name, version, editor_id, trigger, input, trigger_key, depth, is_filed, created_at, touched_at)
     select $1, gen_random_uuid(), gen_random_uuid(), 'none', 1, gen_random_uuid(), '{"kind":"manual"}', '{}', n::text, 1, true, now(),
       now() + interval '1 hour'
     from generate_series(1, $2) as n`,
    [workspaceId, count],
  )
}

/** Removes the runs that `addFiledRuns` added. */
export async function endFiledRuns(db: Db, workspaceId: string): Promise<void> {
  await db.query(`delete from flow_runs where workspace_id = $1 and flow_name = 'none'`, [workspaceId])
}
