import test from 'ava'
import { csv, importInto, importWith, records, totalOf, typeOf, valuesOf } from '#test/core/records/importing.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const take = shareWorld(test)

const goods = (w: World) =>
  typeOf(w, 'goods', {
    sku: { unique: true },
    price: { type: 'number' },
    cost: { type: 'currency' },
    since: { type: 'date' },
    at: { type: 'datetime' },
    sold: { type: 'bool' },
    tags: { type: 'multiselect', rules: { options: ['a', 'b'] } },
    twice: { type: 'number', formula: 'price*2' },
  })

test('parameters: columns fill the fields that map names, and null leaves one out without listing it', async (t) => {
  const w = await take()
  await goods(w)
  const map = JSON.stringify({ 'Art.-Nr.': 'sku', ' Preis ': 'price', Notiz: null, sku: null })
  const { data, text } = await importWith(w, 'goods', { map }, 'Art.-Nr.; Preis;Notiz;sku;Rest\nA;5;x;B;y\n')
  t.deepEqual({ ...data }, { created: 1, updated: 0, unchanged: 0, failed: 0, errors: [], ignored_columns: ['Rest'] }, text)
  t.like((await valuesOf(w, 'goods'))[0], { sku: 'A', price: 5 })
})

const refusedMaps: readonly (readonly [map: string, message: string])[] = [
  [
    '{',
    'map must be a JSON object of column names, each with the key of a field or null, such as {"Price": "price", "Notes": null}; it is not JSON',
  ],
  ['[]', 'map must be a JSON object of column names, each with the key of a field or null, such as {"Price": "price", "Notes": null}'],
  ['null', 'map must be a JSON object of column names, each with the key of a field or null, such as {"Price": "price", "Notes": null}'],
  [
    '',
    'map must be a JSON object of column names, each with the key of a field or null, such as {"Price": "price", "Notes": null}; it is not JSON',
  ],
  ['{"Nr": 5}', 'map.Nr must be the key of a field or null'],
  ['{"Nr": {"a": 1}}', 'map.Nr must be the key of a field or null'],
  ['{"Nr": "skuu"}', 'map."Nr" must be the key of a field, got "skuu"; did you mean sku?'],
  [
    '{"Nr": "id"}',
    'map."Nr" must be the key of a field, got "id"; did you mean at? There are sku, price, cost, since, at, sold, tags, twice',
  ],
  ['{"Nrr": "sku"}', 'map names the column "Nrr", which the file lacks; did you mean Nr?'],
  ['{"Nr": "sku", "Preis": "sku"}', 'file has the columns "Nr" and "Preis" for the field sku; map one of them to null'],
  ['{"Nr": "price"}', 'file has the columns "Nr" and "price" for the field price; map one of them to null'],
  ['{"Nr": null, " Nr": "sku"}', 'map names the column "Nr" more than once'],
  ['{"Nr": null, "Preis": null, "price": null}', 'file must have a header row of which at least one column is the key of a field'],
  ['{"__proto__": "sku"}', 'map names the column "__proto__", which the file lacks; did you mean Preis? There are Nr, Preis, price'],
]

test('parameters: a map that does not fit is 400, names what is wrong and creates nothing', async (t) => {
  const w = await take()
  await goods(w)
  for (const [map, message] of refusedMaps) {
    const { status, body } = await importWith(w, 'goods', { map }, 'Nr,Preis,price\nA,1,2\n')
    t.is(status, 400, map)
    t.deepEqual({ ...body.error }, { ...body.error, code: 'VALIDATION_ERROR', message }, map)
  }
  t.is(await totalOf(w, 'goods'), 0)
  t.is(await countRows(w.db, 'job_files', w.org.id), 0)
})

test('parameters: a long map of long names is refused in a short time', async (t) => {
  const w = await take()
  await goods(w)
  const header = Array.from({ length: 2_000 }, (_, index) => `column ${'x'.repeat(90)} ${index}`).join(',')
  const started = performance.now()
  for (const name of ['y'.repeat(90), 'y'.repeat(4_000)]) {
    const { status, body } = await importWith(w, 'goods', { map: JSON.stringify({ [name]: 'z'.repeat(4_000) }) }, `sku,${header}\nA\n`)
    t.is(status, 400)
    t.regex(body.error.message, /^map names the column "y+…?", which the file lacks/)
  }
  t.true(performance.now() - started < 5_000)
})

test('parameters: numbers, amounts and dates are read as decimal and dates say', async (t) => {
  const w = await take()
  await goods(w)
  const text =
    'sku;price;cost;since;at;sold\nA;1.234,5;-1.234,56 EUR;1.2.2026;31.12.2026 14:30;ja\nB;12.5;;;;\nC;;;31/12/26;;\nD;;;;;vielleicht\n'
  const { data } = await importWith(w, 'goods', { decimal: ',', dates: 'dmy' }, text)
  t.like(data, { created: 1, failed: 3 })
  t.deepEqual(
    data.errors.map((error: object) => ({ ...error })),
    [
      { row: 2, column: 'price', message: 'values.price must be a number with a decimal comma, such as 1234,56 or 1.234,56, got "12.5"' },
      {
        row: 3,
        column: 'since',
        message: 'values.since must be a date as day, month and year of four digits, such as 31.12.2026, got "31/12/26"',
      },
      { row: 4, column: 'sold', message: 'values.sold must be true or false, got "vielleicht"' },
    ],
  )
  const [first] = await valuesOf(w, 'goods')
  t.like(first, { price: 1234.5, cost: { amount: -1234.56, code: 'EUR' }, since: '2026-02-01', sold: true, twice: 2469 })
  t.is(first?.at, '2026-12-31T14:30:00.000000Z')
  await w.org.owner.patch(`${w.org.path}`, { timezone: 'Asia/Kolkata' })
  await importWith(w, 'goods', { dates: 'mdy' }, 'sku,at\nE,12/31/2026 2:30 PM\n')
  t.is((await valuesOf(w, 'goods')).at(-1)?.at, '2026-12-31T09:00:00.000000Z')
})

