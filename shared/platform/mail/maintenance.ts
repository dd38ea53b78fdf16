import { type CleanupServices, defineCleanup } from '#shared/platform/db/old-rows.ts'
import { countEverySeconds, type MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { storeMailCounts } from '#shared/platform/mail/counts-store.ts'
import { messageKind } from '#shared/platform/mail/mail.ts'
import { forgetMessageTexts } from '#shared/platform/mail/store.ts'

/** Days for which the text of messages is kept (docs/contract/messages.md#retention-of-texts). */
const textDays = 30
const batch = 500

const messageTexts: MaintenanceTask<CleanupServices> = {
  name: 'forget_message_texts',
  everySeconds: 3_600,
  run: async (sweeper, signal) => {
    const before = new Date(sweeper.now().getTime() - textDays * dayMs)
    for (let erasedCount = batch; erasedCount === batch; ) {
      signal.throwIfAborted()
      erasedCount = await forgetMessageTexts(sweeper.db, before, batch)
    }
  },
}

/** Deletes sent mail after 30 days, using the index on `created_at`, and the text of messages. The rows of messages are kept as history. */
export const mailMaintenance = [
  { name: 'counts of mails', everySeconds: countEverySeconds, run: ({ db }: CleanupServices) => storeMailCounts(db) },
  defineCleanup('sweep_sent_mail', {
    table: 'outbox_mails',
    old: `kind <> '${messageKind}' and status = 'sent' and sent_at < $before and created_at < $before`,
    by: 'created_at',
    keptDays: 30,
    everyMinutes: 60,
  }),
  messageTexts,
]
