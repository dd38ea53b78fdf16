import { defineBlock, readIdSetting, textSetting } from '#shared/core/automation/block.ts'
import { blankProblems, typeProblems, unknownNameProblems, valueProblems } from '#shared/core/automation/setting-problems.ts'
import { hasReference, toText } from '#shared/core/automation/template.ts'
import { noticeInput } from '#shared/core/notifications/inbox-schemas.ts'
import { sendNotice } from '#shared/core/notifications/notify.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
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
    ...valueProblems(config, { user_id: readIdSetting, record_id: readIdSetting }),
    ...unknownNameProblems('role_id', config.role_id, around.roleIds, 'the id of a role'),
    ...lonelyProblems(config, 'object_type', 'record_id'),
    ...lonelyProblems(config, 'record_id', 'object_type'),
  ],
  handles: ['out'],
  output: { count: t.Integer() },
  shown: 'readers',
  app: null,
  work: {
    acts: async ({ node: { config }, settings, key }, scope) => {
      const texts = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, toText(value).trim()]))
      requirePermission(scope, 'notifications:create')
      requireRecipient(config, texts)
      const title = cutText(texts.title ?? '', 200)
      return sendNotice(scope, noticeInput.parse({ ...texts, title }, 'notice'), { deduplicationKey: key })
    },
  },
})

/** Problem of a fixed setting without the other one that it needs beside it. */
const lonelyProblems = (config: Settings, name: string, needed: string): string[] =>
  config[name] === undefined || config[needed] !== undefined || hasReference(config[name]) ? [] : [`${needed} is required beside ${name}`]

/** Throws VALIDATION_ERROR when the recipients that the settings name are empty at run time: the notice must not reach every member. */
function requireRecipient(config: Settings, texts: Readonly<Record<string, string>>): void {
  const named = ['user_id', 'role_id'].filter((name) => (config[name] ?? '') !== '')
  if (named.length > 0 && !texts.user_id && !texts.role_id)
    throw problem('VALIDATION_ERROR', `${named.join(' and ')} must not be empty; without the setting, every member is notified`)
}

type Settings = Readonly<Record<string, unknown>>