test('parameters: an error names the column of the file and the field', async (t) => {
  const w = await take()
  await goods(w)
  const map = JSON.stringify({ Preis: 'price', Marken: 'tags' })
  const { data } = await importWith(w, 'goods', { map }, 'sku,Preis,Marken\nA,x,\nB,1,a|c\nC,1,,more\nA,1,\nA,1,\n')
  t.deepEqual(
    data.errors.map(({ row, column, message }: { row: number; column?: string; message: string }) => [row, column, message]),
    [
      [1, 'Preis', 'values.price must be a number with up to 14 digits before and 6 after the decimal point, got "x"'],
      [2, 'Marken', 'values.tags[1] must be one of a, b, got "c"'],
      [3, undefined, 'has 4 cells where the header has 3'],
      [5, 'sku', 'values.sku already has this value in another record'],
    ],
  )
})

const refusedQueries: readonly (readonly [query: string, message: RegExp])[] = [
  ['decimal=;', /^decimal must be/],
  ['decimal=', /^decimal must be/],
  ['dates=DMY', /^dates must be/],
  ['dates=ydm', /^dates must be/],
  ['dry_run=1', /^dry_run must be/],
  ['dry_run=yes', /^dry_run must be/],
  ['upsert_by=', /^upsert_by must/],
  ['upsert_by=sku&upsert_by=price', /^upsert_by must be given once/],
  ['upsertby=sku', /^upsertby is no query parameter of this address; did you mean upsert_by\?/],
  ['upsert_by=skuu', /^upsert_by must be the key of a unique field of goods that you may read and send, got "skuu"/],
  ['upsert_by=price', /^upsert_by must be the key of a unique field/],
  ['upsert_by=twice', /^upsert_by must be the key of a unique field/],
  ['upsert_by=id', /^upsert_by must be the key of a unique field/],
  ['upsert_by=__proto__', /^upsert_by must be the key of a unique field/],
  ['upsert_by=sku', /^file must have a column for upsert_by, the field sku/],
]

test('parameters: wrong parameters are 400, name the parameter and create nothing', async (t) => {
  const w = await take()
  await goods(w)
  for (const [query, message] of refusedQueries) {
    const { status, body } = await w.org.owner.post(`${records(w, 'goods')}/import?${query}`, 'price\n1\n', csv)
    t.is(status, 400, query)
    t.regex(body.error.message, message, query)
  }
  t.is(await totalOf(w, 'goods'), 0)
  t.is(await countRows(w.db, 'job_files', w.org.id), 0)
})

test('parameters: a repeated Idempotency-Key with other parameters is 400', async (t) => {
  const w = await take()
  await goods(w)
  const send = (query: string) =>
    w.org.owner.post(`${records(w, 'goods')}/import${query}`, 'sku\nA\n', { ...csv, 'idempotency-key': 'one import' })
  t.like((await send('?dry_run=true')).data, { created: 1 })
  t.like((await send('?dry_run=true')).data, { created: 1 })
  for (const query of ['', '?dry_run=false', '?upsert_by=sku']) t.is((await send(query)).status, 400, query)
  t.is(await totalOf(w, 'goods'), 0)
})

test('parameters: wild files and parameters never fail on the server side', async (t) => {
  const w = await take()
  await goods(w)
  const texts = [
    '',
    '\u0000',
    '\ufeff',
    '"',
    "'=1",
    '{}',
    '[]',
    'null',
    '\ud800',
    '9'.repeat(400),
    '1.1.1',
    '-',
    ',',
    ';',
    '１２',
    '😀',
    '0x1',
    'NaN',
    '__proto__',
    '1e999',
  ]
  for (const [index, text] of texts.entries()) {
    const other = texts[(index * 7 + 3) % texts.length] ?? ''
    const cells = [text, other, text, other, text].map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
    for (const query of [
      { upsert_by: 'sku', decimal: ',', dates: 'dmy', dry_run: true },
      { upsert_by: 'sku', decimal: '.', dates: 'mdy' },
      { upsert_by: text, map: other },
      { map: JSON.stringify({ [text]: other, sku: text }), dates: 'ymd' },
    ]) {
      const { status, text: answer } = await importWith(w, 'goods', query, `sku,price,cost,since,at\n${cells}\n${cells}\n`)
      t.true([200, 400].includes(status), `${JSON.stringify([text, other, query])} ${answer}`)
    }
  }
})

test('parameters: without parameters an import is as before', async (t) => {
  const w = await take()
  await goods(w)
  const { data } = await importInto(w, 'goods', 'sku,price,since\nA,1.5,2026-01-31\nB,"1,5",\nC,,31.01.2026\nA,2,\n')
  t.like(data, { created: 1, updated: 0, unchanged: 0, failed: 3 })
})
