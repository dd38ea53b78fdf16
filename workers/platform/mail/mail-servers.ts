import type { JobScope } from '#shared/platform/jobs/job-scope.ts'
import { endPartWaits } from '#shared/platform/jobs/pgboss/part-waits.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { Part } from '#shared/platform/kernel/process/part.ts'
import type { DeliveryOutcome } from '#shared/platform/mail/delivery-outcome.ts'
import { sendMailJob } from '#shared/platform/mail/jobs.ts'
import { relayRefusals } from '#shared/platform/mail/metrics.ts'
import { type OutboxMail, releaseMails } from '#shared/platform/mail/store.ts'
import type { MailTransport } from '#workers/platform/mail/transports.ts'

/** The most servers of workspaces whose absence is remembered; beyond it the oldest is logged a second time. */
const maxServers = 1_000

/** Fields of a log line by which a mail and its server are found. */
export const logFields = (mail: OutboxMail, transport: MailTransport) => ({
  mail_id: mail.id,
  workspace_id: mail.workspace_id,
  connection_id: mail.connection_id,
  host: transport.kind === 'server' ? transport.server.host : undefined,
})

/** Notes which mail servers are away, each with one line in the log, and lets waiting mails follow when one is back. */
export class MailServers {
  /** The servers of connections that this process found away. */
  readonly #away = new Map<string, Part>()

  /** A server did not take a mail as it would not have taken any. */
  failed(
    { log, parts }: JobScope,
    mail: OutboxMail,
    transport: MailTransport,
    outcome: DeliveryOutcome & { readonly kind: 'later' },
  ): void {
    const { connection_id: id } = mail
    const { error, refusal } = outcome
    if (refusal) relayRefusals.inc({ relay: id === null ? 'operator' : 'connection', reason: refusal })
    const reason = refusal ? `${error} (${refusal})` : error
    const known = id === null ? parts.mailServer : this.#away.get(id)
    const server = known ?? new Part('mail server', quieter(log.child({ relay: 'connection', ...logFields(mail, transport) })))
    server.failed(new Error(reason))
    if (id !== null) this.#away.set(id, server)
    const [oldest] = this.#away.keys()
    if (this.#away.size > maxServers && oldest) this.#away.delete(oldest)
  }

  /** A server took a mail: those that wait for it become due. */
  async succeeded({ db, jobQueue, parts }: JobScope, { workspace_id, connection_id: id }: OutboxMail): Promise<void> {
    if (id === null) {
      const wasAway = !parts.mailServer.isUp
      parts.mailServer.succeeded()
      if (!wasAway) return
      for (const queue of await endPartWaits(db, parts.mailServer.name)) jobQueue.signals.signalJobs(queue)
      return
    }
    this.#away.get(id)?.succeeded()
    this.#away.delete(id)
    // Also when another worker found it away.
    if (await releaseMails(db, workspace_id ?? '', id)) jobQueue.signals.signalJobs(sendMailJob.name)
  }
}

/** A server of a workspace is not the operator's to mend, so its lines are one level lower. */
const quieter = (log: Logger): Pick<Logger, 'error' | 'warn'> => ({ error: log.warn.bind(log), warn: log.info.bind(log) })
