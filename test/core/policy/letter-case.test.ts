import test from 'ava'
import { lowerCase, lowerCaseSql } from '#shared/core/policy/conditions/letter-case.ts'
import { comparisonSql } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { containsText } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { thingsTable } from '#test/core/policy/things-table.ts'

/** Every code point that is a letter of text, and those whose small letter is another. */
const allLetters = 'select code, chr(code) as letter from generate_series(1, 1114111) as code where code not between 55296 and 57343'
const lettersWithSmall = 'select code, ? as small from (?) as letters where ? <> letter'
const wordsThatMatch = 'select word from unnest(?::text[]) as word where ?'

test('letter case: every letter has the lower case of PostgreSQL in every context', async (t) => {
  const database = await thingsTable()
  t.teardown(() => database.drop())
  const letter = builder.raw(lowerCaseSql('letter'))
  const changed = await database.query(builder.raw(lettersWithSmall, [letter, builder.raw(allLetters), letter]))
  const small = new Map(changed.map(({ code, small }) => [Number(code), String(small)]))
  t.true(small.size > 1_400)
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    const expected = small.get(code) ?? letter
    if (lowerCase(letter) !== expected || lowerCase(`aΣ${letter}`) !== `aσ${expected}`) t.fail(code.toString(16))
  }
})

// The table's database is Turkish, where I and i are different letters.
const words = ['INVOICE', 'invoice', 'ınvoıce', 'İNVOİCE', 'ÄRGER', 'ärger', 'ΣΑΣ', 'σας', 'STRASSE', 'straße', 'a%b_c\\', 'A%B_C\\', '😀']

test('letter case: search and filter find text as rules do in any locale of the database', async (t) => {
  const database = await thingsTable()
  t.teardown(() => database.drop())
  for (const text of words) {
    const condition = comparisonSql('word', containsText(text), containsText(text).values)
    const found = await database.query(builder.raw(wordsThatMatch, [[...words], condition]))
    t.deepEqual(
      found.map(({ word }) => word),
      words.filter((word) => lowerCase(word).includes(lowerCase(text))),
      text,
    )
  }
})
