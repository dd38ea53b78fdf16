import { type FieldKind, plainKind, readFirstCell } from '#shared/core/types/field-kinds/field-kind.ts'
import { textFilter } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { checkText, parseText } from '#shared/core/types/field-kinds/text.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { isEmail } from '#shared/platform/kernel/values/email.ts'

/** Maximum characters of an address: browsers and proxies pass on this many; mail addresses are far shorter. */
const maxAddressLength = 2_048

const addressKind = (type: FieldType, rule: string, accepts: (text: string) => boolean): FieldKind<string> => ({
  ...plainKind,
  type,
  columns: ['text'],
  ruleKeys: ['min_len', 'max_len'],
  filter: textFilter,
  parse(input, _field, { path }) {
    const text = parseText(input, path, maxAddressLength)
    if (!accepts(text)) throw invalidValueProblem(path, rule, text)
    return text
  },
  check: checkText,
  fromColumns: readFirstCell,
  toCell: (value) => value,
})

/** An email address, stored as sent. */
export const emailKind = addressKind('email', 'a valid email address', isEmail)

// The URL parser accepts `https:example.com` and ignores blanks and line breaks, which the stored text would contain.
const absolute = /^https?:\/\/[^\s/?#\\]/i

/** An absolute http or https URL, stored as sent. */
export const urlKind = addressKind(
  'url',
  'an absolute http or https URL',
  (text) => absolute.test(text) && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text),
)
