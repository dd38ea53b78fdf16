import { createHmac } from 'node:crypto'
import test from 'ava'
import { invokeFunctionJob, runFunctionJob } from '#shared/features/functions/jobs.ts'
import { sdkMethods } from '#shared/features.ts'
import { allow, createFunction, handlerOf, invoke, runBody } from '#test/features/functions/support.ts'
import { readCauses } from '#test/support/audit.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { removeMember, unassignRoles } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)
const caught = (call: string) =>
  `try { await ${call}; return 'done' } catch (error) { return [error.code, error.message, error instanceof Error] }`

test('functions sdk: a function pages through records by cursors, which lead on in the same listing only', async (t) => {
  const { org } = await fresh()
  const { result } = await runBody(
    t,
    org,
    `for (const name of ['A', 'B', 'C']) await sdk.records.create('locations', { name })
     const names = []
     let page = await sdk.records.list('locations', { limit: 2 })
     const { next_cursor } = page
     for (;;) {
       names.push(...page.records.map(({ values }) => values.name))
       if (!page.next_cursor) break
       page = await sdk.records.list('locations', { limit: 1, cursor: page.next_cursor })
     }
     const code = (query, type = 'locations') => sdk.records.list(type, query).then(() => 'done', (error) => error.code)
     return { names, next_cursor, other: await code({ cursor: next_cursor }, 'invoices'), search: await code({ cursor: next_cursor, q: 'A' }) }`,
  )
  t.deepEqual(result.names.slice(0, 3), ['C', 'B', 'A'])
  t.deepEqual([result.other, result.search], ['VALIDATION_ERROR', 'VALIDATION_ERROR'])
  t.is((await org.owner.get(`${org.path}/records/locations?cursor=${result.next_cursor}`)).status, 400)
})

test('functions sdk: records are created, read, changed, listed, searched and deleted as through the API', async (t) => {
  const { org } = await fresh()
  const { result, steps } = await runBody(
    t,
    org,
    `const made = await sdk.records.create('locations', { name: 'Berlin', address: 'A 1' })
     const updated = await sdk.records.update('locations', made.id, { address: null })
     const got = await sdk.records.get('locations', made.id)
     const listed = await sdk.records.list('locations')
     const found = await sdk.records.list('locations', { filter: [{ field: 'name', op: 'contains', value: 'berl' }], limit: 1 })
     const same = await sdk.records.list('locations', { filter: '[{"field":"name","value":"Nowhere"}]', sort: 'name', dir: 'asc' })
     const removed = await sdk.records.delete('locations', made.id)
     return { made, updated: updated === undefined, got, listed, found, same, removed: removed === undefined }`,
  )
  t.like(result.made.values, { name: 'Berlin', address: 'A 1' })
  t.is(result.made.created_by, org.ownerId)
  t.like(result.got, { ...result.made, updated_at: result.got.updated_at, values: { name: 'Berlin', address: null } })
  t.deepEqual(result.listed, { records: [result.got] })
  t.deepEqual(result.found, { records: [result.got], total: 1 })
  t.deepEqual(result.same, { records: [], total: 0 })
  t.true(result.updated && result.removed)
  const names = ['create', 'update', 'get', 'list', 'list', 'list', 'delete'].map((name) => `records.${name}`)
  t.deepEqual(
    steps,
    names.map((method) => ({ method, is_error: false })),
  )
  const { data } = await org.owner.get(`${org.path}/audit?object_type=locations`)
  t.deepEqual(
    data.entries.map(({ action, actor_id }: Record<string, string>) => [action, actor_id]),
    [
      ['record.deleted', org.ownerId],
      ['record.updated', org.ownerId],
      ['record.created', org.ownerId],
    ],
  )
})

