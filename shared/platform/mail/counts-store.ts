import type { Executor } from '#shared/platform/db/database.ts'
import { instant, integer } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = { waiting: integer.notNull, oldest: instant, uncertain: integer.notNull, failed_day: integer.notNull }

// By the index `outbox_mails_unsent`, which has no sent mail.
const counted = `select
     (select count(*)::integer from outbox_mails where status in ('queued', 'sending')) as waiting,
     (select min(created_at) from outbox_mails where status in ('queued', 'sending')) as oldest,
     (select count(*)::integer from outbox_mails where status = 'uncertain') as uncertain,
     (select count(*)::integer from outbox_mails where status = 'failed' and created_at > now() - interval '1 day') as failed_day`

/** Counts the mails of all workspaces that wait, since when, and those that failed in the last day. */
export const readMailBacklog = statement('mail.readMailBacklog', counted, { params: {}, columns })

const upsertMailCounts = statement(
  'mail.upsertMailCounts',
  `insert into mail_counts as kept (waiting, oldest, uncertain, failed_day)
   select counted.* from (${counted}) as counted left join mail_counts as before on true
   where (before.waiting, before.oldest, before.uncertain, before.failed_day) is distinct from
     (counted.waiting, counted.oldest, counted.uncertain, counted.failed_day)
   on conflict (only_row) do update
   set waiting = excluded.waiting, oldest = excluded.oldest, uncertain = excluded.uncertain, failed_day = excluded.failed_day`,
  { params: {} },
)
/** Counts the mails and stores the numbers, for operators. */
export async function storeMailCounts(db: Executor): Promise<void> {
  await db.query(upsertMailCounts())
}

/** The numbers of `readMailBacklog` as they were stored, some seconds ago; no row before the first count. */
export const findMailCounts = statement('mail.findMailCounts', 'select waiting, oldest, uncertain, failed_day from mail_counts', {
  params: {},
  columns,
})
