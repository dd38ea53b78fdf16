import { oldRows } from '#shared/db/old-rows.ts'

/** Mail that went out, by the index of when it was written, which was before. */
export const mailChores = [
  oldRows('sweep_sent_mail', {
    table: 'outbox_mails',
    old: `status = 'sent' and sent_at < $1 and created_at < $1`,
    by: 'created_at',
    keptDays: 30,
    everyMinutes: 60,
  }),
]
