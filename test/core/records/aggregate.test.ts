import test from 'ava'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

interface Deal {
  readonly stage?: string
  readonly qty?: number
  readonly total?: { readonly amount: number; readonly code: string }
  readonly closes?: string
  readonly at?: string
  readonly paid?: boolean
  readonly tags?: readonly string[]
}

const deals: readonly Deal[] = [
  { stage: 'new', qty: 1, total: { amount: 10, code: 'USD' }, closes: '2026-01-01', at: '2025-12-31T23:30:00Z', paid: true },
  { stage: 'new', qty: 2, total: { amount: 0.000001, code: 'EUR' }, closes: '2026-03-31', at: '2026-01-04T23:30:00Z' },
  { stage: 'new', qty: 2, total: { amount: 5, code: 'USD' }, closes: '2026-12-31', paid: false },
  { stage: 'won', qty: 10, total: { amount: 7, code: 'EUR' }, at: '2026-03-29T01:30:00Z', paid: true },
  { stage: 'won', total: { amount: 100, code: 'JPY' }, closes: '2025-12-29' },
  { qty: 99_999_999_999, closes: '2025-12-29', tags: ['hot'] },
]

async function withDeals(w: World, records: readonly object[] = deals) {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals' })
  const fields = [
    { key: 'stage', type: 'select', rules: { options: ['new', 'won'] } },
    { key: 'qty', type: 'number' },
    { key: 'total', type: 'currency' },
    { key: 'closes', type: 'date' },
    { key: 'at', type: 'datetime' },
    { key: 'paid', type: 'bool' },
    { key: 'tags', type: 'multiselect', rules: { options: ['hot'] } },
    { key: 'fee', type: 'currency' },
    { key: 'note', type: 'text' },
    { key: 'long', type: 'text' },
    { key: 'parent', type: 'ref', rules: { ref_type: 'deals' } },
    { key: 'letter', type: 'file' },
  ]
  for (const field of fields) await owner.post(`${path}/fields`, { entity_type: 'deals', label: field.key, ...field })
  const made = await owner.post(`${path}/records/deals/batch`, {
    operations: records.map((values) => ({ op: 'create', values })),
    atomic: true,
  })
  if (records.length > 0 && made.status !== 200) throw new Error(made.text)
  return (query: Record<string, string>, client = owner) => client.get(`${path}/records/deals/aggregate?${new URLSearchParams(query)}`)
}

test('aggregate: counts and exact metrics, without a group and by one', async (t) => {
  const ask = await withDeals(await shared())
  const all = await ask({ metrics: 'count,sum:qty,avg:qty,min:qty,max:qty,distinct:qty,min:closes,max:at,distinct:tags' })
  t.regex(all.text, /tags is a multiselect field and has no distinct/)
  const { data, text } = await ask({ metrics: 'count,sum:qty,avg:qty,min:qty,max:qty,distinct:qty,min:closes,max:at' })
  t.deepEqual(data, {
    groups: [
      {
        by: {},
        metrics: {
          count: 6,
          'sum:qty': 100_000_000_014,
          'avg:qty': 20_000_000_002.8,
          'min:qty': 1,
          'max:qty': 99_999_999_999,
          'distinct:qty': 4,
          'min:closes': '2025-12-29',
          'max:at': '2026-03-29T01:30:00.000000Z',
        },
      },
    ],
    total_groups: 1,
  })
  t.true(text.includes('"sum:qty":100000000014'))
  const stages = await ask({ metrics: 'count,avg:qty', group_by: 'stage' })
  t.deepEqual(stages.data, {
    groups: [
      { by: { stage: 'new' }, metrics: { count: 3, 'avg:qty': 1.666666666667 } },
      { by: { stage: 'won' }, metrics: { count: 2, 'avg:qty': 10 } },
      { by: { stage: null }, metrics: { count: 1, 'avg:qty': 99_999_999_999 } },
    ],
    total_groups: 3,
  })
})

test('aggregate: metrics of a currency field are by currency, and sort by the currency of the workspace', async (t) => {
  const ask = await withDeals(await shared())
  const { data } = await ask({ metrics: 'sum:total,max:total,distinct:total', group_by: 'stage', sort: 'sum:total' })
  t.deepEqual(data.groups, [
    {
      by: { stage: 'new' },
      metrics: {
        'sum:total': [
          { amount: 0.000001, code: 'EUR' },
          { amount: 15, code: 'USD' },
        ],
        'max:total': [
          { amount: 0.000001, code: 'EUR' },
          { amount: 10, code: 'USD' },
        ],
        'distinct:total': 3,
      },
    },
    {
      by: { stage: 'won' },
      metrics: {
        'sum:total': [
          { amount: 7, code: 'EUR' },
          { amount: 100, code: 'JPY' },
        ],
        'max:total': [
          { amount: 7, code: 'EUR' },
          { amount: 100, code: 'JPY' },
        ],
        'distinct:total': 2,
      },
    },
    { by: { stage: null }, metrics: { 'sum:total': [], 'max:total': [], 'distinct:total': 0 } },
  ])
})

