import { defineBlock, text, texts } from '#shared/flows/block.ts'
import { recordValues } from '#shared/flows/record-values.ts'
import { fieldProblems, typeProblems } from '#shared/flows/references.ts'
import { textOf } from '#shared/flows/template.ts'
import { t } from '#shared/kernel/schema.ts'
import { createRecord } from '#shared/records/create.ts'
import { requirePermission } from '#shared/scope/access.ts'
import { requireRecordType } from '#shared/types/record-type.ts'

export const createRecordBlock = defineBlock({
  type: 'action.create_record',
  label: 'Create a record',
  description: 'Creates a record of a type.',
  settings: { object_type: text('Key of the record type.'), values: texts('Its values by the keys of its fields.') },
  required: ['object_type'],
  problems: ({ object_type, values = {} }, around) => [
    ...typeProblems(object_type, around),
    ...fieldProblems(object_type, Object.keys(values as object), around, 'values'),
  ],
  handles: ['out'],
  output: { id: t.String(), values: t.Record(t.String(), t.Unknown()) },
  shown: 'record',
  app: null,
  work: {
    acts: async ({ settings }, scope) => {
      const type = await requireRecordType(scope, textOf(settings.object_type))
      requirePermission(scope, 'records:create', type.key)
      const { id, values } = await createRecord(scope, type.key, recordValues(type, (settings.values ?? {}) as Record<string, unknown>))
      return { id, object_type: type.key, values }
    },
  },
})
