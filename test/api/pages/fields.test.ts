import test from 'ava'
import { type Field, renderFieldPieces, renderFields } from '#api/pages/fields/field.ts'

const options = Array.from({ length: 2_000 }, (_, index) => ({ value: `${'"'.repeat(190)}${index}`, label: `Option ${index}` }))

for (const type of ['checkboxes', 'radio', 'select'] as const) {
  test(`fields: ${type} of 2,000 options are rendered in pieces, with those that were sent chosen`, (t) => {
    const values = options.slice(0, 1_500).map(({ value }) => value)
    const fields: Field[] = [{ name: 'many', label: 'Many', type, options, values, error: 'Too many' }]
    const pieces = [...renderFieldPieces(fields)]
    t.true(Math.max(...pieces.map(({ length }) => length)) < 256_000)
    const text = renderFields(fields).text
    t.is(pieces.join(''), text)
    t.is(text.match(/ (?:checked|selected)[ >]/g)?.length, 1_500)
    t.is(text.match(/Option \d+/g)?.length, 2_000)
    t.is(text.match(/autofocus/g)?.length, 1)
    t.false(text.includes('<!--'))
  })
}
