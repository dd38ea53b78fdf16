import { readFileSync } from 'node:fs'
import test from 'ava'
import { readAll } from '#test/core/records/csv/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const take = shareWorld(test)
const folder = new URL('../../fixtures/csv/', import.meta.url)
const { files } = JSON.parse(readFileSync(new URL('facts.json', folder), 'utf8')) as {
  files: Readonly<Record<string, { readonly data_rows: number }>>
}

const fieldKey = /^(?!(?:id|object_type|created_by|created_at|updated_at|owner|values)$)[a-z][a-z0-9_]{1,63}$/

/** Creates a type with a field for each name of the header that can be a key. */
async function suitableType(w: World, key: string, header: readonly string[]): Promise<void> {
  await w.org.owner.post(`${w.org.path}/types`, { key, label: key })
  for (const name of new Set(['filler', ...header.filter((one) => fieldKey.test(one))])) {
    const made = await w.org.owner.post(`${w.org.path}/fields`, { entity_type: key, key: name, label: name, type: 'text' })
    if (made.status !== 201) throw new Error(made.text)
  }
}

/** The messages for refused files, by the fault. */
const refusals =
  /^file(?: must have a header row| must be UTF-8 text| must be CSV text, got a gzip archive|: row \d+ has a quoted cell that is never)/

for (const [path, { data_rows }] of Object.entries(files)) {
  test(`csv edge: ${path} over HTTP gives its rows, or is refused with a reason`, async (t) => {
    const w = await take()
    const content = readFileSync(new URL(path, folder))
    const header = await readAll(content).then(
      (file) => file.header,
      () => [],
    )
    await suitableType(w, 'odd', header)
    const sent = await w.org.owner.post(`${w.org.path}/records/odd/import`, content, { 'content-type': 'text/csv' })
    const isUsable = header.some((one) => fieldKey.test(one))
    if (data_rows > 500 && isUsable) return t.regex(sent.body.error.message, /^file must have at most 500 data rows$/)
    if (!isUsable) {
      t.is(sent.status, 400, sent.text)
      return t.regex(sent.body.error.message, refusals)
    }
    t.is(sent.data.created + sent.data.failed, data_rows, sent.text)
    t.is(sent.data.failed, sent.data.errors.length)
    t.is((await w.org.owner.get(`${w.org.path}/records/odd?offset=0`)).data.total, sent.data.created)
  })
}
