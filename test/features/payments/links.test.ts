import { randomUUID } from 'node:crypto'
import test from 'ava'
import { razorpay } from '#shared/features/payments/providers/razorpay.ts'
import { sandbox } from '#shared/features/payments/providers/sandbox.ts'
import { stripe } from '#shared/features/payments/providers/stripe.ts'
import { fromProviderUnits, toProviderUnits } from '#shared/features/payments/providers/units.ts'
import { connect, makeLink, paymentsOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { ageIdempotencyKey, ageLink } from '#test/features/payments/rows.ts'
import { createMember } from '#test/support/factories.ts'

const newWorkspace = shareProviders(test)

test('links: a link is created, read and listed, newest first by cursor', async (t) => {
  const w = await newWorkspace()
  const { owner } = w.org
  const connectionId = await connect(w.org, 'sandbox')
  const at = `${paymentsOf(w.org)}/links`
  const made = await owner.post(at, { connection_id: connectionId, amount: 12.5, customer_name: 'Pia', customer_email: 'pia@example.com' })
  t.is(made.status, 201, made.text)
  t.like(made.data, {
    connection_id: connectionId,
    provider: 'sandbox',
    short_url: `${w.config.publicUrl}/pay/${w.org.id}/${made.data.id}`,
    amount: '12.50',
    currency: 'USD',
    status: 'created',
    description: '',
    invoice_id: null,
    customer_name: 'Pia',
    customer_email: 'pia@example.com',
    customer_contact: '',
  })
  t.false('paid_at' in made.data || 'payment_record_id' in made.data)
  const days = (Date.parse(made.data.expires_at) - Date.parse(made.data.created_at)) / 86_400_000
  t.true(Math.abs(days - 30) < 0.001)
  t.deepEqual((await owner.get(`${at}/${made.data.id}`)).data, made.data)
  const ids = [made.data.id]
  for (let index = 0; index < 6; index++) ids.unshift((await makeLink(w.org, connectionId)).id)
  const seen: string[] = []
  for (let cursor = ''; seen.length < 7; cursor = `&cursor=${seen.at(-1)}`) {
    const { data } = await owner.get(`${at}?limit=3${cursor}`)
    t.true(data.length > 0 && data.length <= 3)
    seen.push(...data.map(({ id }: { id: string }) => id))
  }
  t.deepEqual(seen, ids)
  t.deepEqual((await owner.get(`${at}?cursor=${ids.at(-1)}`)).data, [])
  t.is((await owner.get(`${at}?limit=100`)).data.length, 7)
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=x', `cursor=${randomUUID()}`])
    t.is((await owner.get(`${at}?${query}`)).status, 400)
  for (const id of [randomUUID(), 'x']) {
    for (const path of ['', '/timeline']) t.is((await owner.get(`${at}/${id}${path}`)).status, 404)
    for (const act of ['cancel', 'refresh']) t.is((await owner.post(`${at}/${id}/${act}`)).status, 404)
  }
})

test('links: an invalid link is 400, and the error names the field; an unknown connection is 404', async (t) => {
  const w = await newWorkspace()
  const connection_id = await connect(w.org, 'sandbox')
  const at = `${paymentsOf(w.org)}/links`
  const ahead = (days: number, ms = 0) => new Date(Date.now() + days * 86_400_000 + ms).toISOString()
  const wrong: [object, string][] = [
    [{ connection_id: 'x' }, 'connection_id'],
    [{ connection_id: undefined }, 'connection_id'],
    [{ amount: undefined }, 'amount'],
    [{ amount: 0 }, 'amount'],
    [{ amount: '-1' }, 'amount'],
    [{ amount: 'ten' }, 'amount'],
    [{ amount: '1e3' }, 'amount'],
    [{ amount: '1.1234567' }, 'amount'],
    [{ amount: '100000000000000' }, 'amount'],
    [{ amount: '1.005' }, 'amount'],
    [{ amount: '1.5', currency: 'JPY' }, 'amount'],
    [{ currency: 'XYZ' }, 'currency'],
    [{ currency: 'usd' }, 'currency'],
    [{ invoice_id: 'x' }, 'invoice_id'],
    [{ invoice_id: randomUUID() }, 'invoice_id'],
    [{ redirect_url: 'shop.example' }, 'redirect_url'],
    [{ redirect_url: 'ftp://shop.example' }, 'redirect_url'],
    [{ redirect_url: 'https:shop.example' }, 'redirect_url'],
    [{ customer_email: 'nobody' }, 'customer_email'],
    [{ customer_name: 'x'.repeat(201) }, 'customer_name'],
    [{ description: 'x'.repeat(501) }, 'description'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: ahead(0, -1_000) }, 'expires_at'],
    [{ expires_at: ahead(180, 60_000) }, 'expires_at'],
  ]
  for (const [change, field] of wrong) {
    const { status, body, text } = await w.org.owner.post(at, { connection_id, amount: '10', ...change })
    t.is(status, 400, text)
    t.true(body.error.message.startsWith(field), text)
  }
  t.is((await w.org.owner.post(at, { connection_id: randomUUID(), amount: '10' })).status, 404)
  t.deepEqual((await w.org.owner.get(at)).data, [])
  const right: object[] = [
    { expires_at: ahead(180, -60_000) },
    { expires_at: ahead(0, 60_000) },
    { amount: '12345678901234.12' },
    { amount: 0.01 },
  ]
  for (const change of right) t.is((await w.org.owner.post(at, { connection_id, amount: '10', ...change })).status, 201)
  t.true((await w.org.owner.get(at)).data.some(({ amount }: { amount: string }) => amount === '12345678901234.12'))
})

