/** Keys that no field may have: every record has a property of that name (docs/contract/types-and-fields.md#fields). */
export const reservedFieldKeys: ReadonlySet<string> = new Set([
  'id',
  'object_type',
  'created_by',
  'created_at',
  'updated_at',
  'owner',
  'values',
])
