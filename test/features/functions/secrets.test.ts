import test from 'ava'
import { readSecrets } from '#test/features/functions/rows.ts'
import { createFunction, handlerOf, invoke, runBody } from '#test/features/functions/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)
const value = 'sk_live_"quoted"_7Gq2'

test('secrets: a secret is stored, listed by name, replaced and deleted, and no answer contains its value', async (t) => {
  const { org } = await fresh()
  const { owner, path } = org
  const all = `${path}/functions/secrets`
  const kept = await owner.put(`${all}/API_KEY`, { value })
  t.is(kept.status, 200)
  t.deepEqual(Object.keys(kept.data), ['name', 'created_at', 'updated_at'])
  const replaced = await owner.put(`${all}/API_KEY`, { value: 'next' })
  t.is(replaced.data.created_at, kept.data.created_at)
  await owner.put(`${all}/A`, { value: 'x' })
  t.deepEqual(
    (await owner.get(all)).data.map(({ name }: { name: string }) => name),
    ['A', 'API_KEY'],
  )
  t.is((await owner.delete(`${all}/A`)).status, 204)
  t.is((await owner.delete(`${all}/A`)).status, 404)
  t.is((await owner.get(`${all}/API_KEY`)).status, 404)
  for (const name of ['1a', 'a-b', 'a'.repeat(65), '%C3%A9']) t.is((await owner.put(`${all}/${name}`, { value: 'x' })).status, 400, name)
  for (const bad of [{}, { value: '' }, { value: 'x'.repeat(4_097) }, { value: 7 }]) t.is((await owner.put(`${all}/B`, bad)).status, 400)
})

test('secrets: a function reads a secret of its workspace, and nothing that it prints, throws or returns shows it', async (t) => {
  const w = await fresh()
  const { org } = w
  await org.owner.put(`${org.path}/functions/secrets/KEY`, { value })
  await org.owner.put(`${org.path}/functions/secrets/PIN`, { value: '12345678' })
  const body = `const key = await sdk.secrets.get('KEY'); const pin = await sdk.secrets.get('PIN')
    console.log('key', key); console.error({ nested: ['a ' + key] })
    if (input) throw new Error('bad key ' + key)
    return { length: key.length, key, list: ['x' + key + 'y', Number(pin), -12345678.5], ['k' + key]: 1, digits: pin.split('').join(' ') }`
  const { id } = await createFunction(t, org, handlerOf(body))
  const fine = await invoke(t, org, id)
  t.deepEqual(fine.result, {
    length: value.length,
    key: '[secret]',
    list: ['x[secret]y', '[secret]', '[secret]'],
    'k[secret]': 1,
    digits: '1 2 3 4 5 6 7 8',
  })
  t.is(fine.logs[0].msg, 'key [secret]')
  t.is(fine.logs[1].msg, '{"nested":["a [secret]"]}', 'also where JSON has quoted it')
  const failed = await invoke(t, org, id, 1)
  t.is(failed.error, 'bad key [secret]')
  const runs = (await org.owner.get(`${org.path}/functions/${id}/runs`)).data.runs
  for (const run of runs) t.false((await org.owner.get(`${org.path}/functions/${id}/runs/${run.id}`)).text.includes('sk_live'))
  for (const stored of await readSecrets(w.db, org.id)) t.false(stored.includes(value))

  const outer = await runBody(t, org, `return sdk.functions.invoke('${id}')`)
  t.false(JSON.stringify(outer).includes('sk_live'), 'nor does the run that invokes it')
  const other = await createOrg(w)
  t.is((await runBody(t, other, "return sdk.secrets.get('KEY')")).error, "There is no secret KEY that the function's author may use")
})

test('secrets: only the source of an author who may write every function reads a secret', async (t) => {
  const { org } = await fresh()
  await org.owner.put(`${org.path}/functions/secrets/KEY`, { value })
  const source = handlerOf("return (await sdk.secrets.get('KEY')).length")
  const { id } = await createFunction(t, org, source)
  const write = { effect: 'allow', actions: ['functions:create', 'functions:invoke'] }
  const one = await createMember(await fresh(), org, [{ ...write, resources: [id] }])
  const all = await createMember(await fresh(), org, [write])
  t.is((await invoke(t, org, id, null, one.client)).result, value.length, 'the source is still that of the owner')
  t.is((await one.client.put(`${org.path}/functions/${id}`, { source: `${source} ` })).status, 200)
  for (const client of [one.client, org.owner])
    t.is((await invoke(t, org, id, null, client)).error, "There is no secret KEY that the function's author may use")
  t.is((await all.client.put(`${org.path}/functions/${id}`, { source })).status, 200)
  t.is((await invoke(t, org, id, null, one.client)).result, value.length)
})

