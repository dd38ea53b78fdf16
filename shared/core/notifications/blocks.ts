import { defineBlock, textSetting } from '#shared/core/automation/block.ts'
import { blankProblems, typeProblems } from '#shared/core/automation/setting-problems.ts'
import { toText } from '#shared/core/automation/template.ts'
import { noticeInput } from '#shared/core/notifications/inbox-schemas.ts'
import { sendNotice } from '#shared/core/notifications/notify.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { t } from '#shared/platform/kernel/schema.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

export const notifyBlock = defineBlock({
  type: 'action.notify',
  label: 'Notify members',
  description: 'Puts an item into the inbox of a member, of those who hold a role, or of every member.',
  settings: {
    title: textSetting('The title of the item, up to 200 characters. Every recipient may read it.'),
    user_id: textSetting('A member who gets the item.'),
    role_id: textSetting('A role whose holders get the item.'),
    object_type: textSetting('The type of the record that the item is about.'),
    record_id: textSetting('The record that the item is about.'),
  },
  required: ['title'],
  problems: (config, around) => [
    ...typeProblems(config.object_type, around),
    ...blankProblems(config, ['user_id', 'role_id', 'record_id']),
  ],
  handles: ['out'],
  output: { count: t.Integer() },
  shown: 'readers',
  app: null,
  work: {
    acts: ({ settings, key }, scope) => {
      const given = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, toText(value).trim()]))
      requirePermission(scope, 'notifications:create', '*')
      const title = cutText(given.title ?? '', 200)
      return sendNotice(scope, noticeInput.parse({ ...given, title }, 'notice'), { deduplicationKey: key })
    },
  },
})
