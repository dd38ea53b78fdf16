import { exactCell, type FieldKind, plainKind, readFirstCell, valueOperators } from '#shared/core/types/field-kinds/field-kind.ts'
import { choiceFilter } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { parseText } from '#shared/core/types/field-kinds/text.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'

/** Maximum UTF-8 bytes of a drive key (docs/contract/drive.md#keys). */
const maxKeyBytes = 1_024

/** A drive key, stored as text. Whether a file exists under it is not checked. */
export const fileKind: FieldKind<string> = {
  ...plainKind,
  type: 'file',
  columns: ['text'],
  sortable: false,
  filter: { ...choiceFilter, operators: valueOperators, defaultOperator: null },
  parse(input, _field, { path }) {
    const key = parseText(input, path, maxKeyBytes)
    const bytes = Buffer.byteLength(key)
    if (bytes === 0 || bytes > maxKeyBytes) throw invalidValueProblem(path, `a drive key of 1 to ${maxKeyBytes} bytes`, bytes)
    return key
  },
  fromColumns: readFirstCell,
  fromCell: exactCell,
  toCell: (value) => value,
}
