import { randomUUID } from 'node:crypto'
import test from 'ava'
import { makeUp, type Said, sendCut, wrongOf } from '#test/features/forms/cutting.ts'
import { admitVisitors, leads, makeForm, makeLeads, sendPage, submissionsOf } from '#test/features/forms/making.ts'
import { readSubmissions } from '#test/features/forms/rows.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1' })

const every = [
  { key: 'a_string', label: 'String', type: 'string' },
  { key: 'a_text', label: 'Text', type: 'text' },
  { key: 'a_number', label: 'Number', type: 'number' },
  { key: 'a_bool', label: 'Bool', type: 'bool' },
  { key: 'a_date', label: 'Date', type: 'date' },
  { key: 'a_time', label: 'Time', type: 'datetime' },
  { key: 'a_price', label: 'Price', type: 'currency' },
  { key: 'a_choice', label: 'Choice', type: 'select', options: ['red', 'green'] },
  { key: 'choices', label: 'Choices', type: 'multiselect', options: ['red', 'green'] },
  { key: 'an_email', label: 'Email', type: 'email' },
  { key: 'an_url', label: 'Address', type: 'url' },
]

test('submit: a submission is stored as it was entered, with every digit', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const made = await makeForm(w, { fields: every, settings: { success_message: 'Thanks', redirect: 'https://example.com/done' } })
  const body = `{"values": {"a_string": "x", "a_number": 12345678901234.123456, "a_price": 0.1, "a_bool": true, "a_time": "2026-01-31T10:00:00+01:00",
    "a_choice": "red", "choices": ["green"], "a_text": "", "an_email": null}}`
  const sent = await w.visitor.post(made.open, body, { 'content-type': 'application/json', ...fromAnywhere() })
  t.is(sent.status, 201)
  t.deepEqual(sent.data, { ok: true, message: 'Thanks', redirect: 'https://example.com/done' })
  t.is(sent.headers.get('ratelimit-policy'), '"forms";q=30;w=60')
  const { text, data } = await w.org.owner.get(`${w.org.path}/forms/${made.id}/submissions`)
  t.regex(text, /"a_number":12345678901234\.123456/)
  const [one] = data.submissions
  t.like(one, { record_id: null, error: null, spam: null, state: 'kept' })
  t.deepEqual(Object.keys(one.values), ['a_string', 'a_number', 'a_bool', 'a_time', 'a_price', 'a_choice', 'choices'])
  t.regex(one.values.a_time, /^2026-01-31T09:00:00(\.000000)?Z$/)
  t.deepEqual(one.values.a_price, { amount: 0.1, code: 'USD' })
})

test('submit: answers of 1 MB are taken, and at most 5,000 values', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const texts = Array.from({ length: 10 }, (_, index) => ({ key: `t${index}`, label: 'Text', type: 'text' }))
  const made = await makeForm(w, { fields: texts })
  const values = Object.fromEntries(texts.map(({ key }) => [key, 'x'.repeat(99_000)]))
  t.is((await w.visitor.post(made.open, { values }, fromAnywhere())).status, 201)
  const refused = await w.visitor.post(made.open, { values: { t0: Array(5_001).fill(1) } }, fromAnywhere())
  t.is(refused.body.error.message, 'body must have at most 5000 values')
})

test('submit: the page sends the same as the form’s own route', async (t) => {
  const w = await start()
  await admitVisitors(w)
  await w.org.owner.patch(w.org.path, { timezone: 'Europe/Berlin' })
  const made = await makeForm(w, { fields: every })
  const page = {
    a_string: ' x ',
    a_text: 'two\r\nlines',
    a_number: '1.50',
    a_bool: 'true',
    a_date: '2026-01-31',
    a_time: '2026-07-01T10:00',
    a_price: '12.5',
    a_choice: 'green',
    choices: 'red',
    an_email: 'a@example.com',
    an_url: 'https://example.com/',
  }
  t.is((await sendPage(w, made.hosted, page, fromAnywhere())).status, 200)
  const [one] = await submissionsOf(w, made)
  const { a_time, ...others } = { a_time: '', ...one?.values }
  t.is(Date.parse(a_time), Date.parse('2026-07-01T08:00:00Z'))
  const { a_time: _, ...rest } = page
  t.deepEqual(others, {
    ...rest,
    a_string: 'x',
    a_text: 'two\nlines',
    a_number: 1.5,
    a_bool: true,
    a_price: { amount: 12.5, code: 'USD' },
    choices: ['red'],
  })
})

