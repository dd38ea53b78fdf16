import test from 'ava'
import { contactKey, contactKeys } from '#shared/features/messages/do-not-contact/contact-key.ts'
import { parseHtml } from '#shared/features/messages/templates/parse-html.ts'
import { renderHtml, renderSubject, renderText } from '#shared/features/messages/templates/render.ts'
import { normalizeSender, parseSender } from '#shared/platform/mail/sender.ts'

const values: Readonly<Record<string, string>> = {
  x: `"><script>alert('1')</script>{{y}}`,
  y: 'javascript:alert(1)',
  u: 'https://a.example/?q=1&b=2',
  m: 'mailto:a@example.com',
  tab: 'java\tscript:alert(1)',
  data: 'data:text/html,x',
  upper: 'HTTPS://A.example',
  empty: '',
  number: '106',
}
const lookup = (name: string) => (Object.hasOwn(values, name) ? (values[name] ?? '') : '')
const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;{{y}}'

for (const [html, rendered] of [
  ['<p>Hi {{x}} &amp; {{ u }}</p>', `<p>Hi ${escaped} &amp; https://a.example/?q=1&amp;b=2</p>`],
  [`<a href='{{u}}' title='{{x}}'>b</a>`, `<a href='https://a.example/?q=1&amp;b=2' title='${escaped}'>b</a>`],
  ['<a href="{{m}}">', '<a href="mailto:a@example.com">'],
  ['<a href="{{upper}}">', '<a href="HTTPS://A.example">'],
  ['<a href="/x?{{u}}">', '<a href="/x?https://a.example/?q=1&amp;b=2">'],
  ['<a HREF = "{{y}}">', '<a HREF = "#">'],
  ['<a href="{{tab}}">', '<a href="#">'],
  ['<img src="{{data}}">', '<img src="#">'],
  ['<a href="java{{empty}}script:x">', '<a href="#">'],
  ['<a href=" &#106;avascript:{{x}}">', '<a href="#">'],
  ['<a href="java&Tab;script&colon;{{x}}">', '<a href="#">'],
  ['a < b {{u}} & {{ }} { {x} }}{{x y}} {{constructor}}', 'a < b https://a.example/?q=1&amp;b=2 & {{ }} { {x} }}{{x y}} '],
  ['<!-- c --> <style>p{color:red}</style>{{u}}', '<!-- c --> <style>p{color:red}</style>https://a.example/?q=1&amp;b=2'],
  ['<title>{{x}}</title>', `<title>${escaped}</title>`],
  ['{{x}}<b', `${escaped}<b`],
  ['<textarea><a title={{x}}></textarea>{{u}}', `<textarea><a title=${escaped}></textarea>https://a.example/?q=1&amp;b=2`],
  ['<svg/><script>"</style>{{</script>{{m}}', '<svg/><script>"</style>{{</script>mailto:a@example.com'],
  [
    'é😀\r\n<a\r\ntitle="\r\n{{m}}"class=\'{{m}}\'/>{{m}}\r\n',
    'é😀\r\n<a\r\ntitle="\r\nmailto:a@example.com"class=\'mailto:a@example.com\'/>mailto:a@example.com\r\n',
  ],
  ['<a href="&#{{number}};avascript:x">', '<a href="#">'],
] as const)
  test(`render: ${html} is filled in`, (t) => t.is(renderHtml(html, lookup), rendered))

for (const html of [
  ...['<a href={{u}}>', '<a href={{ u }}>', '<a {{x}}>', '<{{x}}>', '</{{x}}>', '<a{{x}}>', '<a {{ x }}="b">'],
  ...['<a onclick="{{x}}">', '<p style="{{x}}">', '<p STYLE="{{x}}">', '<iframe srcdoc="{{x}}">', '<img srcset="{{x}}">'],
  ...[
    '<script>{{x}}</script>',
    '<style>{{x}}',
    '<!-- {{x}} -->',
    '<!-- {{x}}',
    '<a title="{{x}}',
    '<a b="c"d="e" {{u}}>',
    '<svg><a href="{{x}}">',
    '<svg><svg></svg>{{x}}</svg>',
    '<svg><![CDATA[</svg><a title="]]><b title={{x}} c="">',
    '<template><template></template>{{x}}',
    '<iframe src="{{x}}">',
    '<a b=c{{x}}">',
    '<a b="c" b="{{x}}">',
  ],
])
  test(`render: ${html} may not hold a variable`, (t) => {
    t.throws(() => parseHtml(html), { message: /^body_html has \{\{\w\}\} where no variable may stand/ })
  })

test('render: HTML of 200,000 characters is parsed in linear time', (t) => {
  const long = [
    '<a'.repeat(100_000),
    `<a ${'b'.repeat(200_000)}`,
    `<a ${'b '.repeat(100_000)}`,
    '<!--'.repeat(50_000),
    '{{'.repeat(100_000),
  ]
  const longer = [
    `<a${' '.repeat(200_000)}`,
    '<script>'.repeat(25_000),
    '<a b="'.repeat(33_000),
    `<a ${'b='.repeat(100_000)}`,
    '<'.repeat(200_000),
  ]
  const started = process.threadCpuUsage()
  for (const html of [...long, ...longer]) renderHtml(`${html}"`, lookup)
  t.true(process.threadCpuUsage(started).user < 5_000_000)
})

test('render: text and subjects are rendered once, and a subject is one line', (t) => {
  t.is(renderText('{{x}}\n{{u}} {{nothing}}!', lookup), `${values.x}\n${values.u} !`)
  t.is(
    renderSubject(' {{a}} ', () => 'a\r\nBcc: b\u2028c\td'),
    'a Bcc: b c d',
  )
})

for (const [address, key] of [
  ['Ann@Example.COM', 'ann@example.com'],
  ['ANN+Shop@example.com', 'ann+shop@example.com'],
  ['ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
  ['o\u0308@example.com', 'ö@example.com'],
  ['"a@b"@example.com', '"a@b"@example.com'],
] as const)
  test(`render: ${address} is kept as ${key}`, (t) => t.is(contactKey(address), key))

test('render: an address with a tag also matches the address without it, and no other', (t) => {
  t.deepEqual(contactKeys('Ann+a+b@example.com'), ['ann+a+b@example.com', 'ann@example.com'])
  t.deepEqual(contactKeys('ann@example.com'), ['ann@example.com'])
  t.deepEqual(contactKeys('+a@example.com'), ['+a@example.com'])
})

test('render: a sender has an address and a name in one line', (t) => {
  t.deepEqual(parseSender('Shop, Inc. <a@example.com>'), { name: 'Shop, Inc.', address: 'a@example.com' })
  t.deepEqual(parseSender(' a@example.com '), { name: '', address: 'a@example.com' })
  t.is(normalizeSender('"Shop" <a@example.com>'), 'Shop <a@example.com>')
  for (const text of ['', 'a', '<>', 'a@b, c@d.example', 'x <a@example.com> y', 'a\nb <a@example.com>'])
    t.throws(() => normalizeSender(text), undefined, text)
})
