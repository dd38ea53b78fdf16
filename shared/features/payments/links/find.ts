import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { formatAmount, type LinkQuery, type LinkView } from '#shared/features/payments/links/schemas.ts'
import { findLinksAfter, findNewestLinks, type Link, selectLink } from '#shared/features/payments/links/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Reads a page of links, newest first. Throws VALIDATION_ERROR for a cursor that is not the id of a link. */
export async function listLinks(scope: Scope, { limit, cursor }: LinkQuery): Promise<LinkView[]> {
  const { workspace } = scope
  if (cursor === undefined) return (await readRows(scope, findNewestLinks({ workspaceId: workspace.id, limit }))).map(viewLink)
  if (!(await findLink(scope, cursor))) throw problem('VALIDATION_ERROR', 'cursor must be the id of a link')
  return (await readRows(scope, findLinksAfter({ workspaceId: workspace.id, afterId: cursor, limit }))).map(viewLink)
}

/** Reads one link in the answer's shape. Throws NOT_FOUND. */
export const readLink = async (scope: Scope, id: string): Promise<LinkView> => viewLink(await getLink(scope, id))

/** Reads one stored link. Throws NOT_FOUND. */
export async function getLink(scope: Scope, id: string): Promise<Link> {
  const link = await findLink(scope, id)
  if (!link) throw problem('NOT_FOUND')
  return link
}

/** Converts a stored link to the answer's shape. */
export function viewLink(link: Link): LinkView {
  const { id, connection_id, provider, short_url, currency, status, description, invoice_id, paid_at, payment_record_id } = link
  const { customer_name, customer_email, customer_contact, created_at, expires_at } = link
  return {
    id,
    connection_id,
    provider,
    short_url,
    amount: formatAmount(link.amount, currency),
    currency,
    status,
    description,
    invoice_id,
    customer_name,
    customer_email,
    customer_contact,
    created_at,
    expires_at,
    ...(paid_at === null ? {} : { paid_at }),
    ...(payment_record_id === null ? {} : { payment_record_id }),
  }
}

const findLink = async (scope: Scope, id: string): Promise<Link | undefined> =>
  isUuid(id) ? (await readRows(scope, selectLink({ workspaceId: scope.workspace.id, id })))[0] : undefined
