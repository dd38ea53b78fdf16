import { readFileSync } from 'node:fs'
import test from 'ava'
import { createDeals } from '#test/core/records/deals.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { sendRaw } from '#test/support/wire.ts'
import type { World } from '#test/support/world.ts'

const fixture = (path: string): string => readFileSync(new URL(`../fixtures/${path}`, import.meta.url), 'utf8')
const lines = (name: string): string[] => fixture(`strings/${name}.txt`).split('\n').filter(Boolean)
const listed = (name: string): string[] => JSON.parse(fixture(`strings/${name}.json`))

/** Texts that broke other programs in pages, folders, headers or tables. */
const texts = [
  ...new Set([
    ...lines('xss-payloads'),
    ...lines('path-traversal'),
    ...lines('crlf-injection'),
    ...listed('naughty-strings'),
    ...listed('csv-injection'),
  ]),
]
const clean = texts.filter((text) => text !== '' && !text.includes('\0'))

const take = shareWorld(test, { TRUST_PROXY: '1' })

/** Creates a record with each of these values in one field, and returns the value that is read back, or the code of the failure. */
async function kept({ org }: World, records: string, field: string, values: readonly string[]): Promise<(string | undefined)[]> {
  const outcomes: (string | undefined)[] = []
  for (let start = 0; start < values.length; start += 400) {
    const operations = values.slice(start, start + 400).map((value) => ({ op: 'create', values: { [field]: value } }))
    const { status, data, text } = await org.owner.post(`${records}/batch`, { operations })
    if (status !== 200) throw new Error(text)
    for (const { record, error } of data.results) outcomes.push(error?.code ?? record.values[field])
  }
  return outcomes
}

test('corpora: every text is stored and found as it was sent', async (t) => {
  const w = await take()
  const { records } = await createDeals(w, [
    { key: 'a_text', type: 'text' },
    { key: 'a_file', type: 'file' },
  ])
  t.true(clean.length > 1_900)
  t.deepEqual(await kept(w, records, 'a_text', clean), clean)
  const keys = clean.filter((text) => Buffer.byteLength(text) <= 1_024)
  t.deepEqual(await kept(w, records, 'a_file', keys), keys)
  for (const text of clean.slice(0, 1_000).filter((_, index) => index % 5 === 0)) {
    const { status, data } = await w.org.owner.get(`${records}?q=${encodeURIComponent(text)}&limit=200`)
    t.is(status, 200)
    t.true(data.total > 0, text)
  }
})

interface UrlCase {
  readonly input: string
  readonly base: string | null
  readonly failure?: boolean
}

test('corpora: an absolute http or https URL is stored as it was sent, and any other is refused', async (t) => {
  const w = await take()
  const cases = (JSON.parse(fixture('url/urltestdata.json')) as UrlCase[]).filter(
    ({ input }) => input.isWellFormed() && !input.includes('\0'),
  )
  const { records } = await createDeals(w, [{ key: 'a_url', type: 'url' }])
  const outcomes = await kept(
    w,
    records,
    'a_url',
    cases.map(({ input }) => input),
  )
  for (const [index, { input, base, failure = false }] of cases.entries()) {
    const isKept = outcomes[index] === input && input !== ''
    t.true(isKept || outcomes[index] === 'VALIDATION_ERROR' || input === '', `${input}: ${outcomes[index]}`)
    // A URL that needs a base is not absolute, and one that a browser cannot parse is not a URL.
    if (isKept) t.true(URL.canParse(input) && ['http:', 'https:'].includes(new URL(input).protocol), input)
    const isPlain = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/.test(input) && !/^https?:\/{3}/.test(input)
    // An invalid international name may pass, since the platform's parser accepts it.
    if (isPlain && !failure) t.true(isKept, input)
    if (failure && base === null && !/xn--/i.test(input)) t.false(isKept, input)
  }
})

test('corpora: every text in a URL or header gets a documented response', async (t) => {
  const w = await take()
  const { owner, path } = w.org
  await createDeals(w, [])
  for (const text of texts) {
    const word = encodeURIComponent(text.toWellFormed()).replace(/^\.{1,2}$/, '%2e') || '%20'
    const inPath = await owner.get(`${path}/records/${word}?cursor=${word}&sort=${word}`)
    t.true([400, 404].includes(inPath.status), `${text}: ${inPath.status}`)
    const asGiven = text.replaceAll(/[^\x21-\x7e]/g, '')
    const raw = await sendRaw(w.api.port, `GET ${path}/records/deals/${asGiven.replaceAll('#', '')} HTTP/1.1`, [
      `Authorization: Bearer ${owner.token}`,
      `X-Request-ID: ${asGiven}`,
      `Prefer: ${asGiven}`,
      `Origin: ${asGiven}`,
    ])
    t.true(raw.status >= 200 && raw.status < 500, `${text}: ${raw.status}`)
    t.is(raw.headers.get('set-cookie'), null, text)
  }
})
