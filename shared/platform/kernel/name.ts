import { nameFormat, t } from '#shared/platform/kernel/schema.ts'

// Other languages lack \p{…} and \u…: control characters are refused by the pattern, further separators by the format.
const inLine = '[^\\x00-\\x1F\\x7F-\\x9F]'

/** A name that people give to something or to themselves: 1 to `most` characters in one line, at least one of them visible. */
export const nameSchema = (most: number) =>
  t.String({
    maxLength: most,
    pattern: `^${inLine}+$`,
    format: nameFormat,
    description: `a name of 1 to ${most} characters in one line`,
  })
