import { defineBlock, type KnownReferences, readIdSetting, textMapSetting, textSetting } from '#shared/core/automation/block.ts'
import { blankProblems, fieldProblems, typeProblems, unknownNameProblems, valueProblems } from '#shared/core/automation/setting-problems.ts'
import { toBoundedText, toText } from '#shared/core/automation/template.ts'
import { sendMessage } from '#shared/features/messages/sending/send.ts'
import { t } from '#shared/platform/kernel/schema.ts'

/** Texts of a message; `sendMessage`, not the flow, replaces the variables, since it escapes their values in HTML. */
const templatedSettings = ['subject', 'body_text', 'body_html'] as const

export const sendMessageBlock = defineBlock({
  type: 'action.send_message',
  label: 'Send a message',
  description: 'Sends a mail through a connection, from a template or with its own text.',
  settings: {
    connection_id: textSetting('Id of the connection.'),
    template_id: textSetting('Id of a template.'),
    to: textSetting('The address; default: the value of to_field in the record.'),
    record_type: textSetting('Key of the type of the record that holds the address.'),
    record_id: textSetting('Id of the record that holds the address.'),
    to_field: textSetting('Key of the field that holds the address.'),
    subject: textSetting('Subject; default: that of the template.'),
    body_text: textSetting('Plain text; default: that of the template.'),
    body_html: textSetting('HTML; default: that of the template.'),
    vars: textMapSetting('Values of the template’s variables: all that a template sees.'),
  },
  required: ['connection_id'],
  problems: (config, around) => {
    const { connection_id, template_id, to, record_type, record_id, to_field, body_text, body_html } = config
    return [
      ...(to || (record_id && to_field) ? [] : ['to is required, or record_type, record_id and to_field that name where it stands']),
      ...(template_id || body_text || body_html ? [] : ['template_id is required, or a body_text or body_html']),
      ...unknownNameProblems('connection_id', connection_id, around.connectionIds, 'the id of a connection'),
      ...unknownNameProblems('template_id', template_id, around.templateIds, 'the id of a template'),
      ...missingVarProblems(config, around),
      ...typeProblems(record_type, around, 'record_type'),
      ...(to_field === undefined ? [] : fieldProblems(record_type, [to_field], around, 'to_field')),
      ...blankProblems(config, ['template_id', 'record_id']),
      ...valueProblems(config, { record_id: readIdSetting }),
    ]
  },
  handles: ['out'],
  output: { message_id: t.String(), skipped: t.Boolean() },
  shown: 'editors',
  app: null,
  work: {
    acts: ({ node: { config }, settings, render, key }, scope) => {
      const message = Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [name, name === 'vars' ? toTexts(value) : toText(value)]),
      )
      for (const name of templatedSettings) if (config[name] !== undefined) message[name] = config[name] as string
      return sendMessage(scope, message, { deduplicationKey: key, lookup: (name) => toBoundedText(render(`{{${name}}}`)) })
    },
  },
})

/** Problems of variables that the template names, that only a flow's own text could fill, and that `vars` lacks. */
function missingVarProblems(config: Readonly<Record<string, unknown>>, { templateReferences }: KnownReferences): string[] {
  const templateId = toText(config.template_id).trim().toLowerCase()
  const vars = new Set(Object.keys((config.vars ?? {}) as object))
  const used = templatedSettings.filter((part) => !config[part])
  const missing = new Set(
    used.flatMap((part) => [...(templateReferences.get(`${templateId} ${part}`) ?? [])]).filter((name) => !vars.has(name)),
  )
  return [...missing].map((name) => `vars must have ${name}, which the template names: a template sees vars alone`)
}

const toTexts = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries((value ?? {}) as object).map(([name, item]) => [name, toText(item)]))
