import test from 'ava'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { connect, makeLink, paymentsOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { addInvoicesAndPayments, readOpenInvoices } from '#test/features/payments/rows.ts'
import { createMember } from '#test/support/factories.ts'
import { updateWorkspace } from '#test/support/rows.ts'
import { world } from '#test/support/world.ts'

const newWorkspace = shareProviders(test)

/** The day so many days before today in a time zone. */
const dayBefore = (days: number, timeZone = 'UTC', now = new Date()) => {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone }).format(now)
  return new Date(Date.parse(`${today}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10)
}

const read = (resource: string, more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: [resource], ...more })
const see = { effect: 'allow', actions: ['payments:read'] }

test('overview: an empty workspace owes nothing', async (t) => {
  const w = await newWorkspace()
  t.deepEqual((await w.org.owner.get(`${paymentsOf(w.org)}/overview`)).data, {
    receivables: [],
    aging: [],
    top_debtors: [],
    oldest_overdue: [],
    collected: [],
    links: { created: 0, paid: 0, cancelled: 0, expired: 0 },
  })
})

test('overview: open amounts are totals less payments in their currency, by age, debtor and due date', async (t) => {
  const w = await newWorkspace()
  const { owner, path } = w.org
  const invoice = async (total: unknown, due: number | null, more: object = {}) => {
    const values = {
      total,
      status: 'open',
      due_date: due === null ? null : dayBefore(due),
      customer_name: 'Ann',
      customer_email: 'ann@example.com',
      ...more,
    }
    const { status, data, text } = await owner.post(`${path}/records/invoices`, { values })
    if (status !== 201) throw new Error(text)
    return data
  }
  const pay = (invoiceId: string, amount: unknown, paid_at = '2026-03-31T12:00:00Z') =>
    owner.post(`${path}/records/payments`, { values: { invoice_id: invoiceId, amount, paid_at } })
  for (const [index, days] of [0, 1, 30, 31, 60, 61, 90, 91].entries()) await invoice(10 ** index, days)
  await invoice(0.5, null)
  await invoice(0.25, -1)
  const partly = await invoice({ amount: '100.10', code: 'EUR' }, 5, { customer_name: 'Bob', customer_email: 'bob@example.com' })
  await pay(partly.id, { amount: '0.20', code: 'EUR' })
  await pay(partly.id, { amount: '0.01', code: 'EUR' })
  await pay(partly.id, { amount: '50', code: 'USD' })
  const over = await invoice({ amount: 5, code: 'JPY' }, 5)
  await pay(over.id, { amount: 6, code: 'JPY' })
  const even = await invoice({ amount: 5, code: 'JPY' }, 5)
  await pay(even.id, { amount: 5, code: 'JPY' }, '2026-04-01T00:00:00Z')
  for (const status of ['draft', 'paid', 'void']) await invoice(1e9, 40, { status })
  await invoice(null, 40)
  const connectionId = await connect(w.org, 'sandbox')
  await makeLink(w.org, connectionId)
  const { data } = await owner.get(`${paymentsOf(w.org)}/overview`)
  t.deepEqual(data.receivables, [
    { currency: 'EUR', open: '99.89', overdue: '99.89', count: 1 },
    { currency: 'USD', open: '11111111.75', overdue: '11111110.00', count: 10 },
  ])
  t.deepEqual(data.aging, [
    { currency: 'EUR', current: '0.00', d1_30: '99.89', d31_60: '0.00', d61_90: '0.00', d90_plus: '0.00' },
    { currency: 'USD', current: '1.75', d1_30: '110.00', d31_60: '11000.00', d61_90: '1100000.00', d90_plus: '10000000.00' },
  ])
  t.deepEqual(data.top_debtors, [
    { name: 'Ann', email: 'ann@example.com', currency: 'USD', open: '11111111.75' },
    { name: 'Bob', email: 'bob@example.com', currency: 'EUR', open: '99.89' },
  ])
  t.is(data.oldest_overdue.length, 8)
  t.like(data.oldest_overdue[0], { customer_name: 'Ann', due_date: dayBefore(91), amount: '10000000.00', currency: 'USD' })
  t.regex(data.oldest_overdue[0].number, /^INV-\d{5}$/)
  t.deepEqual(data.collected, [
    { month: '2026-03', currency: 'EUR', amount: '0.21' },
    { month: '2026-03', currency: 'JPY', amount: '6' },
    { month: '2026-03', currency: 'USD', amount: '50.00' },
    { month: '2026-04', currency: 'JPY', amount: '5' },
  ])
  t.deepEqual(data.links, { created: 1, paid: 0, cancelled: 0, expired: 0 })
  const seenBy = async (...policy: object[]) => {
    const { client } = await createMember(w, w.org, [see, ...policy])
    return (await client.get(`${paymentsOf(w.org)}/overview`)).data
  }
  t.like(await seenBy(), { receivables: [], top_debtors: [], collected: [], links: { created: 1 } })
  const unpaid = await seenBy(read('invoices'))
  t.is(unpaid.receivables[0].open, '100.10', 'payments that may not be read are not taken off')
  t.deepEqual(unpaid.collected, [])
  for (const hidden of ['total', 'status', 'due_date']) {
    t.deepEqual((await seenBy(read('invoices', { fields: { deny: [hidden] } }), read('payments'))).receivables, [], hidden)
    const sometimes = read('invoices', { condition: { 'resource.customer_name': { eq: 'Bob' } }, fields: { deny: [hidden] } })
    const always = read('invoices', { condition: { 'resource.customer_name': { eq: 'Ann' } } })
    const { receivables } = await seenBy(sometimes, always, read('payments'))
    t.deepEqual(
      receivables.map(({ currency }: { currency: string }) => currency),
      ['USD'],
      'an invoice whose total, status or due date is hidden is left out, and no other',
    )
  }
  const nameless = await seenBy(read('invoices', { fields: { deny: ['customer_name', 'customer_email', 'number'] } }), read('payments'))
  t.deepEqual(nameless.top_debtors, [
    { name: '', email: '', currency: 'USD', open: '11111111.75' },
    { name: '', email: '', currency: 'EUR', open: '99.89' },
  ])
  t.like(nameless.oldest_overdue[0], { number: '', customer_name: '' })
  t.deepEqual((await seenBy(read('invoices'), read('payments', { fields: { deny: ['amount'] } }))).collected, [])
  t.deepEqual((await seenBy(read('payments', { condition: { 'resource.paid_at': { gte: '2026-04-01' } } }))).collected.length, 1)
})

test('overview: days and months are those of the workspace’s time zone', async (t) => {
  const now = new Date('2026-11-30T23:30:00Z')
  const w = await world({}, ['data'], () => now)
  t.teardown(w.close)
  const { owner, path } = w.org
  await updateWorkspace(w.db, w.org.id, `timezone = 'Asia/Tokyo'`)
  await owner.post(`${path}/records/invoices`, { values: { total: 5, status: 'open', due_date: '2026-11-30' } })
  await owner.post(`${path}/records/payments`, { values: { amount: 1, paid_at: '2026-10-31T15:00:00Z' } })
  const { data } = await owner.get(`${paymentsOf(w.org)}/overview`)
  t.is(data.aging[0].d1_30, '5.00')
  t.deepEqual(data.collected, [{ month: '2026-11', currency: 'USD', amount: '1.00' }])
})

/** Instants within an hour of a month's end whose month the process and an older release of zone data see differently, or did. */
const nearMonthEnds = [
  ['Africa/Casablanca', '2026-10-31T23:30:00Z'],
  ['Africa/Casablanca', '2026-06-30T23:30:00Z'],
  ['America/Edmonton', '2026-12-01T06:30:00Z'],
  ['America/Edmonton', '2026-07-01T06:30:00Z'],
  ['CET', '2026-06-30T22:30:00Z'],
  ['MET', '2026-06-30T22:30:00Z'],
  ['MET', '2026-11-30T22:30:00Z'],
  ['Asia/Calcutta', '2026-06-30T18:30:00Z'],
  ['Europe/Berlin', '1970-01-01T00:00:00Z'],
  ['America/New_York', '2100-07-01T04:30:00Z'],
  ['Europe/Amsterdam', '1900-01-31T23:50:00Z'],
] as const

test('overview: months are those of the zone data of the process, whatever the database has', async (t) => {
  for (const [zone, paid_at] of nearMonthEnds) {
    const w = await newWorkspace()
    const { owner, path } = w.org
    t.is((await owner.patch(path, { timezone: zone })).status, 200)
    t.is((await owner.post(`${path}/records/payments`, { values: { amount: 1, paid_at } })).status, 201)
    const { data } = await owner.get(`${paymentsOf(w.org)}/overview`)
    const [day = ''] = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date(paid_at)).split(',')
    t.deepEqual(data.collected, [{ month: day.slice(0, 7), currency: 'USD', amount: '1.00' }], `${zone} ${paid_at}`)
  }
})

test('overview: today is that of the zone data of the process', async (t) => {
  const w = await world({}, ['data'], () => new Date('2026-10-31T23:30:00Z'))
  t.teardown(w.close)
  const { owner, path } = w.org
  t.is((await owner.patch(path, { timezone: 'Africa/Casablanca' })).status, 200)
  await owner.post(`${path}/records/invoices`, { values: { total: 5, status: 'open', due_date: '2026-10-31' } })
  t.like((await owner.get(`${paymentsOf(w.org)}/overview`)).data.aging[0], { current: '5.00', d1_30: '0.00' })
})

test('overview: the sums of ten thousand invoices in five currencies, half of them readable, match sums of the test', async (t) => {
  const w = await newWorkspace()
  const today = dayBefore(0)
  await addInvoicesAndPayments(w.db, w.org.id, today)
  const { client } = await createMember(w, w.org, [
    see,
    read('invoices', { condition: { 'resource.due_date': { lte: dayBefore(-10) } } }),
    read('payments'),
  ])
  const invoices = await readOpenInvoices(w.db, w.org.id, dayBefore(-10))
  const sums = new Map<string, { open: Decimal; overdue: Decimal; count: number }>()
  for (const { due, total, code, paid } of invoices) {
    const open = new Decimal(total).minus(paid)
    if (!open.gt(0)) continue
    const sum = sums.get(code) ?? { open: new Decimal(0), overdue: new Decimal(0), count: 0 }
    sums.set(code, { open: sum.open.plus(open), overdue: due < today ? sum.overdue.plus(open) : sum.overdue, count: sum.count + 1 })
  }
  const { data } = await client.get(`${paymentsOf(w.org)}/overview`)
  t.is(sums.size, 5)
  t.deepEqual(
    data.receivables.map(({ currency, open, overdue, count }: Record<string, string>) => [currency, Number(open), Number(overdue), count]),
    [...sums].sort().map(([currency, { open, overdue, count }]) => [currency, open.toNumber(), overdue.toNumber(), count]),
  )
  t.true(data.receivables.reduce((sum: number, { count }: { count: number }) => sum + count, 0) < 6_000)
})
