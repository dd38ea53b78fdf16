import { consoleAddress } from '#api/access/operator-session.ts'
import { consolePage, formatTime, formTokenOf, queryAddress, seeOther, showConsole } from '#api/core/operators/console.ts'
import { formToken } from '#api/core/operators/examples.ts'
import { renderTable, shortColumn, textColumn } from '#api/core/operators/table.ts'
import { ids } from '#api/http/example-ids.ts'
import { page } from '#api/http/route.ts'
import { type Field, renderFields, withErrors } from '#api/pages/fields/field.ts'
import { fieldErrors, formTokenInput } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import { tryWaitingMails } from '#shared/core/operators/try-waiting-mails.ts'
import { createReader, type PlatformScope } from '#shared/core/scope/scope.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'
import { type MailStatus, mailStatuses } from '#shared/platform/mail/mail.ts'
import { countWaitingMails, type ListedMail, listMails } from '#shared/platform/mail/operator-store.ts'

interface MailsView {
  readonly here: string
  readonly fields: string
  /** What the button did that led here; empty text on other pages. */
  readonly tried: string
  /** The mails; empty text where the search is wrong. */
  readonly result: string
}
const renderMails = template<MailsView>(new URL('mails.eta', import.meta.url))

interface ResultView {
  readonly table: string
  readonly more: string
  readonly waiting: string
  readonly flush: string
  readonly workspace: string
  readonly mayFlush: boolean
  readonly formToken: string
}
const renderResult = template<ResultView>(new URL('found-mails.eta', import.meta.url))

const about = (description: string) => t.Optional(t.String({ description }))

const mailsQuery = schema(
  t.Object({
    status: about('A status of mails; without it those that wait or have failed.'),
    workspace: about('Id of a workspace.'),
    to: about('Address of the recipient.'),
    tried: t.Optional(t.Integer({ minimum: 0, description: 'How many mails the button has tried.' })),
  }),
)
type MailsQuery = TypeOf<typeof mailsQuery>

const searchInput = schema(
  t.Object({ status: t.Optional(t.Enum([...mailStatuses])), workspace: t.Optional(uuid), to: t.Optional(t.String({ maxLength: 320 })) }),
)

/** The statuses of mails that have not reached a server, or may not have. */
const unsettled: readonly MailStatus[] = ['queued', 'sending', 'uncertain', 'failed', 'bounced']

const statusTexts: Readonly<Record<MailStatus, string>> = {
  queued: 'queued: waits to be sent',
  sending: 'sending',
  sent: 'sent',
  uncertain: 'uncertain: the server may have it',
  failed: 'failed',
  bounced: 'bounced: there is no such mailbox',
  skipped: 'skipped: the recipient has unsubscribed',
}

/** The most mails that the page lists, as the command does. */
const maxListed = 200

const fieldsOf = ({ status = '', workspace = '', to = '' }: MailsQuery): readonly Field[] => {
  const known: readonly string[] = mailStatuses
  const other = status === '' || known.includes(status) ? [] : [{ value: status, label: status }]
  const options = [...mailStatuses.map((value) => ({ value, label: statusTexts[value] })), ...other]
  const common = { type: 'text', isFilter: true } as const
  return [
    { name: 'status', label: 'Status', type: 'select', isFilter: true, blank: 'waiting or failed', options, values: [status] },
    { ...common, name: 'workspace', label: 'Workspace (id)', values: [workspace], attributes: { maxlength: 40, autocomplete: 'off' } },
    { ...common, name: 'to', label: 'Recipient', values: [to], attributes: { maxlength: 320, autocomplete: 'off' } },
  ]
}

/** What a search means: empty texts filter nothing. Throws VALIDATION_ERROR for a text that does not fit. */
const readSearch = ({ tried: _, ...texts }: MailsQuery) =>
  searchInput.parse(Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]]))))

/** The mails that a search finds; the form keeps a search that does not fit, and says why. */
async function mailsPage(scope: PlatformScope, query: MailsQuery): Promise<Page> {
  try {
    return showMails(scope, query, await findResult(scope, readSearch(query)))
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return showMails(scope, query, '', error)
    throw error
  }
}

function showMails(scope: PlatformScope, query: MailsQuery, result: string, failure?: Problem): Page {
  const fields = fieldsOf(query)
  const { tried } = query
  const content = renderMails({
    here: consoleAddress(scope.config, 'mails'),
    fields: renderFields(withErrors(fields, fieldErrors(fields, failure))).text,
    tried: tried === undefined ? '' : tried === 1 ? '1 mail is tried again.' : `${tried.toLocaleString('en')} mails are tried again.`,
    result,
  })
  return showConsole(scope, { title: 'Mails', place: 'mails', content, failure, isBesideField: true })
}

async function findResult(scope: PlatformScope, { status, workspace, to }: ReturnType<typeof readSearch>): Promise<string> {
  const statuses = status ? [status] : unsettled
  const mails = await createReader(scope).query(listMails({ statuses, workspaceId: workspace, recipient: to, limit: maxListed + 1 }))
  const waiting = (await firstRow(scope.db, countWaitingMails({ workspaceId: workspace })))?.waiting ?? 0
  return renderResult({
    table: tableOf(scope, mails.slice(0, maxListed)),
    more: mails.length > maxListed ? `These are the newest ${maxListed}; search for others by their workspace or recipient.` : '',
    waiting: waiting === 1 ? '1 mail waits' : `${waiting.toLocaleString('en')} mails wait`,
    flush: consoleAddress(scope.config, 'mails/flush'),
    workspace: workspace ?? '',
    mayFlush: waiting > 0 && !operatorOf(scope).isReadOnly,
    formToken: formTokenOf(scope),
  }).text
}

const tableOf = (scope: PlatformScope, mails: readonly ListedMail[]): string =>
  renderTable({
    label: 'Mails',
    empty: 'There are no such mails.',
    columns: [shortColumn('Status'), ...['Last answer of the server', 'Recipient', 'Workspace', 'Written'].map(textColumn)],
    rows: mails.map(({ status, last_error, recipient, kind, workspace, workspace_id, created_at, attempts }) => [
      { text: status, more: attempts === 1 ? '1 try' : `${attempts} tries` },
      last_error ?? 'none',
      { text: recipient, more: kind },
      workspace_id === null
        ? 'the platform'
        : { text: workspace ?? workspace_id, address: consoleAddress(scope.config, `workspaces/${workspace_id}`) },
      formatTime(created_at),
    ]),
  }).text

const flushInput = schema(t.Object({ workspace: t.Optional(uuid) }))

export const mailPages = [
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/mails',
    summary: 'Show mails that wait or have failed',
    description: 'The newest 200 of all workspaces, never what they say. A search that does not fit is answered with 400 and the form.',
    example: { query: { status: 'failed' }, file: 'Mails' },
    query: mailsQuery,
    handle: ({ query }, scope) => mailsPage(scope, query),
  }),
  page({
    ...consolePage,
    method: 'POST',
    path: '/operator/mails/flush',
    summary: 'Try mails that wait for another try',
    description: 'As the command `mail flush` does: all, or those of a workspace.',
    example: { body: { workspace: ids.workspace, ...formToken } },
    form: schema(t.Object({ workspace: about('Id of a workspace; empty for all.'), ...formTokenInput }, { title: 'ConsoleFlush' })),
    statuses: [303],
    handle: async ({ body }, scope) => {
      const { workspace } = flushInput.parse(body.get('workspace') ? { workspace: body.get('workspace') } : {})
      const tried = await tryWaitingMails(scope, workspace)
      return seeOther(queryAddress(scope, 'mails', { workspace, tried }))
    },
  }),
]
