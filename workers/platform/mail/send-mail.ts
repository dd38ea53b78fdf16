import { firstRow } from '#shared/platform/db/database.ts'
import { setDue } from '#shared/platform/due/due-times.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import type { JobScope } from '#shared/platform/jobs/job-scope.ts'
import { type WorkKind, waitsForWorkspace } from '#shared/platform/kernel/background.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'
import type { DeliveryOutcome } from '#shared/platform/mail/delivery-outcome.ts'
import { jobOfMail, sendAccountMailJob, sendMailJob } from '#shared/platform/mail/jobs.ts'
import { type MailStatus, messageKind } from '#shared/platform/mail/mail.ts'
import { mailAttempts, mailSeconds } from '#shared/platform/mail/metrics.ts'
import {
  completeMail,
  findMail,
  markMailUncertain,
  type OutboxMail,
  recordMailFailure,
  recordMailWait,
  takeMail,
} from '#shared/platform/mail/store.ts'
import { defineJobHandler, LoggedFailure, type Run } from '#workers/platform/jobs/handler.ts'
import { composeMail } from '#workers/platform/mail/compose.ts'
import { saveMailToFolder } from '#workers/platform/mail/mail-folder.ts'
import { logFields, MailServers } from '#workers/platform/mail/mail-servers.ts'
import { deliverMail } from '#workers/platform/mail/smtp.ts'
import { type FindConnectionTransport, type MailTransport, operatorTransport } from '#workers/platform/mail/transports.ts'

/** Delay in milliseconds before the second and last attempt for an uncertain mail. */
const secondAttemptDelayMs = 15 * minuteMs

/** Delay in milliseconds before a mail of a restored copy is looked at again. */
const heldDelayMs = minuteMs

/** Statuses from which a mail is sent; `failed` when `kontor jobs retry` runs it after its last attempt. */
const sendableStatuses: readonly MailStatus[] = ['queued', 'failed']

/**
 * The handlers of both jobs that send a mail of the outbox. The status `sending` is committed before a server gets the mail, so an attempt
 * that finds it follows one that died while sending: the server may have the mail, under the Message-ID that a repetition uses too.
 */
export function createSendMailHandlers(findConnectionTransport: FindConnectionTransport) {
  const servers = new MailServers()
  const run: Run<{ mailId: string }, null, JobScope> = async ({ payload, scope, signal, mayWait }) => {
    const mail = await firstRow(scope.db, findMail({ id: payload.mailId }))
    if (!mail) return { result: null }
    const { workspace_id, connection_id } = mail
    const isOperators = connection_id === null || workspace_id === null
    const transport = isOperators ? operatorTransport(scope) : await findConnectionTransport(scope, workspace_id, connection_id)
    await send({ scope, mail, servers, signal, mayWait }, transport)
    return { result: null }
  }
  return { sendMail: defineJobHandler(sendMailJob, run), sendAccountMail: defineJobHandler(sendAccountMailJob, run) }
}

/** Messages of a suspended workspace wait; invitations, confirmations and the like complete work in progress and are sent. */
const workOf = ({ kind }: OutboxMail): WorkKind => (kind === messageKind ? 'due' : 'upkeep')

/** An attempt to send a mail. */
interface Sending {
  readonly scope: JobScope
  readonly mail: OutboxMail
  readonly servers: MailServers
  readonly signal: AbortSignal
  /** Whether the mail may wait for the operator's server without an attempt. */
  readonly mayWait: boolean
}

async function send(sending: Sending, transport: MailTransport | undefined): Promise<void> {
  const { scope, mail, signal } = sending
  if (mail.status === 'sending' && transport?.kind === 'server')
    return recordUncertain(scope, mail, 'The worker died while sending the mail')
  if (mail.is_erased || mail.second_try || !['sending', 'uncertain', ...sendableStatuses].includes(mail.status)) return
  if (mail.is_suspended && waitsForWorkspace(workOf(mail))) return postpone(scope, mail, 0)
  if (await scope.egress.isHeld()) return postpone(scope, mail, heldDelayMs)
  if (!transport) return completeSending(scope, mail, 'failed', 'The connection of the mail has been deleted')
  let isTaken = false
  const begin = async () => {
    const from = mail.status === 'uncertain' || mail.status === 'sending' ? [mail.status] : sendableStatuses
    isTaken = (await firstRow(scope.db, takeMail({ id: mail.id, from })))?.status === 'sending'
    return isTaken
  }
  const outcome = await deliver(scope, mail, transport, signal, begin)
  if (!outcome) return
  await recordOutcome(sending, transport, isTaken, outcome)
}

