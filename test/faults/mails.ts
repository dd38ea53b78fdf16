import { setTimeout as delay } from 'node:timers/promises'
import type { Site } from '#test/faults/site.ts'
import type { MailServer } from '#test/platform/mail/smtp.ts'

/** Resolves once no mail is queued or being sent, or after a minute without a sent mail. */
export async function mailed({ db, org }: Site): Promise<void> {
  const waiting = `select count(*)::integer as count from outbox_mails where workspace_id = $1 and status in ('queued', 'sending')`
  let [left, since] = [Number.POSITIVE_INFINITY, performance.now()]
  while (left > 0 && performance.now() - since < 60_000) {
    const [row] = (await db.query<{ count: number }>(waiting, [org.id])).rows
    if ((row?.count ?? 0) < left) [left, since] = [row?.count ?? 0, performance.now()]
    await delay(500)
  }
}

/** A sent mail of these kinds arrived once, under its Message-ID; an uncertain one at most once; no other mail arrived. */
export async function wrongOfMails({ db, org }: Site, { taken }: MailServer, kinds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string; status: string }>(
    'select id, status from outbox_mails where workspace_id = $1 and kind = any($2)',
    [org.id, kinds],
  )
  const copies = Map.groupBy(taken, ({ mail }) => mail.messageId?.replace(/^<(.*)@.*$/, '$1') ?? '')
  const known = new Map(rows.map(({ id, status }) => [id, status]))
  return [
    ...rows.flatMap(({ id, status }) => {
      const count = copies.get(id)?.length ?? 0
      const isRight = status === 'sent' ? count === 1 : status === 'uncertain' && count <= 1
      return isRight ? [] : [`A mail that is ${status} arrived ${count} times`]
    }),
    ...[...copies.keys()].filter((id) => !known.has(id)).map((id) => `The server took ${id}, which is no mail`),
  ]
}
