import test from 'ava'
import { admitVisitors, countLeads, leads, makeForm, makeLeads, sendPage, submissionsOf } from '#test/features/forms/making.ts'
import { moveRoles } from '#test/features/forms/rows.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { readCauses } from '#test/support/audit.ts'
import { createMember } from '#test/support/factories.ts'
import { removeMember, setPlan } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1', FREE_RECORDS: '1' })

async function begin(): Promise<World> {
  const w = await start()
  await admitVisitors(w)
  await makeLeads(w)
  return w
}

const submit = (w: World, path: string, values: object) => w.visitor.post(path, { values }, fromAnywhere())
const retry = async (w: World, formId: string, id: string) => {
  const answer = await w.org.owner.post(`${w.org.path}/forms/${formId}/submissions/${id}/retry`)
  await w.drain()
  return answer
}

test('follow: a submission becomes a record of the form’s last editor', async (t) => {
  const w = await begin()
  const made = await makeForm(w, leads)
  t.is((await submit(w, made.open, { email: 'a@example.com', note: 'Hello' })).status, 201)
  const [one] = await submissionsOf(w, made)
  const { data } = await w.org.owner.get(`${w.org.path}/records/leads/${one?.record_id}`)
  t.like(data, { created_by: w.org.ownerId })
  t.deepEqual(data.values, { email: 'a@example.com', note: 'Hello' })
  t.deepEqual(await readCauses(w.org, 'object_type=leads'), [['created leads: form', one?.id]])
})

test('follow: a visitor does not learn that a value is taken; the submission has the error, and a retry creates the record', async (t) => {
  const w = await begin()
  const made = await makeForm(w, leads)
  const [first, second] = [await submit(w, made.open, { email: 'a@example.com' }), await submit(w, made.open, { email: 'a@example.com' })]
  t.deepEqual([first.status, first.text], [201, second.text])
  const sent = await submissionsOf(w, made)
  const failed = sent.find(({ error }) => error)
  t.like(failed, { record_id: null })
  t.regex(failed?.error ?? '', /^DUPLICATE_VALUE: /)
  t.is((await retry(w, made.id, failed?.id ?? '')).status, 202)
  t.regex((await submissionsOf(w, made)).find(({ id }) => id === failed?.id)?.error ?? '', /DUPLICATE_VALUE/)
  const held = sent.find(({ record_id }) => record_id)?.record_id
  await w.org.owner.delete(`${w.org.path}/records/leads/${held}`)
  const answer = await retry(w, made.id, failed?.id ?? '')
  t.like(answer.data, { id: failed?.id, error: null, state: 'waiting' })
  t.is(await countLeads(w), 1)
  t.like((await submissionsOf(w, made))[0], { error: null, state: 'done' })
  t.is((await retry(w, made.id, failed?.id ?? '')).data.state, 'done')
  t.is(await countLeads(w), 1)
})

test('follow: a visitor is thanked even if the form’s target is broken, and a retry after the repair creates one record', async (t) => {
  const w = await begin()
  const all = [{ effect: 'allow', actions: ['*'] }]
  const editor = await createMember(w, w.org, all)
  const made = await makeForm(w)
  const body = { key: 'contact', name: 'Contact', fields: [{ key: 'email', label: 'E', type: 'email' }], published: true, ...leads }
  t.is((await editor.client.put(`${w.org.path}/forms/${made.id}`, body)).status, 200)
  await moveRoles(w.db, w.org.id, editor.id, w.org.ownerId)
  t.is((await submit(w, made.open, { email: 'demoted@example.com' })).status, 201)
  t.regex((await submissionsOf(w, made))[0]?.error ?? '', /^FORBIDDEN: Needs records:create on leads/)
  await removeMember(w.db, w.org.id, editor.id)
  t.is((await submit(w, made.open, { email: 'left@example.com' })).status, 201)
  t.regex((await submissionsOf(w, made))[0]?.error ?? '', /^FORBIDDEN: .*left/)
  await w.org.owner.put(`${w.org.path}/forms/${made.id}`, body)
  await w.org.owner.delete(`${w.org.path}/types/leads`)
  await w.drain()
  t.is((await submit(w, made.open, { email: 'gone@example.com' })).status, 201)
  t.regex((await submissionsOf(w, made))[0]?.error ?? '', /^NOT_FOUND/)
  await makeLeads(w)
  const sent = await submissionsOf(w, made)
  for (const { id } of sent) for (const _ of [1, 2]) await retry(w, made.id, id)
  t.is(await countLeads(w), 3)
  t.deepEqual(
    (await submissionsOf(w, made)).map(({ error }) => error),
    [null, null, null],
  )
})