test('secrets: the result of an invoked run that read a secret does not show it either', async (t) => {
  const { org } = await fresh()
  await org.owner.put(`${org.path}/functions/secrets/KEY`, { value })
  const inner = await createFunction(
    t,
    org,
    handlerOf("console.log(input); if (input.fails) throw new Error('bad ' + input.key); return { sent: input.key }"),
  )
  const middle = await createFunction(t, org, handlerOf(`return (await sdk.functions.invoke('${inner.id}', input)).result`))
  const body = `const key = await sdk.secrets.get('KEY')
    const { result } = await sdk.functions.invoke('${middle.id}', { key })
    const { error } = await sdk.functions.invoke('${inner.id}', { key, fails: true })
    return [result.sent === key, error === 'bad ' + key, error]`
  t.deepEqual((await runBody(t, org, body)).result, [true, true, 'bad [secret]'], 'the run that read it may use what came back')
  for (const { id } of [inner, middle]) {
    const { runs } = (await org.owner.get(`${org.path}/functions/${id}/runs`)).data
    t.true(runs.length > 0)
    for (const run of runs) t.false((await org.owner.get(`${org.path}/functions/${id}/runs/${run.id}`)).text.includes('sk_live'))
  }
})

test('secrets: a secret shows neither where output is cut nor in JSON within JSON', async (t) => {
  const { org } = await fresh()
  await org.owner.put(`${org.path}/functions/secrets/KEY`, { value })
  const cut = `const key = await sdk.secrets.get('KEY')
    console.log('x'.repeat(256 * 1024 - 10) + key)
    throw new Error('y'.repeat(8_192 - 10) + key)`
  const { logs, error } = await runBody(t, org, cut)
  t.deepEqual(
    [logs[0].msg.slice(-10), error.slice(-10)],
    ['x[secret]', 'y[secret]'].map((end) => end.padStart(10, end[0])),
  )
  const nested = `const key = await sdk.secrets.get('KEY'); const text = JSON.stringify([JSON.stringify([key])])
    console.log({ text }); return text`
  const answer = await runBody(t, org, nested)
  t.false(JSON.stringify(answer).includes('sk_live'), JSON.stringify(answer))
  t.is((await runBody(t, org, "await sdk.secrets.get('KEY'); console.log('tasks'); throw new Error('tasks')")).error, 'tasks')
})

test('secrets: redaction of a secret that occurs in Kontor’s own messages leaves them whole', async (t) => {
  const { org } = await fresh()
  for (const [index, value] of ['e', 'log', 'msg', 'secret', 'KB', '1'].entries()) {
    await org.owner.put(`${org.path}/functions/secrets/S${index}`, { value })
  }
  const body = `for (let n = 0; n < 6; n++) await sdk.secrets.get('S' + n)
    console.error('the log of a secret'); return { key: 'log 1', list: [1, true, null] }`
  const { logs, result, timed_out } = await runBody(t, org, body)
  t.deepEqual(logs, [{ level: 'error', msg: 'th[secret] [secret] of a [secret]' }])
  t.deepEqual([result, timed_out], [{ 'k[secret]y': '[secret] [secret]', list: ['[secret]', true, null] }, false])
})

test('secrets: a workspace has at most 100 secrets, even with concurrent callers', async (t) => {
  const { org } = await fresh()
  const { owner, path } = org
  const keep = (name: string) => owner.put(`${path}/functions/secrets/${name}`, { value: name })
  for (let count = 0; count < 95; count += 19) await Promise.all(Array.from({ length: 19 }, (_, index) => keep(`S${count + index}`)))
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => keep(`T${index}`)))
  t.is(answers.filter(({ status }) => status === 200).length, 5)
  for (const { status, body } of answers.filter(({ status }) => status !== 200)) {
    t.is(status, 400)
    t.is(body.error.message, 'a workspace may keep at most 100 secrets')
  }
  t.is((await keep('S0')).status, 200, 'one that is there is replaced')
  t.is((await owner.get(`${path}/functions/secrets`)).data.length, 100)
})
