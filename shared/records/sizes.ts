import { builder, type Knex } from '#shared/db/builder.ts'
import type { Values } from '#shared/records/record.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** SQL for the bytes of a row's text. PostgreSQL keeps the length of long text beside it, so this reads none of it. */
export function textBytes(type: RecordType): Knex.Raw {
  const texts = type.fields.filter((field) => fieldKinds[field.type].columns[0] === 'text').map(({ column }) => column)
  return builder.raw(['0', ...texts.map(() => 'coalesce(octet_length(??), 0)')].join(' + '), texts)
}

/** UTF-16 units of the texts among a record's values. */
export function textLength(values: Readonly<Record<string, unknown>> | Values): number {
  let length = 0
  for (const value of Object.values(values)) if (typeof value === 'string') length += value.length
  return length
}
