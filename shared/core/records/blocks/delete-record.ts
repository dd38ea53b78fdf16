import { defineBlock, readIdSetting, textSetting } from '#shared/core/automation/block.ts'
import { typeProblems, valueProblems } from '#shared/core/automation/setting-problems.ts'
import { toText } from '#shared/core/automation/template.ts'
import { removeRecord } from '#shared/core/records/change/delete-record.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const deleteRecordBlock = defineBlock({
  type: 'action.delete_record',
  label: 'Delete a record',
  description: 'Deletes a record; the step fails where there is none.',
  settings: {
    object_type: textSetting('Key of the record type.'),
    record_id: textSetting('Id of the record, such as {{trigger.record_id}}.'),
  },
  required: ['object_type', 'record_id'],
  problems: (config, around) => [...typeProblems(config.object_type, around), ...valueProblems(config, { record_id: readIdSetting })],
  handles: ['out'],
  output: { id: t.String(), object_type: t.String() },
  shown: 'readers',
  app: null,
  work: {
    acts: async ({ settings }, scope) => {
      const type = await requireRecordType(scope, toText(settings.object_type))
      requirePermission(scope, 'records:delete', type.key)
      const id = toText(settings.record_id).trim().toLowerCase()
      await removeRecord(scope, type, id)
      return { id, object_type: type.key }
    },
  },
})