test('functions sdk: an unknown key is refused by its name, and an object that was read may be sent back', async (t) => {
  const { org } = await fresh()
  const account = async (code: string) =>
    (await org.owner.post(`${org.path}/records/accounts`, { values: { code, name: code, kind: 'asset' } })).data.id as string
  const [one, two] = [await account('1000'), await account('1100')]
  await org.owner.post(`${org.path}/queues`, {
    key: 'dock',
    name: 'Dock',
    stages: [
      { key: 'in', label: 'In', kind: 'start', position: 1 },
      { key: 'out', label: 'Out', kind: 'terminal', position: 2 },
    ],
  })
  const { result } = await runBody(
    t,
    org,
    `const posted = await sdk.accounting.post({ lines: [{ account_id: '${one}', debit: 1 }, { account_id: '${two}', credit: 1 }] })
     const tried = async (call) => { try { await call(); return 'done' } catch (error) { return error.code + ': ' + error.message } }
     await sdk.queues.enqueue('dock', [{ key: 'a' }])
     const { items } = await sdk.queues.items('dock')
     return [
       await tried(() => sdk.accounting.post(posted)),
       await tried(() => sdk.queues.enqueue('dock', items)),
       await tried(() => sdk.queues.claim('dock')),
       await tried(() => sdk.queues.move('dock', items[0].id, 'out', null)),
       await tried(() => sdk.accounting.post({ ...posted, memoo: 'x' })),
       await tried(() => sdk.accounting.post({ lines: [{ ...posted.lines[0], debbit: 1 }, posted.lines[1]] })),
       await tried(() => sdk.accounting.reverse(posted.id, { dat: '2026-01-01' })),
       await tried(() => sdk.messages.send({ connection_id: 'x', to: 'a@example.com', cc: 'b@example.com' })),
       await tried(() => sdk.queues.enqueue('dock', [{ key: 'b', prio: 1 }])),
       await tried(() => sdk.queues.claim('dock', { counts: 2 })),
       await tried(() => sdk.queues.scan('dock', { key: 'a', stagee: 'in' })),
       await tried(() => sdk.queues.items('dock', { stagee: 'in' })),
       await tried(() => sdk.queues.move('dock', items[0].id, 'in', { notee: 'x' })),
       await tried(() => sdk.records.list('accounts', { limits: 1 })),
     ]`,
  )
  t.deepEqual(result.slice(0, 4), ['done', 'done', 'done', 'done'])
  const keys = [
    ...['entry.memoo', String.raw`entry.lines\[0\].debbit`, 'reversal.dat', 'message.cc', String.raw`items\[0\].prio`, 'options.counts'],
    ...['options.stagee', 'query.stagee', 'options.notee', 'query.limits'],
  ]
  for (const [index, key] of keys.entries()) t.regex(result[4 + index], new RegExp(`^VALIDATION_ERROR: ${key} is no key of `))
})

test('functions sdk: a call that the API would refuse throws with its code and message', async (t) => {
  const { org } = await fresh()
  const { id } = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'x' } })).data
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["sdk.records.get('locations', 'nothing')", 'NOT_FOUND', /./],
    ["sdk.records.get('nothing', 'x')", 'NOT_FOUND', /./],
    ["sdk.records.get('locations')", 'VALIDATION_ERROR', /^id must be a string/],
    ["sdk.records.get('locations', 7)", 'VALIDATION_ERROR', /^id must be a string/],
    ["sdk.records.create('locations')", 'VALIDATION_ERROR', /values\.name is required/],
    ["sdk.records.create('locations', [1])", 'VALIDATION_ERROR', /^values must be an object/],
    ["sdk.records.create('locations', { name: 'x', nothing: 1 })", 'VALIDATION_ERROR', /nothing/],
    [`sdk.records.update('locations', '${id}')`, 'VALIDATION_ERROR', /^values must be an object/],
    ["sdk.records.list('locations', { limit: 201 })", 'VALIDATION_ERROR', /query\.limit must be at most 200/],
    ["sdk.records.list('locations', { limit: 'x' })", 'VALIDATION_ERROR', /query\.limit must be an integer/],
    ["sdk.records.list('locations', { filter: 'x' })", 'VALIDATION_ERROR', /filter/],
    ["sdk.records.list('locations', 'x')", 'VALIDATION_ERROR', /^query must be an object/],
    ["sdk.functions.invoke('x')", 'NOT_FOUND', /./],
    ["sdk.secrets.get('nothing')", 'NOT_FOUND', /There is no secret nothing/],
    ["sdk.crypto.hmac('md5', 'a', 'b')", 'VALIDATION_ERROR', /^algorithm must be one of/],
    ["sdk.crypto.hmac('sha256', 'a')", 'VALIDATION_ERROR', /^text must be a string/],
  ]
  for (const [call, code, message] of cases) {
    const { result, steps } = await runBody(t, org, caught(call))
    t.is(result[0], code, call)
    t.regex(result[1], message)
    t.true(result[2])
    t.true(steps[0].is_error)
  }
})

test('functions sdk: a listing accepts the query parameters of the API as they are', async (t) => {
  const { org } = await fresh()
  for (const name of ['a', 'b', 'c']) await org.owner.post(`${org.path}/records/locations`, { values: { name } })
  const query = { limit: '2', page: '2', sort: 'name', dir: 'asc' }
  const { result } = await runBody(
    t,
    org,
    "return (await sdk.records.list('locations', input)).records.map(({ values }) => values.name)",
    query,
  )
  t.deepEqual(result, ['c'])
})

test('functions sdk: the methods are those that features declare', async (t) => {
  const { org } = await fresh()
  const { result } = await runBody(
    t,
    org,
    "return Object.entries(sdk).flatMap(([space, methods]) => Object.keys(methods).map((name) => space + '.' + name))",
  )
  t.deepEqual(result.toSorted(), sdkMethods.map(({ name }) => name).toSorted())
})

