import { defineBlock, textMapSetting, textSetting } from '#shared/core/automation/block.ts'
import { toText } from '#shared/core/automation/template.ts'
import { readRecordValues, recordSettingProblems } from '#shared/core/records/blocks/record-values.ts'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const createRecordBlock = defineBlock({
  type: 'action.create_record',
  label: 'Create a record',
  description: 'Creates a record of a type.',
  settings: { object_type: textSetting('Key of the record type.'), values: textMapSetting('Its values by the keys of its fields.') },
  required: ['object_type'],
  problems: recordSettingProblems,
  handles: ['out'],
  output: { id: t.String(), object_type: t.String(), values: t.Record(t.String(), t.Unknown()) },
  shown: 'record',
  app: null,
  work: {
    acts: async ({ settings }, scope) => {
      const type = await requireRecordType(scope, toText(settings.object_type))
      requirePermission(scope, 'records:create', type.key)
      const { id, values } = await createRecord(scope, type, readRecordValues(type, (settings.values ?? {}) as Record<string, unknown>))
      return { id, object_type: type.key, values }
    },
  },
})
