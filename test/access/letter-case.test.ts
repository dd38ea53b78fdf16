import test from 'ava'
import { lowerCase, lowerCaseOf } from '#shared/access/letter-case.ts'
import { builder } from '#shared/db/builder.ts'
import { thingsTable } from '#test/access/things-table.ts'

test('every letter has the small letter that PostgreSQL gives it, and stands for itself in any company', async (t) => {
  const database = await thingsTable()
  t.teardown(() => database.drop())
  const letters = builder.raw(
    'select code, chr(code) as letter from generate_series(1, 1114111) as code where code not between 55296 and 57343',
  )
  const changed = await database.query(
    builder.raw('select code, ? as small from (?) as letters where ? <> letter', [
      lowerCaseOf(builder.raw('letter')),
      letters,
      lowerCaseOf(builder.raw('letter')),
    ]),
  )
  const small = new Map(changed.map(({ code, small }) => [Number(code), String(small)]))
  t.true(small.size > 1_400)
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    const expected = small.get(code) ?? letter
    if (lowerCase(letter) !== expected || lowerCase(`aΣ${letter}`) !== `aσ${expected}`) t.fail(code.toString(16))
  }
})
