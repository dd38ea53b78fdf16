import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { headingSlugs } from '#api/pages/guide/heading-slugs.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const fresh = shareWorld(test)

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'contract')
const pages = readdirSync(folder).map((name) => name.replace(/\.md$/, ''))
const others = pages.filter((name) => name !== 'README')
const addresses = ['/docs', ...others.map((name) => `/docs/${name}`)]

const all = (text: string, form: RegExp): string[] => [...text.matchAll(form)].map(([, found = '']) => found)
const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

test('guide: the start lists every page of docs/contract and leads to the reference', async (t) => {
  const w = await fresh()
  const start = await w.visitor.get('/docs')
  t.is(start.status, 200)
  const cards = /<ul class="cards">[\s\S]*?<\/ul>/.exec(start.text)?.[0] ?? ''
  t.deepEqual(all(cards, /href="\/docs\/([\w-]+)"/g).toSorted(), others.toSorted())
  t.regex(start.text, /href="\/docs\/reference"/)
})

test('guide: a page is cached by its ETag, runs no script and is in no frame', async (t) => {
  const w = await fresh()
  for (const address of ['/docs', '/docs/queues', '/docs/search?q=claim']) {
    const first = await w.visitor.get(address)
    t.is(first.headers.get('content-type'), 'text/html; charset=utf-8')
    t.is(first.headers.get('x-content-type-options'), 'nosniff')
    t.is(first.headers.get('cache-control'), 'no-cache')
    t.regex(first.headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'self';.*frame-ancestors 'none'$/)
    t.notRegex(first.headers.get('content-security-policy') ?? '', /script-src/)
    t.notRegex(first.text, /<script|style=/)
    const again = await w.visitor.get(address, { 'if-none-match': first.headers.get('etag') ?? '', 'cache-control': 'max-age=0' })
    t.is(again.status, 304)
  }
})

test('guide: a search counts against the quota of content, a page does not', async (t) => {
  const w = await fresh()
  const search = await w.visitor.get('/docs/search?q=claim')
  t.regex(search.headers.get('ratelimit-policy') ?? '', /^"content";q=\d+;w=60$/)
  t.is((await w.visitor.get('/docs/queues')).headers.get('ratelimit-policy'), null)
})

