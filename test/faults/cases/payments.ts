import { setTimeout as delay } from 'node:timers/promises'
import { drain } from '#test/faults/accounts.ts'
import type { FaultCase, Figures } from '#test/faults/case.ts'
import { nothingPaid, type Paid, payUntil } from '#test/faults/payments/payers.ts'
import { replayUntil } from '#test/faults/payments/replays.ts'
import { startRetryingProxy } from '#test/faults/retrying-proxy.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { connect } from '#test/features/payments/place.ts'
import { eventually } from '#test/support/eventually.ts'

const payers = 6
const kills = 12
/** The minimum of paid links. */
const fewest = 100

/**
 * Payers pay links of the sandbox while an API, a worker and the database are killed in turn and events are delivered repeatedly. In the
 * end each link is paid once, by one payments record and one ledger entry that a flow posts, and reconcile finds no difference.
 */
export const paymentsKilled: FaultCase = {
  name: 'payments, kill -9 of APIs, workers and the database',
  limitSeconds: 300,
  run: async (t) => {
    const roots: string[] = []
    const { root } = await startRetryingProxy(t, roots)
    const site = await openSite(t, { environment: { PUBLIC_URL: root, TRUST_PROXY: '1' } })
    roots.push(...site.apis.map(({ root }) => root))
    const connectionId = await connect(site.org, 'sandbox')
    await bookPayments(site)
    const paid = nothingPaid()
    let killed = 0
    const isOver = () => killed >= kills && paid.links.size >= fewest
    const paying = Array.from({ length: payers }, () => payUntil(isOver, site, connectionId, paid))
    const replaying = replayUntil(isOver, site, connectionId)
    for (; killed < kills; killed++) {
      await delay(300 + Math.random() * 700)
      await faults[killed % faults.length]?.(site, killed)
    }
    await Promise.all(paying)
    const replays = await replaying
    const left = await drain(site)
    await sweep(site)
    left.push(...(await drain(site)))
    return { ...(await settle(site, paid, left)), note: `${replays} deliveries of events that were known` }
  },
}

const faults: readonly ((site: Site, time: number) => Promise<unknown>)[] = [
  async ({ apis }, time) => {
    const api = apis[time % apis.length]
    await api?.kill()
    await api?.start()
  },
  async ({ workers }, time) => {
    const worker = workers[time % workers.length]
    await worker?.kill()
    await worker?.start()
  },
  async ({ cluster, apis, workers }) => {
    await cluster.crash('SIGKILL')
    await Promise.all([...apis, ...workers].map(({ back }) => back()))
  },
]

/** A flow that posts an entry for every payment. */
async function bookPayments({ org: { owner, path } }: Site): Promise<void> {
  const account = async (code: string) => (await owner.post(`${path}/records/accounts`, { values: { code, name: code } })).data.id
  const amount = '{{trigger.record.amount.amount}}'
  const lines = [
    { account_id: await account('bank'), debit: amount },
    { account_id: await account('sales'), credit: amount },
  ]
  const entry = { memo: 'Payment', source_type: 'payment', source_id: '{{trigger.record_id}}', lines }
  const position = { x: 0, y: 0 }
  const { status, data, text } = await owner.post(`${path}/flows`, {
    name: 'Book payments',
    enabled: true,
    nodes: [
      { id: 'paid', type: 'trigger.record_event', config: { object_type: 'payments', event: 'created' }, position },
      { id: 'book', type: 'action.post_entry', config: entry, position },
    ],
    edges: [{ id: 'edge', source: 'paid', source_handle: 'out', target: 'book' }],
  })
  if (status !== 201 || !data.enabled) throw new Error(text)
}

/** Lets Kontor read all payments of the provider again. */
async function sweep({ db, org }: Site): Promise<void> {
  const asked = 'select polled_until > $2 as is_done from payment_sweeps where workspace_id = $1'
  const began = new Date()
  await db.query('delete from payment_sweeps where workspace_id = $1', [org.id])
  await db.query(`update due_work set at = 'epoch' where workspace_id = $1 and kind = 'payments.sweep'`, [org.id])
  await eventually(async () => (await db.query(asked, [org.id, began])).rows[0]?.is_done === true)
}

/** Compares the confirmed payments with links, payments records, the ledger and the result of reconcile. */
async function settle(site: Site, paid: Paid, left: readonly string[]): Promise<Figures> {
  const { owner, path } = site.org
  const records = await allOf<{ id: string; values: { link_id: string } }>(
    async (offset) => (await owner.get(`${path}/records/payments?limit=200&offset=${offset}`)).data.records,
  )
  const entries = await allOf<{ source_id: string }>(
    async (offset) => (await owner.get(`${path}/accounting/entries?limit=200&offset=${offset}`)).data.entries,
  )
  const byLink = Map.groupBy(records, ({ values }) => values.link_id)
  const byRecord = Map.groupBy(entries, ({ source_id }) => source_id)
  const { ok, breaks } = (await owner.get(`${path}/payments/reconcile`)).data
  const { links } = (await owner.get(`${path}/payments/overview`)).data
  const notices = (await owner.get(`${path}/notifications`)).data.notifications.length
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  const missing = [...paid.links].filter((id) => !byLink.get(id)?.every((record) => byRecord.has(record.id)))
  return {
    faults: kills,
    acknowledged: paid.links.size,
    lost: missing.length,
    repeated: sum([...byLink.values(), ...byRecord.values()].map(({ length }) => length - 1)),
    hung: paid.hung,
    failed: paid.failed,
    givenUp: 0,
    slowest: { ms: paid.slowestMs, what: 'a request of a payer' },
    wrong: [
      ...paid.wrong,
      ...left,
      ...(ok ? [] : [`Reconcile finds ${JSON.stringify(breaks.slice(0, 3))}`]),
      ...(links.paid === records.length ? [] : [`${links.paid} links are paid by ${records.length} payments records`]),
      ...(notices === 0 ? [] : [`${notices} notices of payments that came late or twice`]),
    ],
  }
}

/** All things of a paged list. */
async function allOf<T>(list: (offset: number) => Promise<T[]>): Promise<T[]> {
  const found: T[] = []
  for (let page = await list(0); page.length > 0; page = await list(found.length)) found.push(...page)
  return found
}
