import { t } from '#shared/kernel/schema.ts'

const visible = '[^\\p{Cc}\\p{Z}]'
const inLine = '[^\\p{Cc}\\p{Zl}\\p{Zp}]'

/** A name that people give to something or to themselves: 1 to `most` characters in one line, at least one of them visible. */
export const nameText = (most: number) =>
  t.String({ maxLength: most, pattern: `^${inLine}*?${visible}${inLine}*$`, description: `a name of 1 to ${most} characters in one line` })
