import { setDue } from '#shared/due/due.ts'
import { type Work, waitsForWorkspace } from '#shared/kernel/background.ts'
import { mailDue, sendMail } from '#shared/mail/jobs.ts'
import { type MailStatus, messageKind } from '#shared/mail/mail.ts'
import type { Outcome, RelayRefusal } from '#shared/mail/outcome.ts'
import { findMail, noteFailure, noteUncertain, type OutboxMail, settleMail, takeMail } from '#shared/mail/store.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'
import { platformHandler } from '#workers/handler.ts'
import { compose } from '#workers/mail/compose.ts'
import { keepInFolder } from '#workers/mail/folder.ts'
import { handOver } from '#workers/mail/smtp.ts'
import { type Way, wayOf } from '#workers/mail/ways.ts'
import { mailSeconds, mailTries, relayRefusals } from '#workers/metrics.ts'

/** A mail of which nobody knows whether the server has it is tried once more after so long. */
const secondTryMs = 15 * 60_000

/** Statuses from which a mail is sent; `failed` by `kontor jobs retry`, after its last try. */
const waiting: readonly MailStatus[] = ['queued', 'failed']

/**
 * Sends a mail of the outbox. Its status is committed as `sending` before a server gets it, so an attempt that finds it so follows one that
 * died in the midst of it: the server may have the mail, under the Message-ID that it will have again.
 */
export default platformHandler(sendMail, async ({ payload, scope, signal }) => {
  const mail = await findMail(scope.db, payload.mailId)
  if (mail) await send(scope, mail, signal)
  return { result: null }
})

/** What a workspace writes itself waits; invitations, confirmations and the like carry through what was begun. */
const workOf = ({ kind }: OutboxMail): Work => (kind === messageKind ? 'due' : 'upkeep')

async function send(scope: PlatformScope, mail: OutboxMail, signal: AbortSignal): Promise<void> {
  const way = await wayOf(scope, mail)
  if (mail.status === 'sending' && way?.kind === 'server') return doubt(scope, mail, 'The worker that was sending it died')
  if (mail.is_erased || mail.second_try || !['sending', 'uncertain', ...waiting].includes(mail.status)) return
  if (mail.is_suspended && waitsForWorkspace(workOf(mail))) return postpone(scope, mail, 0)
  if (!way) return end(scope, mail, 'failed', 'Its connection has been deleted')
  let isTaken = false
  const begin = async () => {
    const from = mail.status === 'uncertain' || mail.status === 'sending' ? [mail.status] : waiting
    isTaken = (await takeMail(scope.db, mail.id, from)) === 'sending'
    return isTaken
  }
  const outcome = await goOut(scope, mail, way, signal, begin)
  if (outcome?.kind === 'later' && outcome.refusal) warnOfRefusal(scope, mail, way, outcome.refusal, outcome.error)
  if (outcome) await note(scope, mail, isTaken, outcome)
}

async function goOut(
  { config }: PlatformScope,
  mail: OutboxMail,
  way: Way,
  signal: AbortSignal,
  begin: () => Promise<boolean>,
): Promise<Outcome | undefined> {
  const composed = await compose(mail, way, config.publicUrl)
  if (way.kind === 'server') return handOver(way.server, new URL(config.publicUrl).hostname, composed, signal, begin)
  if (!(await begin())) return undefined
  await keepInFolder(config, mail, composed)
  return { kind: 'sent' }
}

/** Logs and counts a relay's refusal of this client, which delays all mail by that relay. */
function warnOfRefusal({ log }: PlatformScope, mail: OutboxMail, way: Way, reason: RelayRefusal, error: string): void {
  const relay = mail.connection_id === null ? 'operator' : 'connection'
  relayRefusals.inc({ relay, reason })
  log.warn(
    {
      ...{ relay, reason, error, host: way.kind === 'server' ? way.server.host : undefined },
      ...{ mail_id: mail.id, workspace_id: mail.workspace_id, connection_id: mail.connection_id },
    },
    'mail relay refuses this client',
  )
}

/** Writes down what came of a try. Throws where the queue is to try again, in its own growing time. */
async function note(scope: PlatformScope, mail: OutboxMail, isTaken: boolean, outcome: Outcome): Promise<void> {
  if (outcome.kind === 'sent') return end(scope, mail, 'sent', null)
  if (outcome.kind === 'uncertain') return doubt(scope, mail, outcome.error)
  // What keeps a second try from being begun says nothing of the first.
  const isVerdict = outcome.kind === 'final' && (isTaken || mail.status !== 'uncertain')
  if (isVerdict) return end(scope, mail, outcome.status, outcome.error)
  const status = await noteFailure(scope.db, mail.id, outcome.error)
  if (status) mailTries.inc({ kind: mail.kind, outcome: status === 'queued' ? 'later' : status })
  if (status === 'queued' || status === 'failed') throw new Error(outcome.error)
}

async function end(
  { db, now }: PlatformScope,
  mail: OutboxMail,
  status: 'sent' | 'failed' | 'bounced',
  error: string | null,
): Promise<void> {
  await settleMail(db, mail.id, status, error, now())
  mailTries.inc({ kind: mail.kind, outcome: status })
  if (status === 'sent') mailSeconds.observe({ kind: mail.kind }, (now().getTime() - Date.parse(mail.created_at)) / 1_000)
}

async function doubt(scope: PlatformScope, mail: OutboxMail, reason: string): Promise<void> {
  await scope.db.transaction(async (tx) => {
    if (await noteUncertain(tx, mail.id, reason)) await postpone({ ...scope, db: tx }, mail, secondTryMs)
  })
  mailTries.inc({ kind: mail.kind, outcome: 'uncertain' })
}

const postpone = ({ db, now }: PlatformScope, mail: OutboxMail, ms: number): Promise<void> =>
  setDue(db, mailDue, mail.workspace_id, [{ subject: mail.id, at: new Date(now().getTime() + ms) }])
