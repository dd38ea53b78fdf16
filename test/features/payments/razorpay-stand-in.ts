import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '#test/support/client.ts'

type Thing = Record<string, unknown> & { id: string }

/** Starts a stand-in for api.razorpay.com with one account: Kontor's calls, payers' actions and webhooks. */
export async function startRazorpay() {
  const [keyId, keySecret, webhookSecret] = [`rzp_test_${hex()}`, hex(), hex()]
  const things = { links: [] as Thing[], payments: [] as Thing[] }
  const calls: string[] = []
  const fault: { when: 'before' | 'after' | 'never'; path: RegExp } = { when: 'never', path: /./ }
  const seconds = () => Math.floor(Date.now() / 1_000)
  const server = createServer((request, response) => {
    void handle(request).then(([status, body]) => {
      if (fault.when === 'after' && fault.path.test(`${request.method} ${request.url}`)) return request.socket.destroy()
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function handle(request: IncomingMessage): Promise<[number, object]> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const at = new URL(request.url ?? '', url)
    calls.push(`${request.method} ${at.pathname}${at.search}`)
    const expected = `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`
    if (request.headers.authorization !== expected) return refusal(401, 'Authentication failed')
    const [kind = '', one = '', act = ''] = at.pathname.replace('/v1/', '').split('/')
    const list = kind === 'payment_links' ? things.links : things.payments
    if (request.method === 'POST' && one === '') return makeLink(JSON.parse(Buffer.concat(chunks).toString()))
    if (one === '' && kind === 'payment_links') {
      return [200, { payment_links: list.filter(({ reference_id }) => reference_id === at.searchParams.get('reference_id')) }]
    }
    if (one === '') {
      const within = list.filter(({ created_at }) => Number(created_at) >= Number(at.searchParams.get('from') ?? 0))
      const skip = Number(at.searchParams.get('skip') ?? 0)
      return [200, { entity: 'collection', items: within.slice(skip, skip + Number(at.searchParams.get('count') ?? 10)) }]
    }
    const thing = list.find(({ id }) => id === one)
    if (!thing) return refusal(400, 'The id provided does not exist')
    if (act === 'cancel') {
      if (thing.status !== 'created') return refusal(400, `Payment Link cannot be cancelled when status is ${thing.status}`)
      thing.status = 'cancelled'
    }
    return [200, thing]
  }

  function makeLink(body: Record<string, unknown>): [number, object] {
    if (things.links.some(({ reference_id }) => reference_id === body.reference_id)) {
      return refusal(400, 'payment link creation failed as ref_id already exists')
    }
    const link = {
      ...body,
      id: `plink_${hex()}`,
      status: 'created',
      payments: [],
      amount_paid: 0,
      short_url: `https://rzp.example/i/${hex()}`,
      created_at: seconds(),
    }
    things.links.unshift(link)
    return [200, link]
  }

  /** A payer pays a link, in any state of it. */
  function pay(link: Thing, more: object = {}): Thing {
    const payment: Thing = {
      id: `pay_${hex()}`,
      entity: 'payment',
      amount: link.amount,
      currency: link.currency,
      status: 'captured',
      amount_refunded: 0,
      email: 'gaurav@example.com',
      notes: link.notes,
      created_at: seconds(),
      ...more,
    }
    things.payments.unshift(payment)
    link.status = 'paid'
    link.payments = [...(link.payments as object[]), { payment_id: payment.id, amount: payment.amount, status: payment.status }]
    return payment
  }

  /** Delivers an event as Razorpay does, with its id in an unsigned header. */
  const deliver = (
    client: Client,
    connectionId: string,
    event: string,
    entities: Record<string, object>,
    { id = hex(), secret = webhookSecret } = {},
  ) => {
    const payload = Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }]))
    const body = JSON.stringify({ entity: 'event', event, contains: Object.keys(payload), payload, created_at: seconds() })
    return client.send('POST', `/webhooks/payments/${connectionId}`, body, {
      'content-type': 'application/json',
      'x-razorpay-signature': createHmac('sha256', secret).update(body).digest('hex'),
      ...(id === '' ? {} : { 'x-razorpay-event-id': id }),
    })
  }

  return {
    url,
    things,
    calls,
    fault,
    pay,
    deliver,
    credentials: { key_id: keyId, key_secret: keySecret, webhook_secret: webhookSecret },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const hex = () => randomBytes(7).toString('hex')
const refusal = (status: number, description: string): [number, object] => [status, { error: { code: 'BAD_REQUEST_ERROR', description } }]
