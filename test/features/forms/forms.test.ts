import test from 'ava'
import { listLargeForms } from '#shared/features/forms/large-forms.ts'
import { admitVisitors, makeForm } from '#test/features/forms/making.ts'
import { setFields } from '#test/features/forms/rows.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1' })

const field = { key: 'email', label: 'Email', type: 'email' }
const form = { key: 'contact', name: 'Contact', fields: [field] }

test('forms: a form is created, read, replaced and deleted', async (t) => {
  const w = await start()
  const { owner, path, ownerId } = w.org
  const made = await owner.post(`${path}/forms`, form)
  t.is(made.status, 201)
  t.like(made.data, {
    ...form,
    fields: [{ ...field, required: false }],
    description: '',
    settings: { submit_label: '', success_message: '', redirect: '' },
    target: null,
    function_id: null,
    published: false,
    edited_by: ownerId,
  })
  const one = `${path}/forms/${made.data.id}`
  t.deepEqual((await owner.get(one)).data, made.data)
  t.deepEqual((await owner.get(`${path}/forms`)).data, [made.data])
  const editor = await createMember(w, w.org, [{ effect: 'allow', actions: ['forms:manage'] }])
  const sent = { ...made.data, name: 'Other', settings: { redirect: 'https://example.com/a b' }, target: { object_type: 'accounts' } }
  const replaced = await editor.client.put(one, sent)
  t.is(replaced.status, 200)
  t.like(replaced.data, { name: 'Other', edited_by: editor.id, target: { object_type: 'accounts' } })
  t.is(replaced.data.settings.redirect, 'https://example.com/a%20b')
  t.is((await owner.delete(one)).status, 204)
  t.is((await owner.get(one)).status, 404)
})

test('forms: an invalid form is 400, and the error names the field', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const rows: readonly [object, RegExp][] = [
    [{ key: 'A' }, /key must be 2 to 64 lowercase/],
    [{ key: 'a' }, /key must be/],
    [{ key: 'a'.repeat(65) }, /key must be/],
    [{ name: ' ' }, /name must be/],
    [{ description: 'x'.repeat(5_001) }, /description must have at most 5000/],
    [{ fields: [field, field] }, /fields\[1\]\.key must be unique/],
    [{ fields: [{ ...field, key: 'owner' }] }, /fields\[0\]\.key must not be owner/],
    [{ fields: [{ ...field, key: 'Email' }] }, /fields\[0\]\.key must be/],
    [{ fields: [{ ...field, type: 'file' }] }, /fields\[0\]\.type must be one of string, text/],
    [{ fields: [{ ...field, type: 'ref' }] }, /fields\[0\]\.type/],
    [{ fields: [{ ...field, type: 'select' }] }, /fields\[0\]\.options is required/],
    [{ fields: [{ ...field, type: 'select', options: [] }] }, /fields\[0\]\.options must have at least 1/],
    [{ fields: [{ ...field, type: 'select', options: ['a', 'a'] }] }, /fields\[0\]\.options must not hold the same/],
    [{ fields: Array.from({ length: 101 }, (_, index) => ({ ...field, key: `f_${index}` })) }, /fields must have at most 100/],
    [{ settings: { redirect: 'javascript:alert(1)' } }, /settings\.redirect must be an absolute address/],
    [{ settings: { redirect: '/there' } }, /settings\.redirect/],
    [{ settings: { redirect: '//example.com' } }, /settings\.redirect/],
    [{ target: { object_type: 'nothing' } }, /target\.object_type must be the key of a record type/],
    [{ function_id: '00000000-0000-4000-8000-000000000000' }, /function_id must be the id of a function/],
    [{ function_id: 'x' }, /function_id/],
    [{ published: 'yes' }, /published must be a boolean/],
  ]
  for (const [wrong, expected] of rows) {
    const answer = await owner.post(`${path}/forms`, { ...form, ...wrong })
    t.is(answer.status, 400, JSON.stringify(wrong))
    t.regex(answer.body.error.message, expected)
  }
  const most = Array.from({ length: 100 }, (_, index) => ({ ...field, key: `f_${index}` }))
  t.is((await owner.post(`${path}/forms`, { ...form, fields: most, key: 'k'.repeat(64) })).status, 201)
  t.is((await owner.post(`${path}/forms`, form)).status, 201)
  const taken = await owner.post(`${path}/forms`, form)
  t.like(taken.body.error, { code: 'KEY_TAKEN' })
})

