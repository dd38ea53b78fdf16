import type { AddressInfo } from 'node:net'
import { createTransport } from 'nodemailer'
import { SMTPServer } from 'smtp-server'
import type { Bench, Group, Side } from '#bench/case.ts'
import { openDatabase } from '#bench/jobs/database.ts'
import { drained } from '#bench/jobs/drain.ts'
import { forgetMails, mailed, putMails } from '#bench/jobs/mails.ts'
import { whileRunning } from '#bench/servers/start.ts'
import { sendMailJob } from '#shared/platform/mail/jobs.ts'

/** Mails of the throughput case, and waiting mails of the noisy workspace. */
const [count, waiting] = [1_000, 10_000]

/** Mails from the outbox to a server on this machine, compared with nodemailer alone on as many connections. */
export const messages: Group = {
  name: 'messages',
  cases: async (bench) => {
    const db = openDatabase(bench)
    const port = await startMailServer(bench)
    const workspaces = bench.loaded.neighbours.map(({ workspaceId }) => workspaceId)
    const [noisy = '', quiet = ''] = workspaces
    const withWorker = <T>(work: () => Promise<T>): Promise<T> => {
      const environment = { ...bench.environment, SMTP_URL: `smtp://127.0.0.1:${port}` }
      return whileRunning(work, 'worker', environment, ['--pools=mail']).finally(() => forgetMails(db))
    }
    const floor = async (): Promise<Side> => {
      const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
      let left = count
      const started = performance.now()
      const client = async () => {
        while (left-- > 0)
          await transport.sendMail({ from: 'a@example.com', to: 'ann@example.com', subject: 'Your order', text: 'It is on its way.' })
      }
      await Promise.all(Array.from({ length: sendMailJob.concurrency }, client))
      return { amount: (count * 1_000) / (performance.now() - started) }
    }
    const rate = async (): Promise<Side> => {
      await forgetMails(db)
      await putMails(db, workspaces, count)
      return withWorker(async () => ({ amount: await drained(db, sendMailJob.name, count) }))
    }
    const beside = async (): Promise<Side> => {
      await putMails(db, [noisy], waiting)
      return withWorker(async () => {
        const started = performance.now()
        await putMails(db, [quiet], 1)
        await mailed(db, quiet)
        return { p50Ms: performance.now() - started }
      })
    }
    return [
      { name: `${count.toLocaleString('en')} mails of ${workspaces.length} workspaces`, unit: 'mails/s', floor, kontor: rate },
      { name: `a mail beside ${waiting.toLocaleString('en')}`, unit: 'ms', kontor: beside, rounds: 1, aims: { p50AtMostMs: 5_000 } },
    ]
  },
}

/** A mail server that accepts everything, until the group's cases are measured. */
async function startMailServer({ atEnd }: Bench): Promise<number> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, _session, done) => void stream.on('data', () => undefined).on('end', done),
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => new Promise((resolve) => server.close(() => resolve())))
  return (server.server.address() as AddressInfo).port
}
