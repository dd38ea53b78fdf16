import { beginsWithRoot } from '#shared/core/automation/template.ts'
import { getRecord } from '#shared/core/records/read.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { requireConnection } from '#shared/features/messages/connections/connections.ts'
import { contactKeys } from '#shared/features/messages/do-not-contact/contact-key.ts'
import { unsubscribeHeaders } from '#shared/features/messages/do-not-contact/unsubscribe.ts'
import { type MessageInput, messageInput, type SentMessage } from '#shared/features/messages/sending/schemas.ts'
import { findMessageByKey, insertMessage } from '#shared/features/messages/store.ts'
import { renderHtml, renderSubject, renderText, type VariableLookup } from '#shared/features/messages/templates/render.ts'
import { messageLimits } from '#shared/features/messages/templates/schemas.ts'
import { requireTemplate } from '#shared/features/messages/templates/templates.ts'
import { fitsText } from '#shared/platform/formula/values/text.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { sendMailJob } from '#shared/platform/mail/jobs.ts'

interface SendOptions {
  /** Deduplication key within the workspace, such as that of a flow's step: the first call sends, later calls return its result. */
  readonly deduplicationKey?: string
  /**
   * Value of a variable of the message's own texts that is not in `vars`, such as a flow's reference. A template does not see it: somebody
   * else may have written the template. Values are inserted once and escaped; a subject or body filled in beforehand would be treated as
   * markup.
   */
  readonly lookup?: (name: string) => string | undefined
}

const emailAddress = schema(t.String({ format: 'email', maxLength: 254 }))

/**
 * Sends a message through a connection: adds it to the outbox, in the caller's transaction if there is one. Used by `messages.send` and
 * `action.send_message`. Requires messages:send on the connection's id, and records:read for an address taken from a record. A template sees
 * `vars` alone. `skipped` is true when the recipient is on the do-not-contact list. Throws NOT_FOUND, FORBIDDEN, and VALIDATION_ERROR naming
 * the wrong property of the message.
 */
export async function sendMessage(scope: Scope, rawInput: unknown, { deduplicationKey, lookup }: SendOptions = {}): Promise<SentMessage> {
  const input = messageInput.parse(rawInput, 'message')
  const connection = await requireConnection(scope, input.connection_id)
  requirePermission(scope, 'messages:send', connection.id)
  const content = await renderContent(scope, input, lookup)
  const recipient = readAddress(await resolveRecipient(scope, input))
  const { template_id, record_type, record_id } = input
  if (record_id && !isUuid(record_id)) throw problem('VALIDATION_ERROR', 'message.record_id must be the id of a record')
  const id = newId()
  const about = { templateId: template_id || null, recordType: record_type || null, recordId: record_id || null }
  const headers = JSON.stringify(unsubscribeHeaders(scope.config, scope.workspace.id, id))
  const { subject, text, html } = content
  const mail = {
    connectionId: connection.id,
    recipient,
    contactKeys: contactKeys(recipient),
    subject,
    bodyText: text,
    bodyHtml: html,
    headers,
  }
  const key = { workspaceId: scope.workspace.id, deduplicationKey }
  return scope.db.transaction(async (tx) => {
    const [inserted] = await tx.query(
      insertMessage({ ...mail, ...about, ...key, id, cause: JSON.stringify(scope.cause), createdAt: scope.now() }),
    )
    if (inserted?.status === 'queued') await enqueue(within(scope, tx), id)
    const [row] = inserted ? [inserted] : await tx.query(findMessageByKey(key))
    return { message_id: row?.id ?? id, skipped: row?.status === 'skipped' }
  })
}

/** The cause gets depth 0: a message starts no automation, so the limit on automatic steps must not stop its sending. */
const enqueue = ({ db, jobQueue, cause, workspace }: Scope, id: string): Promise<string> =>
  jobQueue.enqueue(db, sendMailJob, { workspaceId: workspace.id, cause: { ...cause, depth: 0 } }, { mailId: id })

function createLookup({ vars }: MessageInput, other: (name: string) => string | undefined = () => undefined): VariableLookup {
  const known = new Map(Object.entries(vars ?? {}))
  return (name) => String((known.has(name) ? known.get(name) : other(name)) ?? '')
}

/** A template's variable that is not in `vars` is empty. One that looks like a flow's reference would hide a mistake: VALIDATION_ERROR. */
function refuseFlowReference(name: string): undefined {
  if (!beginsWithRoot(name)) return undefined
  throw problem(
    'VALIDATION_ERROR',
    `message.vars must have ${name}, which the template names: a template sees vars alone, and no values of the flow that sends it`,
  )
}

interface Content {
  readonly subject: string
  readonly text: string
  readonly html: string | null
}

async function renderContent(scope: Scope, input: MessageInput, lookup: SendOptions['lookup']): Promise<Content> {
  const template = input.template_id ? await requireTemplate(scope, input.template_id) : undefined
  const [own, ofTemplate] = [createLookup(input, lookup), createLookup(input, refuseFlowReference)]
  const fill = (render: (text: string, lookup: VariableLookup) => string, part: 'subject' | 'body_text' | 'body_html') =>
    input[part] ? render(input[part], own) : render(template?.[part] ?? '', ofTemplate)
  const subject = fill(renderSubject, 'subject')
  const text = fill(renderText, 'body_text')
  const html = fill(renderHtml, 'body_html')
  if (subject === '') throw problem('VALIDATION_ERROR', 'message.subject is required where no template has one')
  if (text === '' && html === '')
    throw problem('VALIDATION_ERROR', 'message.body_text or message.body_html is required where no template has one')
  requireLength('subject', subject, messageLimits.subject)
  requireLength('body_text', text, messageLimits.filledBody)
  requireLength('body_html', html, messageLimits.filledBody)
  return { subject, text, html: html === '' ? null : html }
}

function requireLength(property: string, filled: string, most: number): void {
  if (!fitsText(filled, most))
    throw problem('VALIDATION_ERROR', `message.${property} must have at most ${most} characters with its variables put in`)
}

async function resolveRecipient(scope: Scope, { to, record_type, record_id, to_field }: MessageInput): Promise<unknown> {
  if (to) return to
  if (!record_type || !record_id || !to_field) {
    throw problem('VALIDATION_ERROR', 'message.to is required, or message.record_type, record_id and to_field that name where it stands')
  }
  requirePermission(scope, 'records:read', record_type)
  const { values } = await getRecord(scope, record_type, record_id)
  const value = Object.hasOwn(values, to_field) ? values[to_field] : undefined
  if (typeof value !== 'string') throw problem('VALIDATION_ERROR', `message.to_field must be a field with an address, ${to_field} has none`)
  return value
}

/** Returns the address as written. Throws VALIDATION_ERROR for anything but one valid address. */
function readAddress(value: unknown): string {
  try {
    return emailAddress.parse(typeof value === 'string' ? value.trim() : value)
  } catch {
    throw problem('VALIDATION_ERROR', 'message.to must be a valid email address')
  }
}
