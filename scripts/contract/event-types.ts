import type { EventFamily } from '#shared/core/events/event-type.ts'
import { code, markdownTable } from './markdown-table.ts'

/** All types of events. */
export const eventTypeTable = (families: readonly EventFamily[]): string =>
  markdownTable(
    ['Type', 'Meaning', 'Subject', 'Data', 'Needs'],
    families.flatMap(({ types }) =>
      types.map(({ type, description, permission, subject, data }) => [
        code(type),
        description,
        keysOf(subject),
        keysOf(data),
        code(permission),
      ]),
    ),
  )

const keysOf = (schema: object): string => {
  const keys = Object.keys('properties' in schema ? (schema.properties as object) : {})
  return keys.length === 0 ? 'none' : keys.map(code).join(', ')
}
