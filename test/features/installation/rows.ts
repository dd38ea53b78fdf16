import type { Db } from '#test/support/rows.ts'

/** Adds a mail of the outbox with this status, written at this time. */
export async function addMail(db: Db, status: string, createdAt: Date): Promise<void> {
  await db.query(
    `insert into outbox_mails (id, kind, recipient, subject, body_text, status, created_at)
     values (gen_random_uuid(), 'reset', 'ada@example.com', 'made', 'made', $1, $2)`,
    [status, createdAt],
  )
}

/** Marks the rows of kept counts; the returned function tells how many have been written since. */
export async function watchCounts(db: Db): Promise<() => Promise<number>> {
  const versions = async () => {
    const { rows } = await db.query<{ version: string }>(
      'select xmin::text || ctid::text as version from job_counts union all select xmin::text || ctid::text from mail_counts',
    )
    return rows.map(({ version }) => version)
  }
  const before = new Set(await versions())
  return async () => (await versions()).filter((version) => !before.has(version)).length
}

/** Hides the table that the overview reads of mails; the returned function brings it back. */
export async function hideMailCounts(db: Db): Promise<() => Promise<void>> {
  await db.query('alter table mail_counts rename to hidden_counts')
  return async () => {
    await db.query('alter table hidden_counts rename to mail_counts')
  }
}