test('guide: ids of headings follow the rule by which the pages link to each other, and are unique', async (t) => {
  const w = await fresh()
  for (const name of others) {
    const { text } = await w.visitor.get(`/docs/${name}`)
    const source = readFileSync(join(folder, `${name}.md`), 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
    const expected = headingSlugs(all(source, /^#{1,6} +(.+)$/gm))
    t.deepEqual(all(text, /<h[1-6] id="([^"]+)"/g), expected, name)
    const ids = all(text, / id="([^"]+)"/g)
    t.is(new Set(ids).size, ids.length, name)
    t.notRegex(text, /&lt;!--|<!--/, 'markers of tables are left out')
  }
})

test('guide: slugs are those of GitHub', (t) => {
  const headings = ['At a limit', "Visitors' roles", 'A `code_name`, and [a link](x.md#y)', 'Äpfel & Öl', 'Owner', 'Owner']
  t.deepEqual(headingSlugs(headings), ['at-a-limit', 'visitors-roles', 'a-code_name-and-a-link', 'äpfel--öl', 'owner', 'owner-1'])
})

test('guide: every link opens, with its heading, and names no file', async (t) => {
  const w = await fresh()
  const texts = new Map<string, string>()
  const open = async (address: string) => {
    const known = texts.get(address)
    if (known !== undefined) return known
    const { status, text } = await w.visitor.get(address)
    t.is(status, 200, address)
    texts.set(address, text)
    return text
  }
  let withHeading = 0
  for (const address of [...addresses, '/docs/search?q=records']) {
    const page = await open(address)
    t.notRegex(page, /href="[^"]*\.md\b|>[\w-]+\.md</, address)
    for (const target of all(page, /(?:href|src)="([^"]+)"/g).map(unescaped)) {
      const [path = '', slug] = target.split('#')
      t.regex(target, /^[#/]/, `${address} leads to ${target}`)
      const text = await open(path === '' ? address : path)
      if (slug === undefined) continue
      withHeading++
      t.true(text.includes(` id="${decodeURIComponent(slug)}"`), `${address} leads to ${target}`)
    }
  }
  t.true(withHeading > 500)
})

test('guide: every tag of the description leads to its rules', async (t) => {
  const w = await fresh()
  const { body } = await w.visitor.get('/openapi.json')
  const docs = [body, ...body.tags].map(({ externalDocs }: { externalDocs: { url: string } }) => externalDocs.url)
  t.true(docs.length > 20)
  for (const url of docs) {
    t.true(url.startsWith(`${w.config.publicUrl}/docs`), url)
    const [path = '', slug] = url.slice(w.config.publicUrl.length).split('#')
    const { status, text } = await w.visitor.get(path)
    t.is(status, 200, url)
    if (slug !== undefined) t.true(text.includes(` id="${slug}"`), url)
  }
})

test('guide: an example shows the status of its answer apart from the call', async (t) => {
  const w = await fresh()
  const { text } = await w.visitor.get('/docs/queues')
  t.regex(text, /<figcaption>Answers 201<\/figcaption><pre><code>POST \/v1\/orgs\/\{orgId\}\/queues\n/)
  t.notRegex(text, /# 201/)
})

test('guide: an unknown page is 404, as a page for browsers', async (t) => {
  const w = await fresh()
  for (const path of ['/docs/nothing', '/docs/README', '/docs/queues.md', '/docs/constructor', '/docs/..%2f..%2fpackage']) {
    const answer = await w.visitor.get(path)
    t.is(answer.status, 404, path)
    t.is(answer.body.error.code, 'NOT_FOUND')
    const shown = await w.visitor.get(path, { accept: 'text/html' })
    t.is(shown.status, 404, path)
    t.regex(shown.text, /<h1>/)
  }
})

/** The addresses of the sections that a search finds, and its page. */
async function search(words: string, w: Awaited<ReturnType<typeof fresh>>) {
  const { status, text } = await w.visitor.get(`/docs/search?q=${encodeURIComponent(words)}`)
  return { status, text, found: all(text, /<li><a href="(\/docs\/[\w-]+#[^"]+)"/g) }
}

test('guide: a search finds sections that hold all words, in any case, headings first', async (t) => {
  const w = await fresh()
  const { text, found } = await search('CLAIM Lease', w)
  t.is(found[0], '/docs/queues#claims')
  t.regex(text, /<mark>claim<\/mark>/i)
  t.regex(text, /type="search" name="q" value="CLAIM Lease"/)
  t.is((await search('verification', w)).found[0], '/docs/queues#verification')
  t.is((await search('queues claims', w)).found[0], '/docs/queues#claims', 'the title of the page counts')
  t.true((await search('IDEMPOTENCY-key', w)).found.includes('/docs/conventions#idempotency'))
  t.is((await search('record', w)).found.length, 50)
  t.false((await search('lease', w)).text.includes('re<mark>lease'), 'a word begins where it is found')
})

test('guide: a search that finds nothing, or has no word, says so', async (t) => {
  const w = await fresh()
  for (const words of ['zyzzyva', 'claim zyzzyva', '…', '(', '\\', '.*']) {
    const { status, text, found } = await search(words, w)
    t.is(status, 200)
    t.deepEqual(found, [], words)
    t.regex(text, /No section holds every word/, words)
  }
  for (const address of ['/docs/search', '/docs/search?q=', '/docs/search?q=%20'])
    t.regex((await w.visitor.get(address)).text, /A search finds the sections/)
})

test('guide: a search is shown as text', async (t) => {
  const w = await fresh()
  for (const words of ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onfocus=alert(1) '"]) {
    const { status, text } = await search(words, w)
    t.is(status, 200)
    t.notRegex(text, /<script|<img|value=""|value="[^"]*" on/)
    t.true(text.includes('&lt;') || text.includes('&#39;'))
  }
})

test('guide: a search of more than 200 characters is 400', async (t) => {
  const w = await fresh()
  t.is((await search('x'.repeat(200), w)).status, 200)
  const address = `/docs/search?q=${'x'.repeat(201)}`
  const refused = await w.visitor.get(address)
  t.is(refused.status, 400)
  t.is(refused.body.error.message, 'q must have at most 200 characters, got 201')
  const shown = await w.visitor.get(address, { accept: 'text/html' })
  t.is(shown.status, 400)
  t.regex(shown.text, /q must have at most 200 characters, got 201/)
})

test('guide: characters of a search are code points, and its query is read as that of every address', async (t) => {
  const w = await fresh()
  t.is((await search('😀'.repeat(200), w)).status, 200)
  t.is((await search('😀'.repeat(201), w)).status, 400)
  const refusals = {
    'q=a&q=b': 'q must be given once',
    'q=%ff': 'query must be percent-encoded UTF-8',
    'q=%00': 'address must not hold a NUL character',
  }
  for (const [query, message] of Object.entries(refusals)) {
    const refused = await w.visitor.get(`/docs/search?${query}`)
    t.is(refused.status, 400, query)
    t.is(refused.body.error.message, message)
    t.regex((await w.visitor.get(`/docs/search?${query}`, { accept: 'text/html' })).text, /<h1>/)
  }
  t.is((await w.visitor.get('/docs/search?q=claim&other=1')).status, 200)
})

test('guide: behind a base path all links are below it', async (t) => {
  const w = await world({ PUBLIC_URL: 'https://example.com/kontor' })
  t.teardown(w.close)
  for (const path of ['/docs', '/docs/queues', '/docs/search?q=claim']) {
    const { text } = await w.visitor.get(path)
    t.deepEqual(
      all(text, /(?:href|src|action)="([^"]+)"/g).filter((target) => !/^(?:#|\/kontor\/)/.test(target)),
      [],
    )
  }
  const { body } = await w.visitor.get('/openapi.json')
  t.is(body.externalDocs.url, 'https://example.com/kontor/docs')
})
