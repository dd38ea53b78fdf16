import { randomUUID } from 'node:crypto'
import test from 'ava'
import { admitVisitors, makeForm, sendPage } from '#test/features/forms/making.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

async function openForm(form: object) {
  const w = await start()
  await admitVisitors(w)
  const made = await makeForm(w, form)
  return { w, made, html: async () => (await w.visitor.get(made.hosted)).text }
}

const options = ['Small', 'Large']

test('page: a form that is shown again keeps fields empty that were not posted', async (t) => {
  const types = ['string', 'text', 'number', 'currency', 'bool', 'date', 'datetime', 'email', 'url']
  const fields = [
    { key: 'needed', label: 'Needed', type: 'string', required: true },
    ...types.map((type) => ({ key: `f_${type}`, label: type, type })),
    ...['select', 'multiselect'].map((type) => ({ key: `f_${type}`, label: type, type, options })),
  ]
  const { w, made } = await openForm({ fields })
  const { status, text } = await sendPage(w, made.hosted, {})
  t.is(status, 400)
  t.notRegex(text, /undefined/)
  t.regex(text, /<textarea id="f_text"[^>]*>\n<\/textarea>/)
  t.regex(text, /<input id="f_number" type="text" value=""/)
})

test('page: a required choice has no empty option, an optional one has', async (t) => {
  const { html } = await openForm({
    fields: [
      { key: 'size', label: 'Size', type: 'select', options, required: true },
      { key: 'taste', label: 'Taste', type: 'select', options },
    ],
  })
  const [, size = '', taste = ''] = (await html()).split('<select ')
  // The placeholder of a choice can be neither chosen nor sent.
  t.regex(size, /<option value="" disabled selected hidden>Choose one<\/option>/)
  t.is(size.match(/value=""/g)?.length, 1)
  t.regex(taste, /<option value=""><\/option>/)
})

test('page: the description of a form is Markdown of a safe subset', async (t) => {
  const description = [
    '# Before you *start*',
    'Bring:\n- a **pen**\n- [the list](https://example.com/list?a=1&b=2)',
    'First line\nsecond line',
    '<b>bold</b> <script>alert(1)</script>',
    '[run](javascript:alert(1)) [file](file:///etc/passwd) [data](data:text/html,x) [here](/v1/auth/me) [write](mailto:a@example.com)',
    '![picture](https://example.com/a.png)',
    '<https://example.com/auto>',
  ].join('\n\n')
  const { w, made, html } = await openForm({ description })
  const [, rich = ''] = /<div class="rich" dir="auto">([\s\S]*?)<\/div>/.exec(await html()) ?? []
  t.regex(rich, /<h2>Before you <em>start<\/em><\/h2>/)
  t.regex(rich, /<li>a <strong>pen<\/strong><\/li>/)
  t.regex(rich, /<a href="https:\/\/example\.com\/list\?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">the list<\/a>/)
  t.regex(rich, /First line<br\s?\/?>\nsecond line/)
  t.regex(rich, /&lt;b&gt;bold&lt;\/b&gt; &lt;script&gt;alert\(1\)&lt;\/script&gt;/)
  const links = [...rich.matchAll(/href="([^"]*)"/g)].map(([, address]) => address)
  t.deepEqual(links, [
    'https://example.com/list?a=1&amp;b=2',
    'mailto:a@example.com',
    'https://example.com/a.png',
    'https://example.com/auto',
  ])
  t.notRegex(rich, /<img|<script|<b>/)
  t.is((await w.visitor.get(made.open)).data.description, description, 'the API gives it as it was written')
})

test('page: each page that is sent without its hidden id, or with an invalid one, is a submission of its own', async (t) => {
  const { w, made } = await openForm({ fields: [{ key: 'note', label: 'Note', type: 'string' }] })
  for (const sent of [{}, { id: '' }, { id: 'x'.repeat(300) }]) {
    t.is((await sendPage(w, made.hosted, { note: 'x', ...sent })).status, 200)
  }
  t.is(await countRows(w.db, 'form_submissions', w.org.id), 3)
})

test('page: a page that is sent again is thanked again and keeps the first words, also with words that would be refused', async (t) => {
  const { w, made } = await openForm({ fields: [{ key: 'note', label: 'Note', type: 'string', required: true }] })
  const id = randomUUID()
  for (const note of ['first', 'second', '']) t.is((await sendPage(w, made.hosted, { note, id })).status, 200, note)
  t.is((await sendPage(w, made.hosted, { note: '', id: randomUUID() })).status, 400, 'another hidden id is another attempt')
  t.is(await countRows(w.db, 'form_submissions', w.org.id), 1)
})

test('page: the headings of a description skip no level', async (t) => {
  const { html } = await openForm({ description: '##### First\n\n###### Below\n\n# Second\n\n### Third\n\nFourth\n---' })
  const headings = [...(await html()).matchAll(/<(h[2-6])>(\w+)<\/\1>/g)].map(([, level, text]) => `${level} ${text}`)
  t.deepEqual(headings, ['h2 First', 'h3 Below', 'h2 Second', 'h3 Third', 'h3 Fourth'])
})

test('page: a body has at most 5,000 fields', async (t) => {
  const { w, made } = await openForm({})
  const send = (pairs: number) =>
    sendPage(w, made.hosted, Object.fromEntries(Array.from({ length: pairs }, (_, index) => [`a${index}`, ''])))
  t.notRegex((await send(5_000)).text, /at most 5000 fields/)
  const { status, text } = await send(5_001)
  t.is(status, 400)
  t.regex(text, /at most 5000 fields/)
})

test('page: a part that is kept shows each change at once, and nothing of one visitor', async (t) => {
  const fields = [{ key: 'price', label: 'First label', type: 'currency' }]
  const { w, made, html } = await openForm({ fields })
  const { owner, path } = w.org
  const hiddenIds = async () => /name="[^"]*" value="([0-9a-f-]{36})"/.exec(await html())?.[1]
  t.not(await hiddenIds(), await hiddenIds())
  t.regex(await html(), /First label/)
  const refused = await sendPage(w, made.hosted, { price: 'no amount' })
  t.regex(refused.text, /no amount/)
  t.notRegex(await html(), /no amount/)
  const form = (await owner.get(`${path}/forms/${made.id}`)).data
  t.is((await owner.put(`${path}/forms/${made.id}`, { ...form, fields: [{ ...fields[0], label: 'Second label' }] })).status, 200)
  t.regex(await html(), /Second label/)
  t.is((await owner.patch(path, { default_currency: 'CHF' })).status, 200)
  t.regex(await html(), /In CHF/)
})
