import { setTimeout as delay } from 'node:timers/promises'
import type { Call, Client } from '#bench/soak/client.ts'
import type { Ledger, Place } from '#bench/soak/ledger.ts'

/** Records in each workspace before the run. */
export const firstRecords = 2_000
const batchSize = 500

/** Makes a workspace with its first records. */
export async function makePlace(client: Client, ledger: Ledger, name: string): Promise<Place> {
  const ask = async (method: Call['method'], path: string, body: object) => {
    let reply = await client.send({ method, path, body: JSON.stringify(body) })
    // A new workspace is being set up for a moment.
    while (reply.status === 503) {
      await delay(50)
      reply = await client.send({ method, path, body: JSON.stringify(body) })
    }
    const { status, text, failure } = reply
    if (status < 200 || status > 299) throw new Error(`${method} ${path} answered ${status}: ${failure ?? text}`)
    return text === '' ? undefined : JSON.parse(text).data
  }
  const { id }: Made = await ask('POST', '/v1/orgs', { name })
  const org = `/v1/orgs/${id}`
  await ask('POST', `${org}/types`, { key: 'orders', label: 'Orders' })
  const fields = new Map<string, string>()
  for (const [key, type] of Object.entries(fieldTypes)) {
    const made: Made = await ask('POST', `${org}/fields`, { entity_type: 'orders', key, label: key, type })
    fields.set(key, made.id)
  }
  await ask('PUT', `${org}/fields/${fields.get('number')}/autogen`, { pattern: 'O-{yyyy}-{seq:6}' })
  await ask('PUT', `${org}/fields/${fields.get('total')}/formula`, { formula: 'ROUND(price * count * 1.19, 2)' })
  await ask('POST', `${org}/notification-rules`, { name: 'New', object_type: 'orders', event: 'created', title: 'A new order' })
  const work = async (source: string) => ((await ask('POST', `${org}/functions`, { name: 'soak', source })) as Made).id
  const place: Place = {
    id,
    org,
    orders: `${org}/records/orders`,
    maker: `${org}/functions/${await work(maker)}/invoke`,
    waiter: `${org}/functions/${await work(waiter)}/invoke`,
    ids: [],
    doomed: [],
    busy: new Set(),
  }
  for (let done = 0; done < firstRecords; done += batchSize) {
    const expected = Array.from({ length: batchSize }, () => ledger.expect(place, ledger.mark('first'), 'new'))
    const operations = expected.map(({ mark }) => ({ op: 'create', values: valuesOf(mark, 'new') }))
    const { results }: Batch = await ask('POST', `${place.orders}/batch`, { operations })
    for (const [index, one] of expected.entries()) {
      const record = results[index]?.record
      if (!record) throw new Error(`Record ${index} of a batch was not created`)
      Object.assign(one, { made: 'yes', id: record.id, number: record.values.number })
      place.ids.push({ id: record.id, mark: one.mark })
    }
  }
  return place
}

/** The values of a new record. */
export const valuesOf = (mark: string, notes: string) => ({ mark, price: '12.50', count: 3, due: '2026-12-24', notes })

interface Made {
  readonly id: string
}
interface Batch {
  readonly results: readonly { readonly record: { readonly id: string; readonly values: { readonly number: string } } | null }[]
}

const fieldTypes = { mark: 'string', price: 'number', count: 'number', due: 'date', notes: 'text', number: 'string', total: 'currency' }

const maker = `async function handler(values) {
  const { id } = await sdk.records.create('orders', values)
  return id
}`
const waiter = 'const handler = (ms) => new Promise((resolve) => setTimeout(resolve, ms))'