test('forms: a form has 2,000 options in all at most, and a larger stored one works until it is saved', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  await admitVisitors(w)
  const choices = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      key: `choice_${index}`,
      label: 'Choice',
      type: 'select',
      options: Array.from({ length: 500 }, (_, option) => `${option}`),
    }))
  const made = await makeForm(w, { fields: choices(4) }, 'most')
  const more = { key: 'most', name: 'Most', published: true, fields: [...choices(4), { ...choices(5)[4], options: ['x'] }] }
  const refused = [await owner.put(`${path}/forms/${made.id}`, more), await owner.post(`${path}/forms`, { ...more, key: 'more' })]
  for (const { status, body } of refused) {
    t.is(status, 400)
    t.is(body.error.message, 'fields must have at most 2000 options in all, got 2001')
  }
  await setFields(w.db, made.id, choices(5))
  t.deepEqual(
    (await listLargeForms(w.api.services.database)).filter((line) => line.includes(made.id)).map((line) => / has .*$/.exec(line)?.[0]),
    [' has 5 of 100 fields and 2500 of 2000 options'],
  )
  t.is((await w.visitor.get(made.open)).data.fields.length, 5)
  t.is((await w.visitor.get(made.hosted)).text.match(/<select /g)?.length, 5)
  t.is((await w.visitor.post(made.open, { values: { choice_4: '499' } })).status, 201)
})

test('forms: a role may be limited to the key of one form, and cannot change that key', async (t) => {
  const w = await start()
  const [mine, other] = [await makeForm(w, {}, 'mine'), await makeForm(w, {}, 'other')]
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['forms:manage'], resources: ['mine', 'new'] }])
  const path = `${w.org.path}/forms`
  t.deepEqual(
    (await client.get(path)).data.map(({ key }: { key: string }) => key),
    ['mine'],
  )
  t.is((await client.get(`${path}/${other.id}`)).status, 403)
  t.is((await client.put(`${path}/${mine.id}`, { ...form, key: 'other2' })).status, 403)
  t.is((await client.put(`${path}/${mine.id}`, { ...form, key: 'new' })).status, 200)
  t.is((await client.post(path, { ...form, key: 'elsewhere' })).status, 403)
  t.is((await client.post(path, { ...form, key: 'mine' })).status, 201)
})

test('forms: visitors see a published form if their role allows it, and never its target', async (t) => {
  const w = await start()
  const options = ['Bread', 'Cake <1>']
  const fields = [{ key: 'kind', label: 'Kind', type: 'select', options, required: true }]
  const settings = { submit_label: 'Order', success_message: 'Thanks', redirect: 'https://example.com/' }
  const made = await makeForm(w, { fields, settings, description: 'What do you want?', target: { object_type: 'accounts' } })
  t.is((await w.visitor.get(made.open)).status, 404)
  await admitVisitors(w, ['forms:read'], ['contact'])
  const seen = await w.visitor.get(made.open)
  t.is(seen.status, 200)
  t.is(seen.headers.get('cache-control'), 'public, max-age=60')
  t.deepEqual(seen.data, {
    key: 'contact',
    name: 'Contact',
    description: 'What do you want?',
    fields,
    settings: { submit_label: 'Order', success_message: 'Thanks' },
  })
  // Reading is not submitting.
  t.is((await w.visitor.post(made.open, { values: { kind: 'Bread' } })).status, 404)
  const others = await makeForm(w, {}, 'other')
  t.is((await w.visitor.get(others.open)).status, 404)
})

test('forms: missing, unpublished and private forms get the same answer on every route', async (t) => {
  const w = await start()
  await admitVisitors(w, ['forms:read', 'forms:submit'], ['draft', 'nothing', 'gone'])
  await makeForm(w, { published: false }, 'draft')
  await makeForm(w, {}, 'closed')
  const gone = await makeForm(w, {}, 'gone')
  t.is((await w.visitor.get(gone.open)).status, 200)
  await w.org.owner.put(`${w.org.path}/forms/${gone.id}`, { ...form, key: 'gone', published: false })
  const plain = ({ text, headers }: { text: string; headers: Headers }) => text.replaceAll(headers.get('x-request-id') ?? '', 'ID')
  for (const path of [`/forms/${w.org.id}`, `/f/${w.org.id}`]) {
    const answers = []
    for (const key of ['draft', 'closed', 'gone', 'nothing', 'Draft', 'x'.repeat(300)]) answers.push(await w.visitor.get(`${path}/${key}`))
    t.deepEqual([...new Set(answers.map(({ status }) => status))], [404])
    t.is(new Set(answers.map(plain)).size, 1)
  }
  t.is((await w.visitor.post(`/forms/${w.org.id}/gone`, { values: {} })).status, 404)
})