test('aggregate: parts of dates, and of instants in a time zone', async (t) => {
  const w = await shared()
  const ask = await withDeals(w)
  const groups = async (group_by: string, tz?: string) => {
    const { data, text } = await ask({ metrics: 'count', group_by, ...(tz && { tz }) })
    return (
      data?.groups.map(({ by, metrics }: { by: Record<string, unknown>; metrics: { count: number } }) => [by[group_by], metrics.count]) ??
      text
    )
  }
  t.deepEqual(await groups('closes:week'), [
    ['2026-W01', 3],
    ['2026-W14', 1],
    ['2026-W53', 1],
    [null, 1],
  ])
  t.deepEqual(await groups('closes:quarter'), [
    ['2025-Q4', 2],
    ['2026-Q1', 2],
    ['2026-Q4', 1],
    [null, 1],
  ])
  t.deepEqual(await groups('closes:year'), [
    ['2025', 2],
    ['2026', 3],
    [null, 1],
  ])
  t.deepEqual(await groups('at:day', 'Europe/Berlin'), [
    ['2026-01-01', 1],
    ['2026-01-05', 1],
    ['2026-03-29', 1],
    [null, 3],
  ])
  t.deepEqual(await groups('at:week', 'Europe/Berlin'), [
    ['2026-W01', 1],
    ['2026-W02', 1],
    ['2026-W13', 1],
    [null, 3],
  ])
  t.deepEqual(await groups('at:month', 'UTC'), [
    ['2025-12', 1],
    ['2026-01', 1],
    ['2026-03', 1],
    [null, 3],
  ])
  const [[year, count]] = await groups('created_at:year', 'UTC')
  t.deepEqual([/^\d{4}$/.test(String(year)), count], [true, 6])
  t.deepEqual(await groups('qty'), [
    [1, 1],
    [2, 2],
    [10, 1],
    [99_999_999_999, 1],
    [null, 1],
  ])
})

test('aggregate: order, limit and the number of all groups', async (t) => {
  const ask = await withDeals(await shared())
  const stages = async (query: Record<string, string>) => {
    const { data, text } = await ask({ metrics: 'count,sum:qty', group_by: 'stage,paid', ...query })
    return data ? [data.groups.map(({ by }: { by: object }) => Object.values(by).join(' ')), data.total_groups] : text
  }
  t.deepEqual(await stages({}), [['new false', 'new true', 'new ', 'won true', 'won ', ' '], 6])
  t.deepEqual(await stages({ dir: 'desc', limit: '3' }), [['won true', 'won ', 'new true'], 6])
  t.deepEqual(await stages({ sort: 'stage', dir: 'desc', limit: '2' }), [['won true', 'won '], 6])
  t.deepEqual(await stages({ sort: 'sum:qty', limit: '3' }), [[' ', 'won true', 'new false'], 6])
  t.deepEqual(await stages({ sort: 'count', dir: 'asc', filter: '{"field":"stage","op":"not_empty"}', limit: '1' }), [['new false'], 5])
})