test('links: an invoice sets amount and currency, and is 404 for a caller that may not read it', async (t) => {
  const w = await newWorkspace()
  const { owner, path } = w.org
  const connection_id = await connect(w.org, 'sandbox')
  const make = async (values: object) => (await owner.post(`${path}/records/invoices`, { values })).data.id
  const [dollars, yen, empty] = [await make({ total: 80 }), await make({ total: { amount: 500, code: 'JPY' } }), await make({})]
  const at = `${paymentsOf(w.org)}/links`
  const link = async (body: object, client = owner) => client.post(at, { connection_id, ...body })
  t.like((await link({ invoice_id: yen })).data, { amount: '500', currency: 'JPY', invoice_id: yen })
  t.like((await link({ invoice_id: yen, amount: 200 })).data, { amount: '200', currency: 'JPY' })
  t.like((await link({ invoice_id: yen, amount: 2.5, currency: 'EUR' })).data, { amount: '2.50', currency: 'EUR' })
  t.like((await link({ invoice_id: yen, currency: 'JPY' })).data, { amount: '500', currency: 'JPY' })
  const mixed = await link({ invoice_id: yen, currency: 'EUR' })
  t.is(mixed.status, 400)
  t.is(mixed.body.error.message, 'currency must be JPY, as that of the invoice, unless amount is sent too')
  t.like((await link({ invoice_id: empty, amount: 2 })).data, { amount: '2.00', currency: 'USD' })
  t.is((await link({ invoice_id: empty })).status, 400)
  const collect = { effect: 'allow', actions: ['payments:collect'] }
  const read = { effect: 'allow', actions: ['records:read'], resources: ['invoices'] }
  const blind = (await createMember(w, w.org, [collect])).client
  const some = (await createMember(w, w.org, [collect, { ...read, condition: { 'resource.id': { eq: yen } } }])).client
  const veiled = (await createMember(w, w.org, [collect, { ...read, fields: { deny: ['total'] } }])).client
  const messages = new Set<string>()
  for (const [client, id] of [
    [blind, yen],
    [some, dollars],
    [owner, randomUUID()],
  ] as const) {
    const { status, body } = await link({ invoice_id: id }, client)
    t.is(status, 400)
    messages.add(body.error.message)
  }
  t.is(messages.size, 1, 'what may not be read and what is not there read alike')
  t.is((await link({ invoice_id: yen }, some)).status, 201)
  t.regex((await link({ invoice_id: yen }, veiled)).body.error.message, /^amount is required/)
  t.is((await link({ invoice_id: yen, amount: 5 }, veiled)).data.currency, 'USD')
})

test('links: an Idempotency-Key returns its link for a day', async (t) => {
  const w = await newWorkspace()
  const body = { connection_id: await connect(w.org, 'sandbox'), amount: 5 }
  const make = async () => (await w.org.owner.post(`${paymentsOf(w.org)}/links`, body, { 'Idempotency-Key': 'again' })).data.id
  const first = await make()
  t.is(await make(), first)
  await ageIdempotencyKey(w.db, 'again')
  await ageLink(w.db, first, 25 * 60)
  const second = await make()
  t.not(second, first)
  t.is(await make(), second)
})

test('links: amounts are converted to the units of each provider', (t) => {
  const cases: [typeof stripe, string, string, string | null][] = [
    [stripe, '10.00', 'USD', '1000'],
    [stripe, '500', 'JPY', '500'],
    [stripe, '5', 'ISK', '500'],
    [stripe, '5', 'UGX', '500'],
    [stripe, '10.5', 'HUF', '1050'],
    [stripe, '5.120', 'KWD', '5120'],
    [stripe, '1.5', 'JPY', null],
    [stripe, '1.5', 'ISK', null],
    [stripe, '5.124', 'KWD', null],
    [stripe, '0.001', 'USD', null],
    [stripe, '90071992547409.91', 'USD', '9007199254740991'],
    [stripe, '90071992547409.93', 'USD', null],
    [razorpay, '10', 'INR', '1000'],
    [razorpay, '90071992547409.91', 'USD', '9007199254740991'],
    [razorpay, '90071992547409.93', 'USD', null],
    [sandbox, '90071992547409.93', 'USD', '9007199254740993'],
    [razorpay, '5.12', 'BHD', '5120'],
    [razorpay, '5.124', 'OMR', null],
    [razorpay, '1.5', 'JPY', null],
    [sandbox, '5.124', 'KWD', '5124'],
    [sandbox, '5', 'ISK', '5'],
    [sandbox, '1.5', 'ISK', null],
  ]
  for (const [{ units }, amount, currency, expected] of cases) {
    if (expected === null) {
      t.regex(
        t.throws(() => toProviderUnits(units, amount, currency))?.message ?? '',
        new RegExp(`^amount: .* takes (?:${currency} in multiples of |at most [\\d.]+ ${currency})`),
      )
    } else {
      t.is(toProviderUnits(units, amount, currency), expected)
      t.is(Number(fromProviderUnits(units, expected, currency)), Number(amount))
    }
  }
})