test('follow: the cap of the free plan refuses no visitor', async (t) => {
  const w = await begin()
  const made = await makeForm(w, leads)
  await setPlan(w.db, w.org.id, 'free')
  for (const email of ['a@example.com', 'b@example.com']) t.is((await submit(w, made.open, { email })).status, 201)
  const errors = (await submissionsOf(w, made)).map(({ error }) => error)
  t.is(errors.filter((error) => error === null).length, 1)
  t.is(errors.filter((error) => error?.startsWith('LIMIT_EXCEEDED')).length, 1)
})

test('follow: a filled hidden field marks a submission as spam, with the same answer and no effect until it is retried', async (t) => {
  const w = await begin()
  const made = await makeForm(w, leads)
  const human = await sendPage(w, made.hosted, { email: 'a@example.com', 'company-website': '' }, fromAnywhere())
  const bot = await sendPage(w, made.hosted, { email: 'b@example.com', 'company-website': 'https://spam.example' }, fromAnywhere())
  t.is(bot.status, human.status)
  t.is(bot.text, human.text)
  const sent = await submissionsOf(w, made)
  t.deepEqual(
    sent.map(({ spam, record_id }) => [spam !== null, record_id !== null]),
    [
      [true, false],
      [false, true],
    ],
  )
  const answer = await retry(w, made.id, sent[0]?.id ?? '')
  t.is(answer.data.spam, null)
  t.is(await countLeads(w), 2)
})

test('follow: the function of a form gets the submission, with only the rights that both editor and author have', async (t) => {
  const w = await begin()
  const { owner, path } = w.org
  const source = `const handler = async (input) => {
    if (input.values.note === 'throw') throw new Error('on purpose')
    return sdk.records.create('leads', { email: input.values.email, note: input.form + ' ' + input.submission_id })
  }`
  const author = await createMember(w, w.org, [{ effect: 'allow', actions: ['functions:create', 'functions:read'] }])
  const fn = (await author.client.post(`${path}/functions`, { name: 'Take', source })).data
  const made = await makeForm(w, { function_id: fn.id })
  t.is((await submit(w, made.open, { email: 'a@example.com' })).status, 201)
  t.regex((await submissionsOf(w, made))[0]?.error ?? '', /^function failed: .*records:create/)
  t.is((await owner.put(`${path}/functions/${fn.id}`, { source: `${source}\n` })).status, 200)
  await retry(w, made.id, (await submissionsOf(w, made))[0]?.id ?? '')
  const [one] = await submissionsOf(w, made)
  t.like(one, { error: null, state: 'done' })
  const { records } = (await owner.get(`${path}/records/leads`)).data
  t.is(records[0].values.note, `contact ${one?.id}`)
  await submit(w, made.open, { email: 'b@example.com', note: 'throw' })
  t.regex((await submissionsOf(w, made))[0]?.error ?? '', /^function failed: .*on purpose/)
  const manages = { effect: 'allow', actions: ['forms:manage'] }
  const keeper = await createMember(w, w.org, [manages])
  const writer = await createMember(w, w.org, [manages, { effect: 'allow', actions: ['functions:create'], resources: [fn.id] }])
  const errorFor = async ({ client }: typeof keeper) => (await client.get(`${path}/forms/${made.id}/submissions`)).data.submissions[0].error
  t.is(await errorFor(keeper), 'function failed')
  t.regex(await errorFor(writer), /^function failed: .*on purpose/)
  await owner.put(`${path}/functions/${fn.id}`, { enabled: false })
  await submit(w, made.open, { email: 'c@example.com' })
  t.regex((await submissionsOf(w, made))[0]?.error ?? '', /disabled/)
  await owner.patch(path, { apps: { functions: false } })
  await submit(w, made.open, { email: 'd@example.com' })
  t.regex((await submissionsOf(w, made))[0]?.error ?? '', /switched off/)
})

test('follow: an editor who may not run a function cannot attach it to a form', async (t) => {
  const w = await begin()
  const { owner, path } = w.org
  const fn = (await owner.post(`${path}/functions`, { name: 'Take', source: 'const handler = () => 1' })).data
  const editor = await createMember(w, w.org, [{ effect: 'allow', actions: ['forms:manage'] }])
  const body = { key: 'mine', name: 'Mine', fields: [], function_id: fn.id, published: true }
  t.is((await editor.client.post(`${path}/forms`, body)).status, 403)
  t.is((await owner.post(`${path}/forms`, body)).status, 201)
})
