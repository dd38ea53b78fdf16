import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase, Teardown } from '#test/faults/case.ts'
import type { Kind } from '#test/faults/load/kinds.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { mailed, wrongOfMails } from '#test/faults/mails.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { type Kept, makeUp, sendCut, wrongOf } from '#test/features/forms/cutting.ts'
import { type MailServer, startMailServer } from '#test/platform/mail/smtp.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { made } from '#test/support/made.ts'

const kills = 12

/** Sends a message for each submission. Its run may be interrupted; the record of the submission exists by then. */
const source = `async function handler({ submission_id, values }) {
  const to = submission_id + '@example.com'
  return sdk.messages.send({ connection_id: CONNECTION, to, subject: values.name, body_text: 'We have got it.' })
}`

/** Submissions of visitors; every second one is repeated until it is answered. */
const submissions =
  (path: string): Kind =>
  async ({ sender, promises, enough }) => {
    let count = 0
    return async () => {
      const name = `submitted ${randomUUID()}`
      const request = { method: 'POST', path, body: { values: { name } } }
      promises.ask(name)
      const { status } =
        count++ % 2 === 0
          ? await sender.once({ ...request, headers: fromAnywhere() })
          : await sender.persistently({ ...request, headers: { ...fromAnywhere(), 'idempotency-key': name } }, enough)
      if (status === 201) promises.acknowledge(name)
    }
  }

/** APIs and workers are killed in turn while visitors submit and their forms write records, run a function and send messages. */
export const formsKilled: FaultCase = {
  name: 'kill -9 of APIs and workers between a submission and its mail',
  limitSeconds: 300,
  run: async (t) => {
    const { site, server } = await openPostedSite(t)
    const form = await makeForm(site, server, 'locations')
    const load = await startLoad(site.org, site.apis, { mix: [{ kind: submissions(form.path), streams: 3, restMs: 120 }] })
    const members = [site.apis[0], site.workers[0], site.apis[1], site.workers[1]]
    for (let kill = 0; kill < kills; kill++) {
      await delay(randomInt(100, 500))
      const member = members[kill % members.length]
      await member?.kill()
      await member?.start()
    }
    const settled = await settleAccounts(site, load, kills, '')
    await mailed(site)
    const figures = { ...settled, note: `${server.taken.length} mails taken` }
    return {
      ...figures,
      wrong: [...figures.wrong, ...(await wrongOfSubmissions(site)), ...(await wrongOfMails(site, server, ['message']))],
    }
  },
}

const cutCount = 1_000
const atOnce = 20

/** Visitors' connections break after any byte of the request, or before the response. */
export const submissionsCut: FaultCase = {
  name: 'connections of submissions cut at any byte',
  limitSeconds: 180,
  run: async (t) => {
    const { site, server } = await openPostedSite(t)
    const form = await makeForm(site, server, null)
    const all = Array.from({ length: cutCount }, (_, index) => makeUp(index))
    const ports = site.apis.map(({ root }) => Number(new URL(root).port))
    for (let from = 0; from < all.length; from += atOnce) {
      await Promise.all(all.slice(from, from + atOnce).map((said, index) => sendCut(ports[index % ports.length] ?? 0, form.path, said)))
    }
    const keyed = all.filter(({ key }) => key !== '')
    let [acknowledged, slowestMs] = [0, 0]
    for (const { key, email, note } of keyed) {
      const began = performance.now()
      const headers = { ...fromAnywhere(), 'idempotency-key': key }
      const { status } = await site.org.owner.post(form.path, { values: { email, note } }, headers)
      slowestMs = Math.max(slowestMs, performance.now() - began)
      if (status === 201) acknowledged += 1
    }
    const { rows } = await site.db.query<Kept>('select "values" from form_submissions where form_id = $1', [form.id])
    const found = new Set(rows.map(({ values }) => values.email))
    return {
      faults: all.length,
      acknowledged,
      lost: keyed.filter(({ email }) => !found.has(email)).length,
      repeated: rows.length - found.size,
      hung: 0,
      failed: keyed.length - acknowledged,
      givenUp: 0,
      slowest: { ms: slowestMs, what: 'POST forms' },
      note: `${rows.length - keyed.length} of ${all.length - keyed.length} without a key were kept`,
      wrong: wrongOf(all, rows),
    }
  },
}

/** An installation whose workspaces may use a mail server on this machine, behind a proxy, so that each visitor has an address. */
async function openPostedSite(t: Teardown): Promise<{ readonly site: Site; readonly server: MailServer }> {
  const server = await startMailServer(t)
  const environment = { EGRESS_ALLOW: `127.0.0.1:${server.port}`, TRUST_PROXY: '1' }
  return { site: await openSite(t, { environment }), server }
}

/** A form that creates a record and sends a message by a function; without a type it only stores submissions. */
async function makeForm({ org }: Site, { port }: MailServer, type: string | null): Promise<{ readonly id: string; readonly path: string }> {
  const { owner, path, id: orgId } = org
  const policy = [{ effect: 'allow', actions: ['forms:submit'] }]
  await made(owner.post(`${path}/iam/groups`, { name: 'Visitors', policy, is_anonymous: true }))
  const connection = { name: 'Post', host: '127.0.0.1', port, from: 'shop@example.com' }
  const { id: connectionId } = await made(owner.post(`${path}/messages/connections`, connection))
  const text = source.replace('CONNECTION', JSON.stringify(connectionId))
  const { id: functionId } = await made(owner.post(`${path}/functions`, { name: 'Answer', source: text, timeout_ms: 20_000 }))
  const field = (key: string, kind: string) => ({ key, label: key, type: kind, required: true })
  const { id } = await made(
    owner.post(`${path}/forms`, {
      key: 'visit',
      name: 'Visit',
      published: true,
      fields: type === null ? [field('email', 'email'), field('note', 'text')] : [field('name', 'string')],
      ...(type === null ? {} : { target: { object_type: type }, function_id: functionId }),
    }),
  )
  return { id, path: `/forms/${orgId}/visit` }
}

/** Each submission is complete and has its own record. */
async function wrongOfSubmissions({ db, org }: Site): Promise<string[]> {
  const { rows } = await db.query<{ state: string; total: number; records: number; errors: string[] }>(
    `select state, count(*)::integer as total, count(distinct record_id)::integer as records, array_agg(distinct error) as errors
     from form_submissions where workspace_id = $1 group by state`,
    [org.id],
  )
  return rows.flatMap(({ state, total, records, errors }) => [
    ...(state === 'done' || state === 'failed' ? [] : [`${total} submissions are still ${state}`]),
    ...(records === total ? [] : [`${total} submissions that are ${state} have ${records} records: ${errors.join('; ')}`]),
  ])
}