test('aggregate: what is wrong is named', async (t) => {
  const ask = await withDeals(await shared())
  const refused = async (query: Record<string, string>, message: RegExp) => {
    const answer = await ask(query)
    t.is(answer.status, 400, JSON.stringify(query))
    t.regex(answer.body.error.message, message)
  }
  await refused({}, /metrics is required/)
  await refused({ metrics: '' }, /metrics must name at least one metric/)
  await refused({ metrics: 'sum' }, /metrics must be count, or/)
  await refused({ metrics: 'sum:none' }, /metrics must be a field of deals that you may read, got none/)
  await refused({ metrics: 'median:qty' }, /metrics must be count, or sum, avg, min, max, distinct with a field/)
  await refused({ metrics: 'count:qty' }, /metrics must be count, or/)
  await refused({ metrics: 'sum:stage' }, /stage is a select field and has no sum/)
  await refused({ metrics: 'count,count' }, /metrics must not name count twice/)
  await refused({ metrics: Array.from({ length: 11 }, (_, index) => `sum:f${index}`).join() }, /metrics must have at most 10 entries/)
  await refused({ metrics: 'count', group_by: 'stage,qty,paid,at' }, /group_by must have at most 3 entries/)
  await refused({ metrics: 'count', group_by: 'total' }, /total is a currency field and cannot be grouped by/)
  await refused({ metrics: 'count', group_by: 'tags' }, /tags is a multiselect field and cannot be grouped by/)
  await refused({ metrics: 'count', group_by: 'created_at' }, /must be a field of deals that you may read, got created_at/)
  await refused({ metrics: 'count', group_by: 'closes:hour' }, /closes:hour must have one of the parts day, week, month, quarter, year/)
  await refused({ metrics: 'count', group_by: 'stage:day' }, /stage is a select field and has no parts of a date/)
  await refused({ metrics: 'count', group_by: 'at:day', tz: 'Mars/Base' }, /tz must be an IANA time zone/)
  await refused({ metrics: 'count', sort: 'qty' }, /sort must be one of the requested groups or metrics, got qty/)
  await refused({ metrics: 'count', limit: '1001' }, /limit must be at most 1000/)
  await refused({ metrics: 'count', filter: '{"field":"none","op":"empty"}' }, /filter\.field must be a field of deals/)
})

test('aggregate: only what the caller may read counts, and a field that a rule could hide cannot be named', async (t) => {
  const w = await shared()
  const ask = await withDeals(w)
  const { client } = await createMember(w, w.org, [
    {
      effect: 'allow',
      actions: ['records:read'],
      resources: ['deals'],
      condition: { 'resource.stage': { eq: 'won' } },
      fields: { deny: ['qty', 'at'] },
    },
    // Shows the fields of some records, so a rule could hide them of others.
    { effect: 'allow', actions: ['records:read'], resources: ['deals'], condition: { 'resource.qty': { eq: 10 } } },
  ])
  t.deepEqual((await ask({ metrics: 'count,sum:total', group_by: 'stage' }, client)).data, {
    groups: [
      {
        by: { stage: 'won' },
        metrics: {
          count: 2,
          'sum:total': [
            { amount: 7, code: 'EUR' },
            { amount: 100, code: 'JPY' },
          ],
        },
      },
    ],
    total_groups: 1,
  })
  for (const query of [
    { metrics: 'sum:qty' },
    { metrics: 'distinct:qty' },
    { metrics: 'count', group_by: 'qty' },
    { metrics: 'count', group_by: 'at:day' },
  ])
    t.regex((await ask(query, client)).body.error.message, /must be a field of deals that you may read, got (qty|at)/)
  t.regex(
    (await ask({ metrics: 'count', filter: '{"field":"qty","op":"empty"}' }, client)).body.error.message,
    /filter\.field must be a field/,
  )
  const { client: nobody } = await createMember(w, w.org, [])
  t.is((await ask({ metrics: 'count' }, nobody)).status, 403)
})

test('aggregate: two currency fields, sorted by the average of one, and nothing found', async (t) => {
  const w = await shared()
  const ask = await withDeals(w, [
    { stage: 'new', total: { amount: 1, code: 'USD' }, fee: { amount: 2, code: 'EUR' } },
    { stage: 'new', total: { amount: 2, code: 'USD' }, fee: { amount: 4, code: 'USD' } },
    { stage: 'won', total: { amount: 9, code: 'USD' } },
    { stage: 'won', fee: { amount: 1, code: 'JPY' } },
  ])
  const query = {
    metrics: 'avg:total,sum:fee,count',
    group_by: 'stage,at:day',
    sort: 'avg:total',
    filter: '{"field":"stage","op":"not_empty"}',
  }
  const groups = [
    {
      by: { stage: 'won', 'at:day': null },
      metrics: { 'avg:total': [{ amount: 9, code: 'USD' }], 'sum:fee': [{ amount: 1, code: 'JPY' }], count: 2 },
    },
    {
      by: { stage: 'new', 'at:day': null },
      metrics: {
        'avg:total': [{ amount: 1.5, code: 'USD' }],
        'sum:fee': [
          { amount: 2, code: 'EUR' },
          { amount: 4, code: 'USD' },
        ],
        count: 2,
      },
    },
  ]
  t.deepEqual((await ask(query)).data, { groups, total_groups: 2 })
  t.deepEqual((await ask({ ...query, q: 'nothing' })).data, { groups: [], total_groups: 0 })
  const none = await ask({ metrics: 'count,sum:total,sum:qty,distinct:qty', q: 'nothing' })
  t.deepEqual(none.data, {
    groups: [{ by: {}, metrics: { count: 0, 'sum:total': [], 'sum:qty': null, 'distinct:qty': 0 } }],
    total_groups: 1,
  })
})