async function deliver(
  { config }: JobScope,
  mail: OutboxMail,
  transport: MailTransport,
  signal: AbortSignal,
  begin: () => Promise<boolean>,
): Promise<DeliveryOutcome | undefined> {
  const composed = await composeMail(mail, transport, config.publicUrl)
  if (transport.kind === 'server') return deliverMail(transport.server, new URL(config.publicUrl).hostname, composed, signal, begin)
  if (!(await begin())) return undefined
  await saveMailToFolder(config, mail, composed)
  return { kind: 'sent' }
}

/** Saves the result of an attempt. Throws where the job queue should retry, with its increasing delay, or wait for the operator's server. */
async function recordOutcome(sending: Sending, transport: MailTransport, isTaken: boolean, outcome: DeliveryOutcome): Promise<void> {
  const { scope, mail, servers, signal, mayWait } = sending
  // A worker that stops breaks its connections itself.
  const isAway = outcome.kind === 'later' && outcome.isAway && !signal.aborted
  if (isAway) servers.failed(scope, mail, transport, outcome)
  if (isAway && mail.connection_id === null && mayWait) return waitForServer(scope, mail, outcome.error)
  if (outcome.kind === 'sent') {
    await completeSending(scope, mail, 'sent', null)
    return servers.succeeded(scope, mail)
  }
  if (outcome.kind === 'uncertain') return recordUncertain(scope, mail, outcome.error)
  // When the second attempt for an uncertain mail fails before it reaches a server, the first one may still have arrived.
  const isConclusive = outcome.kind === 'final' && (isTaken || mail.status !== 'uncertain')
  if (isConclusive) return completeSending(scope, mail, outcome.status, outcome.error)
  const status = await recordMailFailure(scope.db, mail.id, outcome.error, isAway)
  if (status === 'failed') wakeAfterOutcome(scope, mail)
  if (status) mailAttempts.inc({ kind: mail.kind, outcome: status === 'queued' ? 'later' : status })
  if (status !== 'queued' && status !== 'failed') return
  // The absence of a server has been logged once for all of its mails.
  if (!isAway) scope.log.warn({ ...logFields(mail, transport), error: outcome.error, status }, 'mail not taken')
  throw new LoggedFailure(outcome.error)
}

async function waitForServer({ db, parts }: JobScope, mail: OutboxMail, error: string): Promise<never> {
  await recordMailWait(db, mail.id, error)
  mailAttempts.inc({ kind: mail.kind, outcome: 'later' })
  throw problem('UNAVAILABLE', `The mail server is away: ${error}`, { part: parts.mailServer, expected: true })
}

async function completeSending(
  scope: JobScope,
  mail: OutboxMail,
  status: 'sent' | 'failed' | 'bounced',
  error: string | null,
): Promise<void> {
  const { db, now } = scope
  await completeMail(db, mail.id, status, error, now())
  wakeAfterOutcome(scope, mail)
  mailAttempts.inc({ kind: mail.kind, outcome: status })
  if (status === 'sent') mailSeconds.observe({ kind: mail.kind }, (now().getTime() - Date.parse(mail.created_at)) / 1_000)
}

/** Outcomes of messages are in the list of events of their workspace. */
function wakeAfterOutcome({ db, jobQueue }: JobScope, { kind, workspace_id }: OutboxMail): void {
  if (kind === messageKind && workspace_id !== null) wakeNumbering({ db, jobQueue, workspace: { id: workspace_id } }, 'soon')
}

async function recordUncertain(scope: JobScope, mail: OutboxMail, reason: string): Promise<void> {
  await scope.db.transaction(async (tx) => {
    if (await markMailUncertain(tx, mail.id, reason)) await postpone({ ...scope, db: tx }, mail, secondAttemptDelayMs)
  })
  mailAttempts.inc({ kind: mail.kind, outcome: 'uncertain' })
}

const postpone = ({ db, now }: JobScope, mail: OutboxMail, ms: number): Promise<void> =>
  setDue(db, jobOfMail(mail.kind).due, mail.workspace_id, [{ subject: mail.id, at: new Date(now().getTime() + ms) }])
