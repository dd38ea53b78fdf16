import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { setDue } from '#shared/platform/due/due-times.ts'
import { type Work, waitsForWorkspace } from '#shared/platform/kernel/background.ts'
import type { Outcome, RelayRefusal } from '#shared/platform/mail/delivery-outcome.ts'
import { mailDue, sendMail } from '#shared/platform/mail/jobs.ts'
import { type MailStatus, messageKind } from '#shared/platform/mail/mail.ts'
import { findMail, noteFailure, noteUncertain, type OutboxMail, settleMail, takeMail } from '#shared/platform/mail/store.ts'
import { mailSeconds, mailTries, relayRefusals } from '#workers/metrics.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'
import { compose } from '#workers/platform/mail/compose.ts'
import { keepInFolder } from '#workers/platform/mail/mail-folder.ts'
import { handOver } from '#workers/platform/mail/smtp.ts'
import { type Way, wayOf } from '#workers/platform/mail/transports.ts'

/** Delay in milliseconds before the one further attempt for an uncertain mail. */
const secondAttemptDelayMs = 15 * 60_000

/** Statuses from which a mail is sent; `failed` when `kontor jobs retry` runs it after its last attempt. */
const sendableStatuses: readonly MailStatus[] = ['queued', 'failed']

/**
 * Sends a mail of the outbox. The status `sending` is committed before a server gets the mail, so an attempt that finds it follows one that
 * died while sending: the server may have the mail, under the Message-ID that a repetition uses too.
 */
export default platformHandler(sendMail, async ({ payload, scope, signal }) => {
  const mail = await findMail(scope.db, payload.mailId)
  if (mail) await send(scope, mail, signal)
  return { result: null }
})

/** Messages of a suspended workspace wait; invitations, confirmations and the like complete work in progress and are sent. */
const workOf = ({ kind }: OutboxMail): Work => (kind === messageKind ? 'due' : 'upkeep')

async function send(scope: PlatformScope, mail: OutboxMail, signal: AbortSignal): Promise<void> {
  const transport = await wayOf(scope, mail)
  if (mail.status === 'sending' && transport?.kind === 'server') return recordUncertain(scope, mail, 'The worker died while sending it')
  if (mail.is_erased || mail.second_try || !['sending', 'uncertain', ...sendableStatuses].includes(mail.status)) return
  if (mail.is_suspended && waitsForWorkspace(workOf(mail))) return postpone(scope, mail, 0)
  if (!transport) return completeSending(scope, mail, 'failed', 'Its connection has been deleted')
  let isTaken = false
  const begin = async () => {
    const from = mail.status === 'uncertain' || mail.status === 'sending' ? [mail.status] : sendableStatuses
    isTaken = (await takeMail(scope.db, mail.id, from)) === 'sending'
    return isTaken
  }
  const outcome = await deliver(scope, mail, transport, signal, begin)
  if (outcome?.kind === 'later' && outcome.refusal) warnOfRefusal(scope, mail, transport, outcome.refusal, outcome.error)
  if (outcome) await recordOutcome(scope, mail, isTaken, outcome)
}

async function deliver(
  { config }: PlatformScope,
  mail: OutboxMail,
  transport: Way,
  signal: AbortSignal,
  begin: () => Promise<boolean>,
): Promise<Outcome | undefined> {
  const composed = await compose(mail, transport, config.publicUrl)
  if (transport.kind === 'server') return handOver(transport.server, new URL(config.publicUrl).hostname, composed, signal, begin)
  if (!(await begin())) return undefined
  await keepInFolder(config, mail, composed)
  return { kind: 'sent' }
}

/** Logs and counts a relay's refusal of this client, which delays all mail by that relay. */
function warnOfRefusal({ log }: PlatformScope, mail: OutboxMail, transport: Way, reason: RelayRefusal, error: string): void {
  const relay = mail.connection_id === null ? 'operator' : 'connection'
  relayRefusals.inc({ relay, reason })
  log.warn(
    {
      ...{ relay, reason, error, host: transport.kind === 'server' ? transport.server.host : undefined },
      ...{ mail_id: mail.id, workspace_id: mail.workspace_id, connection_id: mail.connection_id },
    },
    'mail relay refuses this client',
  )
}

/** Saves the result of an attempt. Throws where the job queue should retry, with its increasing delay. */
async function recordOutcome(scope: PlatformScope, mail: OutboxMail, isTaken: boolean, outcome: Outcome): Promise<void> {
  if (outcome.kind === 'sent') return completeSending(scope, mail, 'sent', null)
  if (outcome.kind === 'uncertain') return recordUncertain(scope, mail, outcome.error)
  // A failure before the second attempt reached a server says nothing about the first attempt.
  const isConclusive = outcome.kind === 'final' && (isTaken || mail.status !== 'uncertain')
  if (isConclusive) return completeSending(scope, mail, outcome.status, outcome.error)
  const status = await noteFailure(scope.db, mail.id, outcome.error)
  if (status) mailTries.inc({ kind: mail.kind, outcome: status === 'queued' ? 'later' : status })
  if (status === 'queued' || status === 'failed') throw new Error(outcome.error)
}

async function completeSending(
  { db, now }: PlatformScope,
  mail: OutboxMail,
  status: 'sent' | 'failed' | 'bounced',
  error: string | null,
): Promise<void> {
  await settleMail(db, mail.id, status, error, now())
  mailTries.inc({ kind: mail.kind, outcome: status })
  if (status === 'sent') mailSeconds.observe({ kind: mail.kind }, (now().getTime() - Date.parse(mail.created_at)) / 1_000)
}

async function recordUncertain(scope: PlatformScope, mail: OutboxMail, reason: string): Promise<void> {
  await scope.db.transaction(async (tx) => {
    if (await noteUncertain(tx, mail.id, reason)) await postpone({ ...scope, db: tx }, mail, secondAttemptDelayMs)
  })
  mailTries.inc({ kind: mail.kind, outcome: 'uncertain' })
}

const postpone = ({ db, now }: PlatformScope, mail: OutboxMail, ms: number): Promise<void> =>
  setDue(db, mailDue, mail.workspace_id, [{ subject: mail.id, at: new Date(now().getTime() + ms) }])
