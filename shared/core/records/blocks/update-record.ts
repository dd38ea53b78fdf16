import { defineBlock, readIdSetting, textMapSetting, textSetting } from '#shared/core/automation/block.ts'
import { valueProblems } from '#shared/core/automation/setting-problems.ts'
import { toText } from '#shared/core/automation/template.ts'
import { readRecordValues, recordSettingProblems } from '#shared/core/records/blocks/record-values.ts'
import { changeRecord } from '#shared/core/records/change/update-record.ts'
import { getRecord } from '#shared/core/records/read.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { t } from '#shared/platform/kernel/schema.ts'

export const updateRecordBlock = defineBlock({
  type: 'action.update_record',
  label: 'Change a record',
  description: 'Changes values of a record; an empty one is cleared.',
  settings: {
    object_type: textSetting('Key of the record type.'),
    record_id: textSetting('Id of the record, such as {{trigger.record_id}}.'),
    values: textMapSetting('New values by the keys of their fields.'),
  },
  required: ['object_type', 'record_id'],
  problems: (config, around) => [...recordSettingProblems(config, around), ...valueProblems(config, { record_id: readIdSetting })],
  handles: ['out'],
  output: { id: t.String(), object_type: t.String(), values: t.Record(t.String(), t.Unknown()) },
  shown: 'record',
  app: null,
  work: {
    acts: async ({ settings }, scope) => {
      const type = await requireRecordType(scope, toText(settings.object_type))
      requirePermission(scope, 'records:update', type.key)
      const id = toText(settings.record_id).trim().toLowerCase()
      await changeRecord(scope, type, id, readRecordValues(type, (settings.values ?? {}) as Record<string, unknown>))
      return { id, object_type: type.key, values: await readValues(scope, type.key, id) }
    },
  },
})

/** The values of a changed record; empty when the caller may no longer read it. */
async function readValues(scope: Scope, typeKey: string, id: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await getRecord(scope, typeKey, id)).values
  } catch (error) {
    if (error instanceof Problem && error.code === 'NOT_FOUND') return {}
    throw error
  }
}
