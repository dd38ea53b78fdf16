import type { EventFamilies } from '#shared/core/scope/event-families.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

/** The names of all types of events. */
export const typeNamesOf = (families: EventFamilies<Scope>): string[] => families.flatMap(({ types }) => types.map(({ type }) => type))

/** Whether a type has this name, or begins as it, such as `records.*`. */
export const isOfType = (type: string, name: string): boolean => (name.endsWith('.*') ? type.startsWith(name.slice(0, -1)) : type === name)

/** What is wrong with a name that no type has. */
export const unknownType = (name: string): string => `there is no type ${JSON.stringify(name.slice(0, 100))}; GET /events/types lists them`

/** The types that a name means; none for one that no type has. */
export const expandType = (families: EventFamilies<Scope>, name: string): string[] =>
  typeNamesOf(families).filter((type) => isOfType(type, name))