test('submit: errors use the form’s own labels, and nothing is stored', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const fields = [{ ...every[0], required: true }, every[7], every[9]]
  const made = await makeForm(w, { fields, target: { object_type: 'accounts' } })
  const rows: readonly [object, RegExp][] = [
    [{}, /values\.a_string is required/],
    [{ a_string: '' }, /values\.a_string is required/],
    ...[' ', '\t\n', '\u00a0', '\u3000 \u2009', '\u200b\u2060\ufeff', '\u2800', '\u3164', '\ufe0f\u034f'].map(
      (blank) => [{ a_string: blank }, /values\.a_string is required/] as [object, RegExp],
    ),
    [{ a_string: 5 }, /values\.a_string must be/],
    [{ a_string: 'x'.repeat(501) }, /values\.a_string must have at most 500|values\.a_string must/],
    [{ a_string: 'x', a_choice: 'blue' }, /values\.a_choice must be one of red, green/],
    [{ a_string: 'x', an_email: 'nobody' }, /values\.an_email must be/],
    [{ a_string: 'x', code: '1' }, /values\.code names no field of this form/],
    [{ a_string: 'x', constructor: '1' }, /values\.constructor names no field of this form/],
  ]
  for (const [values, expected] of rows) {
    const answer = await w.visitor.post(made.open, { values }, fromAnywhere())
    t.is(answer.status, 400, JSON.stringify(values))
    t.regex(answer.body.error.message, expected)
    t.notRegex(answer.text, /accounts/)
  }
  t.is((await w.visitor.post(made.open, { values: { a_string: 'x'.repeat(500) } }, fromAnywhere())).status, 201)
  t.is((await submissionsOf(w, made)).length, 1)
})

test('submit: fields have autocomplete hints for browsers', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const rows = [
    ['name', 'string', 'autocomplete="name"'],
    ['last_name', 'string', 'autocomplete="family-name"'],
    ['phone', 'string', 'type="tel"[^>]* autocomplete="tel"'],
    ['mail', 'email', 'autocomplete="email"'],
    ['address', 'text', 'autocomplete="street-address"'],
    ['birthday', 'date', 'autocomplete="bday"'],
    ['homepage', 'url', 'autocomplete="url"'],
    ['price', 'number', 'autocomplete="off"'],
  ] as const
  const made = await makeForm(w, { fields: rows.map(([key, type]) => ({ key, label: key, type })) })
  const { text } = await w.visitor.get(made.hosted)
  for (const [key, , expected] of rows) t.regex(text, new RegExp(`id="${key}"[^>]*${expected}`))
})

test('submit: the page shows every error beside its field, keeps the input, and does not use up its id', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const made = await makeForm(w, { fields: [{ ...every[0], required: true }, every[2], every[9]] })
  const id = randomUUID()
  const wrong = await sendPage(w, made.hosted, { id, a_number: 'many "x"', an_email: 'nobody' }, fromAnywhere())
  t.is(wrong.status, 400)
  for (const [name, words] of [
    ['a_string', 'Please fill this in<'],
    ['a_number', 'Must be a number with up to 14 digits before and 6 after the decimal point<'],
    ['an_email', 'Must be a valid email address<'],
  ]) {
    t.regex(wrong.text, new RegExp(`<p class="error" id="${name}-error">${words}`))
    t.regex(wrong.text, new RegExp(`name="${name}"[^>]* aria-describedby="${name}-error" aria-invalid="true"`))
  }
  t.regex(wrong.text, /value="many &quot;x&quot;"/)
  t.true(wrong.text.includes(`name="id" value="${id}"`))
  t.is((await sendPage(w, made.hosted, { id, a_string: 'now' }, fromAnywhere())).status, 200)
  t.is((await submissionsOf(w, made)).length, 1)
})

