import { t } from '#shared/platform/kernel/schema.ts'

/** A record type's key (docs/contract/types-and-fields.md#record-types). */
export const typeKey = t.String({
  pattern: '^[a-z][a-z0-9_]{1,31}$',
  description: '2 to 32 lowercase letters, digits and underscores, starting with a letter',
})

/** A field's key (docs/contract/types-and-fields.md#fields). */
export const fieldKey = t.String({
  pattern: '^[a-z][a-z0-9_]{1,63}$',
  description: '2 to 64 lowercase letters, digits and underscores, starting with a letter',
})

/** The slug of a module, which is a group of the menu (docs/contract/types-and-fields.md#modules). */
export const moduleSlug = t.String({
  pattern: '^[a-z0-9_-]{1,32}$',
  description: '1 to 32 lowercase letters, digits, hyphens and underscores',
})