test('aggregate: days begin in the zone of the workspace, and groups may be texts, references and files', async (t) => {
  const w = await shared()
  const ask = await withDeals(w)
  await w.org.owner.patch(w.org.path, { timezone: 'Asia/Tokyo' })
  const first = (await w.org.owner.get(`${w.org.path}/records/deals?limit=1`)).data.records[0].id
  await w.org.owner.put(`${w.org.path}/records/deals/${first}/values`, {
    values: { note: 'a "quoted" ü', parent: first, letter: 'a/b.pdf' },
  })
  const days = await ask({ metrics: 'count', group_by: 'at:day' })
  t.deepEqual(
    days.data.groups.map(({ by }: { by: object }) => Object.values(by)[0]),
    ['2026-01-01', '2026-01-05', '2026-03-29', null],
  )
  const { data } = await ask({ metrics: 'count', group_by: 'note,parent,letter', limit: '1' })
  t.deepEqual(data, {
    groups: [{ by: { note: 'a "quoted" ü', parent: first, letter: 'a/b.pdf' }, metrics: { count: 1 } }],
    total_groups: 2,
  })
})

test('aggregate: groups of more than 10 MB ask for a smaller limit', async (t) => {
  const w = await shared()
  const ask = await withDeals(w, [])
  const records = `${w.org.path}/records/deals`
  for (let index = 0; index < 4; index++) {
    const operations = Array.from({ length: 9 }, (_, at) => ({
      op: 'create',
      values: { note: `${index} ${at} ${'ü'.repeat(50_000)}`, long: `${index} ${at} ${'ß'.repeat(99_000)}` },
    }))
    for (const one of operations) t.is((await w.org.owner.post(records, { values: one.values })).status, 201)
  }
  const refused = await ask({ metrics: 'count', group_by: 'note,long' })
  t.is(refused.status, 400, refused.text.slice(0, 200))
  t.regex(refused.body.error.message, /limit must be less than 100 here: the groups have more than 10 MB/)
  t.is((await ask({ metrics: 'count', group_by: 'note,long', limit: '5' })).data.total_groups, 36)
})

test('aggregate: sums and averages are exact beyond the digits of a double', async (t) => {
  const w = await shared()
  const amounts = ['99999999999999.999999', '0.000001', '-33333333333333.333333', '12.5', '7']
  const ask = await withDeals(
    w,
    amounts.map((amount) => ({ qty: amount, total: { amount, code: 'EUR' }, stage: 'new' })),
  )
  const { text } = await ask({ metrics: 'sum:qty,avg:qty,sum:total,avg:total' })
  // 99999999999999.999999 + 0.000001 - 33333333333333.333333 + 12.5 + 7, and a fifth of it.
  const [sum, average] = ['66666666666686.166667', '13333333333337.2333334']
  t.true(text.includes(`"sum:qty":${sum},`), text)
  t.true(text.includes(`"avg:qty":${average},`), text)
  t.true(text.includes(`"sum:total":[{"amount":${sum},"code":"EUR"}]`), text)
  t.true(text.includes(`"avg:total":[{"amount":${average},"code":"EUR"}]`), text)
})

test('aggregate: an instant that the zone moves out of the years 0001 to 9999 counts on their first or last day', async (t) => {
  const instants = ['0001-01-01T00:00:00Z', '0001-12-31T12:00:00Z', '9999-12-31T23:59:59Z', '2150-07-01T00:00:00Z']
  const ask = await withDeals(
    await shared(),
    instants.map((at) => ({ at })),
  )
  const groups = async (part: string, tz: string) =>
    (await ask({ metrics: 'count', group_by: `at:${part}`, tz })).data.groups.map(
      ({ by, metrics }: { by: object; metrics: { count: number } }) => `${Object.values(by)[0]} ${metrics.count}`,
    )
  t.deepEqual(await groups('day', 'America/New_York'), ['0001-01-01 1', '0001-12-31 1', '2150-06-30 1', '9999-12-31 1'])
  t.deepEqual(await groups('year', 'Asia/Tokyo'), ['0001 2', '2150 1', '9999 1'])
  t.deepEqual(await groups('week', 'Asia/Tokyo'), ['0001-W01 1', '0002-W01 1', '2150-W27 1', '9999-W52 1'])
})
