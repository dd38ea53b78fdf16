import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '#test/support/client.ts'

type Thing = Record<string, unknown> & { id: string }

/** An account at the stand-in. */
export type StripeAccount = ReturnType<Awaited<ReturnType<typeof startStripe>>['account']>

/** Starts a stand-in for api.stripe.com with any number of accounts. */
export async function startStripe() {
  const accounts = new Map<
    string,
    {
      readonly answer: (request: IncomingMessage, body: string) => [number, object]
      readonly cuts: (request: IncomingMessage) => 'before' | 'after' | 'never'
      readonly fault: { readonly path: RegExp; readonly held: Promise<void> | null }
    }
  >()
  const server = createServer((request, response) => {
    void handle(request)
      .then((answer) => {
        if (!answer) return request.socket.destroy()
        response.writeHead(answer[0], { 'content-type': 'application/json' }).end(JSON.stringify(answer[1]))
      })
      .catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function handle(request: IncomingMessage): Promise<[number, object] | undefined> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const given = request.headers.authorization ?? ''
    const account = accounts.get(given.replace('Bearer ', ''))
    if (!account) return refusal(401, `Invalid API Key provided: ${given}`)
    const { path, held } = account.fault
    if (held && path.test(`${request.method} ${request.url}`)) await held
    const cut = account.cuts(request)
    if (cut === 'before') return undefined
    const answer = account.answer(request, Buffer.concat(chunks).toString())
    return cut === 'after' ? undefined : answer
  }

  return {
    url,
    account: (clock: () => number = Date.now) => {
      const account = openAccount(url, clock)
      accounts.set(account.secretKey, account)
      return account
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The part of Stripe's API that Kontor calls, in memory, with the actions of payers and banks. */
function openAccount(url: string, clock: () => number) {
  const [secretKey, webhookSecret] = [`sk_test_${randomBytes(12).toString('hex')}`, `whsec_${randomBytes(12).toString('hex')}`]
  const things = { links: [] as Thing[], sessions: [] as Thing[], events: [] as Thing[] }
  const calls: { readonly method: string; readonly path: string; readonly version: string | undefined; readonly body: URLSearchParams }[] =
    []
  const answers = new Map<string, string>()
  /** Set to break the connection of calls, before they are done or after, or to hold them until it is kept. */
  const fault: { when: 'before' | 'after' | 'never'; path: RegExp; held: Promise<void> | null } = { when: 'never', path: /./, held: null }
  const seconds = () => Math.floor(clock() / 1_000)
  const id = (kind: string) => `${kind}_${randomBytes(9).toString('hex')}`
  const emit = (type: string, object: object) => {
    const event = { id: id('evt'), object: 'event', type, created: seconds(), livemode: false, data: { object: structuredClone(object) } }
    things.events.unshift(event)
    return event
  }

  function answer(request: IncomingMessage, sent: string): [number, object] {
    const at = new URL(request.url ?? '', url)
    const method = request.method ?? ''
    const body = new URLSearchParams(method === 'GET' ? at.search : sent)
    calls.push({ method, path: at.pathname, version: request.headers['stripe-version'] as string, body })
    const key = request.headers['idempotency-key'] as string | undefined
    const known = key === undefined ? undefined : answers.get(key)
    if (known !== undefined) return JSON.parse(known)
    const made = answerTo(method, at.pathname.replace('/v1/', ''), body)
    if (key !== undefined) answers.set(key, JSON.stringify(made))
    return made
  }

  function answerTo(method: string, path: string, body: URLSearchParams): [number, object] {
    const [kind = '', one = '', act = ''] = path.replace('checkout/sessions', 'sessions').split('/')
    const list = things[kind === 'payment_links' ? 'links' : (kind as keyof typeof things)]
    if (!list) return refusal(404, `Unrecognized request URL (${method}: /v1/${path})`)
    if (one === '') return method === 'GET' ? [200, pageOf(list.filter(matching(body)), body)] : [200, makeLink(body)]
    const thing = list.find((other) => other.id === one)
    if (!thing) return refusal(404, `No such object: '${one}'`)
    if (act === 'expire') {
      if (thing.status !== 'open') return refusal(400, 'Only Checkout Sessions with a status in ["open"] can be expired.')
      thing.status = 'expired'
      emit('checkout.session.expired', thing)
    }
    if (method === 'POST' && body.has('active')) thing.active = body.get('active') === 'true'
    return [200, thing]
  }

  function makeLink(body: URLSearchParams): Thing | object {
    const units = body.get('line_items[0][price_data][unit_amount]') ?? ''
    const link: Thing = {
      id: id('plink'),
      object: 'payment_link',
      active: true,
      currency: body.get('line_items[0][price_data][currency]'),
      metadata: { kontor_link: body.get('metadata[kontor_link]') },
      payment_intent_data: { metadata: { kontor_link: body.get('payment_intent_data[metadata][kontor_link]') } },
      restrictions: { completed_sessions: { count: 0, limit: Number(body.get('restrictions[completed_sessions][limit]')) } },
      amount: Number(units),
      url: `https://buy.stripe.example/${randomBytes(5).toString('hex')}`,
      livemode: false,
    }
    things.links.unshift(link)
    emit('payment_link.created', link)
    return link
  }

  /** A payer opens the page of a link. */
  function open(linkId: string): Thing {
    const link = things.links.find(({ id }) => id === linkId) as Thing
    if (link.active !== true) throw new Error('This link has been deactivated')
    const session: Thing = {
      id: id('cs'),
      object: 'checkout.session',
      payment_link: link.id,
      metadata: link.metadata,
      amount_total: link.amount,
      currency: link.currency,
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      customer_details: { name: 'Pia Payer', email: 'pia@example.com' },
    }
    things.sessions.unshift(session)
    return session
  }

  /** The payer pays, in any state of the page: at once, or by a transfer that arrives later. */
  function pay(
    session: Thing,
    {
      later = false,
      amount = session.amount_total,
      currency = session.currency,
    }: { later?: boolean; amount?: unknown; currency?: unknown } = {},
  ) {
    const charge = {
      id: id('ch'),
      object: 'charge',
      amount,
      amount_captured: amount,
      amount_refunded: 0,
      captured: true,
      paid: true,
      status: 'succeeded',
      currency,
      created: seconds(),
      disputed: false,
      billing_details: { name: 'Pia Payer', email: 'pia@example.com' },
    }
    const intent = {
      id: id('pi'),
      object: 'payment_intent',
      amount,
      amount_received: later ? 0 : amount,
      currency,
      status: later ? 'processing' : 'succeeded',
      created: seconds(),
      metadata: session.metadata,
    }
    Object.assign(charge, { payment_intent: intent.id, metadata: session.metadata })
    Object.assign(session, {
      amount_total: amount,
      currency,
      status: 'complete',
      payment_status: later ? 'unpaid' : 'paid',
      payment_intent: intent.id,
    })
    session.intent = intent
    session.charge = charge
    const completed = emit('checkout.session.completed', shown(session))
    return { completed, succeeded: later ? undefined : emit('payment_intent.succeeded', intent), intent, charge }
  }

  /** A transfer succeeds or fails. */
  function settle(session: Thing, isPaid: boolean) {
    const intent = session.intent as Record<string, unknown>
    if (isPaid) Object.assign(intent, { status: 'succeeded', amount_received: intent.amount })
    session.payment_status = isPaid ? 'paid' : 'unpaid'
    return {
      session: emit(`checkout.session.async_payment_${isPaid ? 'succeeded' : 'failed'}`, shown(session)),
      intent: isPaid ? emit('payment_intent.succeeded', intent) : undefined,
    }
  }

  const refund = (session: Thing, units?: number) => {
    const charge = session.charge as Record<string, unknown>
    charge.amount_refunded = units ?? charge.amount
    return emit('charge.refunded', charge)
  }
  const dispute = (session: Thing) =>
    emit('charge.dispute.created', {
      id: id('dp'),
      object: 'dispute',
      status: 'needs_response',
      payment_intent: session.payment_intent,
      amount: session.amount_total,
      currency: session.currency,
    })

  /** Delivers an event to a webhook as Stripe does. */
  const deliver = (client: Client, connectionId: string, event: object, { secret = webhookSecret, at = seconds() } = {}) => {
    const body = JSON.stringify(event, null, 2)
    return client.send('POST', `/webhooks/payments/${connectionId}`, body, {
      'content-type': 'application/json',
      'stripe-signature': signature(body, secret, at),
    })
  }

  return {
    secretKey,
    webhookSecret,
    things,
    calls,
    fault,
    emit,
    open,
    pay,
    settle,
    refund,
    dispute,
    deliver,
    answer,
    cuts: ({ method, url: path }: IncomingMessage) => (fault.path.test(`${method} ${path}`) ? fault.when : 'never'),
    credentials: { secret_key: secretKey, webhook_secret: webhookSecret },
  }
}

/** The signature header of a body. */
export const signature = (body: string | Buffer, secret: string, at: number): string =>
  `t=${at},v1=${createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex')}`

const refusal = (status: number, message: string): [number, object] => [status, { error: { type: 'invalid_request_error', message } }]

/** A session as the API shows it: its payment by id. */
function shown({ intent: _, charge: __, ...session }: Record<string, unknown>): object {
  return session
}

const matching = (query: URLSearchParams) => (thing: Thing) =>
  (!query.has('payment_link') || thing.payment_link === query.get('payment_link')) &&
  (!query.has('status') || thing.status === query.get('status')) &&
  (!query.has('types[]') || query.getAll('types[]').includes(String(thing.type))) &&
  (!query.has('created[gte]') || Number(thing.created) >= Number(query.get('created[gte]')))

function pageOf(all: readonly Thing[], query: URLSearchParams): object {
  const start = query.has('starting_after') ? all.findIndex(({ id }) => id === query.get('starting_after')) + 1 : 0
  const limit = Number(query.get('limit') ?? 10)
  const expand = query.getAll('expand[]').includes('data.payment_intent.latest_charge')
  const data = all.slice(start, start + limit).map((thing) => {
    const { intent, charge } = thing as { intent?: object; charge?: object }
    return expand && intent ? { ...shown(thing), payment_intent: { ...intent, latest_charge: charge ?? null } } : shown(thing)
  })
  return { object: 'list', data, has_more: start + limit < all.length }
}
