import { defineBlock, textSetting } from '#shared/core/automation/block.ts'
import { readFilledTexts } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { postEntry } from '#shared/features/accounting/entries/post.ts'
import { entryInput } from '#shared/features/accounting/entries/schemas.ts'
import { t } from '#shared/platform/kernel/schema.ts'

const line = t.Object({
  account_id: textSetting('Id of an accounts record.'),
  debit: textSetting('An amount.'),
  credit: textSetting('An amount.'),
  memo: textSetting('What for.'),
})

export const postEntryBlock = defineBlock({
  type: 'action.post_entry',
  label: 'Post an entry',
  description: 'Posts a journal entry; total debits equal total credits.',
  settings: {
    date: textSetting('YYYY-MM-DD; today in UTC when blank.'),
    memo: textSetting('What for.'),
    currency: textSetting('ISO 4217 code; the workspace’s own when blank.'),
    source_type: textSetting('Such as invoice; manual when blank.'),
    source_id: textSetting('Id of the invoice or payment.'),
    lines: t.Optional(t.Array(line, { maxItems: 200, description: 'Each with a debit or a credit.' })),
  },
  required: ['lines'],
  problems: ({ lines = [] }) => ((lines as readonly unknown[]).length < 2 ? ['lines must have at least 2 items'] : []),
  handles: ['out'],
  output: { id: t.String() },
  shown: 'readers',
  app: 'accounting',
  work: {
    acts: async ({ settings: { lines, ...heading }, key }, scope) => {
      requirePermission(scope, 'accounting:post', '*')
      const given = { ...readFilledTexts(heading), lines: (lines as readonly object[]).map(readFilledTexts) }
      const { id } = await postEntry(scope, entryInput.parse(given, 'entry'), { deduplicationKey: key })
      return { id }
    },
  },
})
