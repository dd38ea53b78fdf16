import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const take = sql(
  'take_calendar_mail_share',
  `insert into calendar_mail_counts as counted (day, kind, subject, mails)
   select $1::date, $2, subject, least(mails, $5::integer) from unnest($3::text[], $4::integer[]) as asked (subject, mails) order by subject
   on conflict (day, kind, subject) do update set mails = least(counted.mails + excluded.mails, $5::integer)
   returning subject, mails - coalesce(old.mails, 0) as granted`,
)

/**
 * Counts mails to be sent, by what is capped, up to the cap: whoever counts the same meanwhile waits. Returns how many of each are granted.
 */
export const countMails = (
  db: Executor,
  day: string,
  kind: string,
  counts: readonly { readonly subject: string; readonly mails: number }[],
  cap: number,
): Promise<{ readonly subject: string; readonly granted: number }[]> =>
  db.query(
    take(
      day,
      kind,
      counts.map(({ subject }) => subject),
      counts.map(({ mails }) => mails),
      cap,
    ),
  )