test('submit: a repeated submission is stored once, with the first values; an Idempotency-Key is for one body', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const made = await makeForm(w, { fields: [every[0]], settings: { success_message: 'Thanks' } })
  const id = randomUUID()
  const first = await sendPage(w, made.hosted, { id, a_string: 'first' }, fromAnywhere())
  const again = await sendPage(w, made.hosted, { id, a_string: 'second' }, fromAnywhere())
  t.is(again.text, first.text)
  const key = { 'idempotency-key': 'mine' }
  for (const a_string of ['third', 'third']) {
    const answer = await w.visitor.post(made.open, { values: { a_string } }, { ...key, ...fromAnywhere() })
    t.is(answer.status, 201)
    t.is(answer.data.message, 'Thanks')
  }
  const others = await w.visitor.post(made.open, { values: { a_string: 'fourth' } }, { ...key, ...fromAnywhere() })
  t.is(others.status, 400, 'nobody is thanked for what is not kept')
  t.regex(others.body.error.message, /^Idempotency-Key was used on this form with another body/)
  t.deepEqual(
    (await submissionsOf(w, made)).map(({ values }) => values),
    [{ a_string: 'third' }, { a_string: 'first' }],
  )
  const empty = await w.visitor.post(made.open, { values: { a_string: 'fifth' } }, { 'idempotency-key': '', ...fromAnywhere() })
  t.is(empty.status, 400)
  t.is(empty.body.error.message, 'Idempotency-Key must have 1 to 255 characters')
  const other = await makeForm(w, { fields: [every[0]] }, 'other')
  await w.visitor.post(other.open, { values: { a_string: 'x' } }, { ...key, ...fromAnywhere() })
  t.is((await submissionsOf(w, other)).length, 1)
  for (const long of ['x'.repeat(256)])
    t.is((await w.visitor.post(made.open, { values: {} }, { 'idempotency-key': long, ...fromAnywhere() })).status, 400)
})

test('submit: a submission whose connection breaks off is stored whole or not at all, and once if it is repeated', async (t) => {
  const w = await start()
  await admitVisitors(w)
  await makeLeads(w)
  const made = await makeForm(w, leads)
  const all = Array.from({ length: 100 }, (_, index) => makeUp(index))
  await Promise.all(all.map((said) => sendCut(w.api.port, made.open, said)))
  const keyed = all.filter(({ key }) => key !== '')
  for (const { key, email, note } of keyed) {
    const again = await w.visitor.post(made.open, { values: { email, note } }, { 'idempotency-key': key, ...fromAnywhere() })
    t.is(again.status, 201)
  }
  await w.drain()
  const rows = await readSubmissions<Said>(w.db, made.id)
  t.deepEqual(wrongOf(all, rows), [])
  t.true(rows.length > keyed.length && rows.length < all.length, `${rows.length} of ${all.length}`)
  const records = new Set(rows.flatMap(({ record_id }) => record_id ?? []))
  t.is(records.size, rows.length, 'a record each')
})

test('submit: submissions are listed in pages, newest first', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const made = await makeForm(w, { fields: [every[0]] })
  for (const index of [1, 2, 3, 4, 5]) await w.visitor.post(made.open, { values: { a_string: `${index}` } }, fromAnywhere())
  const list = `${w.org.path}/forms/${made.id}/submissions`
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data } = await w.org.owner.get(`${list}?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
    seen.push(...data.submissions.map(({ values }: { values: { a_string: string } }) => values.a_string))
    cursor = data.next_cursor
  }
  t.deepEqual(seen, ['5', '4', '3', '2', '1'])
  for (const query of ['limit=0', 'limit=201', 'cursor=x']) t.is((await w.org.owner.get(`${list}?${query}`)).status, 400, query)
  t.is((await w.org.owner.get(`${list}?limit=200`)).status, 200)
})

test('submit: pages of other websites cannot submit a form; programs can', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const made = await makeForm(w, { fields: [every[0]] })
  const refused: readonly Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
    { origin: 'https://example.com' },
  ]
  for (const headers of refused) {
    t.is((await w.visitor.post(made.open, { values: { a_string: 'x' } }, { ...headers, ...fromAnywhere() })).status, 403)
    t.is((await sendPage(w, made.hosted, { a_string: 'x' }, { ...headers, ...fromAnywhere() })).status, 403)
  }
  const seen = await w.visitor.get(made.open, { origin: 'https://example.com' })
  t.is(seen.status, 200)
  t.is(seen.headers.get('access-control-allow-origin'), null)
  t.is((await submissionsOf(w, made)).length, 0)
  t.is((await w.visitor.post(made.open, { values: { a_string: 'x' } }, fromAnywhere())).status, 201)
})
