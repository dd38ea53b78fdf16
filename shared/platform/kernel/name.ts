import { nameFormat, t } from '#shared/platform/kernel/schema.ts'

// The pattern is published in the API's description, and other languages lack \p{…} and \u…. So it refuses control characters only; the
// format (`nameFormat`) also refuses the other line separators and names without a visible character.
const lineCharacter = '[^\\x00-\\x1F\\x7F-\\x9F]'

/** Schema of a name of a person or thing: 1 to `maxLength` characters in one line, at least one of them visible. */
export const nameSchema = (maxLength: number) =>
  t.String({
    maxLength,
    pattern: `^${lineCharacter}+$`,
    format: nameFormat,
    description: `a name of 1 to ${maxLength} characters in one line`,
  })

/** Schema of a name that may be empty: up to `maxLength` characters in one line. */
export const optionalNameSchema = (maxLength: number) =>
  t.String({ maxLength, pattern: `^${lineCharacter}*$`, description: `a name of up to ${maxLength} characters in one line` })