test('functions sdk: a function creates hashes and ids', async (t) => {
  const { org } = await fresh()
  const { result } = await runBody(
    t,
    org,
    "return [await sdk.crypto.hmac('sha256', 'kéy', 'text 😀'), await sdk.crypto.uuid(), await sdk.crypto.uuid()]",
  )
  t.is(result[0], createHmac('sha256', 'kéy').update('text 😀').digest('hex'))
  t.regex(result[1], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.not(result[1], result[2])
})

test('functions sdk: a run has the rights of its caller, not those of the function’s author', async (t) => {
  const w = await fresh()
  const { org } = w
  await org.owner.post(`${org.path}/records/locations`, { values: { name: 'Berlin', address: 'secret' } })
  const reads = { ...allow('records:read'), resources: ['locations'], fields: { deny: ['address'] } }
  const reader = await createMember(w, org, [allow('functions:invoke'), reads])
  const nobody = await createMember(w, org, [allow('functions:invoke')])
  const list = await createFunction(t, org, handlerOf("return (await sdk.records.list('locations')).records.map(({ values }) => values)"))
  const create = await createFunction(t, org, handlerOf(caught("sdk.records.create('locations', { name: 'x' })")))
  t.deepEqual((await invoke(t, org, list.id, null, reader.client)).result, [{ name: 'Berlin', timezone: null }])
  t.deepEqual((await invoke(t, org, create.id, null, reader.client)).result, ['FORBIDDEN', 'Needs records:create on locations', true])
  t.is((await invoke(t, org, list.id, null, nobody.client)).error, 'Needs records:read on locations')
})

test('functions sdk: a right that is removed during a run is refused at the next call', async (t) => {
  const w = await fresh()
  const { org } = w
  const { id: made } = (await org.owner.post(`${org.path}/records/locations`, { values: { name: 'Berlin' } })).data
  const { client, id: member } = await createMember(w, org, [allow('functions:invoke', 'records:read', 'records:update')])
  const { id } = await createFunction(
    t,
    org,
    handlerOf(`await sdk.records.update('locations', '${made}', { address: 'begun' })
      for (;;) try { await sdk.records.get('locations', '${made}') } catch (error) { return error.code }`),
  )
  const running = invoke(t, org, id, null, client)
  const read = async () => (await org.owner.get(`${org.path}/records/locations/${made}`)).data
  await eventually(async () => (await read()).values.address === 'begun')
  await unassignRoles(w.db, member)
  t.is((await running).result, 'FORBIDDEN')
})

test('functions sdk: a function invokes another with the rights of its own caller', async (t) => {
  const w = await fresh()
  const { org } = w
  const inner = await createFunction(
    t,
    org,
    handlerOf("console.log('inner', input); if (input < 0) throw new Error('negative'); return (await sdk.crypto.uuid()).length + input"),
  )
  const outer = await createFunction(t, org, handlerOf(`return sdk.functions.invoke('${inner.id}', input)`))
  const { result, steps, logs } = await invoke(t, org, outer.id, 4)
  t.like(result, {
    result: 40,
    timed_out: false,
    logs: [{ level: 'log', msg: 'inner 4' }],
    steps: [{ method: 'crypto.uuid', is_error: false }],
  })
  t.deepEqual([steps, logs], [[{ method: 'functions.invoke', is_error: false }], []])
  t.like((await invoke(t, org, outer.id, -1)).result, { result: null, error: 'negative' })

  const { client } = await createMember(w, org, [{ ...allow('functions:invoke'), resources: [outer.id] }])
  t.is((await invoke(t, org, outer.id, 4, client)).error, `Needs functions:invoke on ${inner.id}`)
  await org.owner.put(`${org.path}/functions/${inner.id}`, { enabled: false })
  t.is((await invoke(t, org, outer.id, 4)).error, 'The function is disabled')
})

test('functions sdk: the audit names the run that made a change, of functions that invoke each other too', async (t) => {
  const { org } = await fresh()
  const create = (name: string) => `await sdk.records.create('locations', { name: '${name}' })`
  const changes = `const { id } = ${create('inner')}
    await sdk.records.update('locations', id, { address: 'x' })
    await sdk.records.delete('locations', id)`
  const inner = await createFunction(t, org, handlerOf(changes))
  const body = `${create('before')}; await sdk.functions.invoke('${inner.id}', null); ${create('after')}`
  const outer = await createFunction(t, org, handlerOf(body))
  await invoke(t, org, outer.id)
  const runOf = async (id: string) => (await org.owner.get(`${org.path}/functions/${id}/runs`)).data.runs[0].id
  const [ofOuter, ofInner] = [await runOf(outer.id), await runOf(inner.id)]
  t.not(ofOuter, ofInner)
  t.deepEqual(await readCauses(org, 'object_type=locations'), [
    ['created locations: function', ofOuter],
    ...['created', 'updated', 'deleted'].map((change) => [`${change} locations: function`, ofInner]),
    ['created locations: function', ofOuter],
  ])
})

test('functions sdk: functions invoke each other to a depth of three at most', async (t) => {
  const { org } = await fresh()
  const { id } = await createFunction(
    t,
    org,
    handlerOf(`try { const { result } = await sdk.functions.invoke(input.id, { ...input, level: input.level + 1 }); return result }
      catch (error) { return [input.level, error.code, error.message] }`),
  )
  t.deepEqual((await invoke(t, org, id, { id, level: 0 })).result, [3, 'VALIDATION_ERROR', 'functions.invoke may go 3 deep'])
})

test('functions sdk: runs that one run invokes execute one after the other, within its slot', async (t) => {
  const { org } = await fresh()
  const inner = await createFunction(
    t,
    org,
    handlerOf('const from = Date.now(); await new Promise((resolve) => setTimeout(resolve, 30)); return [from, Date.now()]'),
  )
  const outer = await createFunction(
    t,
    org,
    handlerOf(`return Promise.all(Array.from({ length: 8 }, () => sdk.functions.invoke('${inner.id}')))`),
  )
  const { result } = await invoke(t, org, outer.id)
  const spans = result.map((one: { result: [number, number] }) => one.result).sort(([a]: number[], [b]: number[]) => (a ?? 0) - (b ?? 0))
  for (const [index, [from]] of spans.entries()) t.true(index === 0 || from >= spans[index - 1][1], JSON.stringify(spans))
})

test('functions sdk: runs that invoke each other and hold all four slots end', async (t) => {
  const { org } = await fresh()
  const { id } = await createFunction(
    t,
    org,
    handlerOf(
      'if (input.level === 3) return 1; return 1 + (await sdk.functions.invoke(input.id, { ...input, level: input.level + 1 })).result',
    ),
  )
  const runs = await Promise.all(Array.from({ length: 12 }, () => invoke(t, org, id, { id, level: 0 })))
  t.deepEqual(
    runs.map(({ result }) => result),
    Array(12).fill(4),
  )
})

test('functions sdk: a run that ends interrupts the run that it invoked', async (t) => {
  const w = await fresh()
  const { org } = w
  const inner = await createFunction(t, org, handlerOf('await new Promise(() => undefined)'))
  const outer = await createFunction(t, org, handlerOf(`await sdk.functions.invoke('${inner.id}')`), { timeout_ms: 5_000 })
  t.like(await invoke(t, org, outer.id), { error: 'timed out', steps: [{ method: 'functions.invoke', is_error: true }] })
  const run = await eventually(async () => (await org.owner.get(`${org.path}/functions/${inner.id}/runs`)).data.runs[0])
  t.like(run, { ending: 'interrupted', error: 'the run was interrupted' })
})

test('functions sdk: a run on behalf of another feature has no right that the function’s author lacks', async (t) => {
  const w = await fresh()
  const { org, api } = w
  const author = await createMember(w, org, [allow('functions:create', 'records:read')])
  const source = handlerOf(
    "const { records } = await sdk.records.list('locations'); await sdk.records.create('locations', { name: 'x' }); return records.length",
  )
  const { id } = (await author.client.post(`${org.path}/functions`, { name: 'x', source })).data
  const cause = { actorId: org.ownerId, actorType: 'user', requestId: 'r', depth: 0, kind: 'request', id: null } as const
  const run = async (rights: 'caller' | 'lesser', functionId = id) => {
    const payload = { functionId, input: 'null', rights }
    const job = rights === 'caller' ? invokeFunctionJob : runFunctionJob
    const operation = await api.services.jobQueue.enqueue(api.services.database, job, { workspaceId: org.id, cause }, payload)
    return (await api.services.waiter.wait(operation, 30_000))?.result as Record<string, unknown>
  }
  t.like(await run('caller'), { result: 0 })
  t.like(await run('lesser'), { error: 'Needs records:create on locations', steps: [{ is_error: false }, { is_error: true }] })

  const inner = await createFunction(t, org, handlerOf(`return (await sdk.functions.invoke('${id}')).error`))
  t.is((await run('lesser', inner.id)).result, 'Needs records:create on locations', 'an invoked function is bound by its own author too')

  await removeMember(w.db, org.id, author.id)
  t.like(await run('lesser'), { error: 'Needs records:read on locations' }, 'an author that has left has no right')
})
