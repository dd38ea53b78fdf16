import { emailKind, urlKind } from '#shared/core/types/field-kinds/address.ts'
import { boolKind } from '#shared/core/types/field-kinds/bool.ts'
import { multiselectKind, selectKind } from '#shared/core/types/field-kinds/choice.ts'
import { currencyKind } from '#shared/core/types/field-kinds/currency.ts'
import { dateKind, datetimeKind } from '#shared/core/types/field-kinds/dates.ts'
import type { FieldKind } from '#shared/core/types/field-kinds/field-kind.ts'
import { fileKind } from '#shared/core/types/field-kinds/file.ts'
import { numberKind } from '#shared/core/types/field-kinds/number.ts'
import { refKind, refsKind } from '#shared/core/types/field-kinds/reference.ts'
import { longTextKind, stringKind } from '#shared/core/types/field-kinds/text.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** The 14 field types (docs/contract/types-and-fields.md#field-types), one row each. */
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
