import { defineBlock, readIdSetting, textSetting } from '#shared/core/automation/block.ts'
import { blankProblems, refusalsOf, valueProblems } from '#shared/core/automation/setting-problems.ts'
import { hasReference, readFilledTexts } from '#shared/core/automation/template.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { isEmptySide, parseAmount, requireCurrency } from '#shared/features/accounting/amount.ts'
import { requireDay } from '#shared/features/accounting/days.ts'
import { postEntry, readSides } from '#shared/features/accounting/entries/post.ts'
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
  problems: (config) => {
    const lines = (config.lines ?? []) as readonly Line[]
    return [
      ...(lines.length < 2 ? ['lines must have at least 2 items'] : []),
      ...valueProblems(config, { date: requireDay, currency: (code) => requireCurrency(code) }),
      ...lines.flatMap((line, index) => lineProblems(line, `lines[${index}]`)),
    ]
  },
  handles: ['out'],
  output: { id: t.String() },
  shown: 'readers',
  app: 'accounting',
  work: {
    acts: async ({ settings: { lines, ...heading }, key }, scope) => {
      requirePermission(scope, 'accounting:post')
      const entry = { ...readFilledTexts(heading), lines: (lines as readonly object[]).map(readFilledTexts) }
      const { id } = await postEntry(scope, entryInput.parse(entry, 'entry'), key)
      return { id }
    },
  },
})

type Line = Readonly<Record<string, unknown>>

/** Problems of a line. A side is judged alone when the other one holds a reference, which may give an empty text. */
function lineProblems(line: Line, path: string): string[] {
  const { account_id, debit, credit } = line
  const readSide = (text: string, name: string) => isEmptySide(text) || parseAmount(text, name)
  return [
    ...((account_id ?? '') === '' ? [`${path}.account_id is required`] : blankProblems(line, ['account_id'], `${path}.`)),
    ...valueProblems(line, { account_id: readIdSetting }, `${path}.`),
    ...(hasReference([debit, credit])
      ? valueProblems(line, { debit: readSide, credit: readSide }, `${path}.`)
      : refusalsOf(() => readSides(readFilledTexts({ debit, credit }), path))),
  ]
}
