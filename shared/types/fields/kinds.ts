import type { FieldType } from '#shared/kernel/field-type.ts'
import { emailKind, urlKind } from '#shared/types/fields/address.ts'
import { boolKind } from '#shared/types/fields/bool.ts'
import { multiselectKind, selectKind } from '#shared/types/fields/choice.ts'
import { currencyKind } from '#shared/types/fields/currency.ts'
import { dateKind, datetimeKind } from '#shared/types/fields/dates.ts'
import { fileKind } from '#shared/types/fields/file.ts'
import type { FieldKind } from '#shared/types/fields/kind.ts'
import { numberKind } from '#shared/types/fields/number.ts'
import { refKind, refsKind } from '#shared/types/fields/reference.ts'
import { longTextKind, stringKind } from '#shared/types/fields/text.ts'

/** The 14 field types (document 1, Field definition): one row each, and nothing else in the tree tells them apart. */
export const fieldKinds: Readonly<Record<FieldType, FieldKind>> = Object.freeze({
  string: stringKind,
  text: longTextKind,
  number: numberKind,
  bool: boolKind,
  date: dateKind,
  datetime: datetimeKind,
  currency: currencyKind,
  select: selectKind,
  multiselect: multiselectKind,
  email: emailKind,
  url: urlKind,
  file: fileKind,
  ref: refKind,
  refs: refsKind,
})
