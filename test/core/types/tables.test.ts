import test from 'ava'
import { parseUniqueIndexName, uniqueIndexOf } from '#shared/core/types/tables/table-names.ts'

const id = '01a1fbc8-860b-7237-8611-9b631716c9dc'
const hex = id.replaceAll('-', '')

for (const [constraint, field] of [
  [uniqueIndexOf(id), hex],
  [`${uniqueIndexOf(id)}_`, undefined],
  [`${uniqueIndexOf(id)}x`, undefined],
  [`id_${hex}`, undefined],
  [undefined, undefined],
] as const)
  test(`tables: the constraint ${constraint} is that of ${field ?? 'no unique field'}`, (t) =>
    t.is(parseUniqueIndexName(constraint), field))
