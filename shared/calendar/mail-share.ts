import { countMails } from '#shared/calendar/mail-share-store.ts'
import type { Scope } from '#shared/scope/scope.ts'

type MailKind = 'calendar' | 'booking'

/** Mails a day, counted by UTC: of a workspace, and to one address from anybody (decisions, Calendar). */
const caps: Readonly<Record<MailKind, { readonly workspace: number; readonly recipient: number }>> = {
  calendar: { workspace: 2_000, recipient: 50 },
  booking: { workspace: 500, recipient: 10 },
}

/**
 * Takes the share of the day's mail for these addresses, and says for each whether its mail may go out. What is taken counts when the
 * transaction commits; of two who take at once the second sees what the first took. A booking's mail counts among all others too.
 */
export async function takeMailShare(scope: Scope, emails: readonly string[], kind: MailKind): Promise<boolean[]> {
  let allowed = emails.map(() => true)
  for (const each of kind === 'booking' ? (['calendar', 'booking'] as const) : (['calendar'] as const)) {
    allowed = await takeOfKind(scope, emails, allowed, each)
  }
  return allowed
}

async function takeOfKind(scope: Scope, emails: readonly string[], wanted: readonly boolean[], kind: MailKind): Promise<boolean[]> {
  const { db, workspace } = scope
  const day = scope.now().toISOString().slice(0, 10)
  const asked = emails.map((email) => `to ${email.toLowerCase()}`)
  const counts = [
    ...Map.groupBy(
      asked.filter((_, index) => wanted[index]),
      (subject) => subject,
    ),
  ].map(([subject, all]) => ({ subject, mails: all.length }))
  if (counts.length === 0) return [...wanted]
  const left = new Map((await countMails(db, day, kind, counts, caps[kind].recipient)).map(({ subject, granted }) => [subject, granted]))
  const reachable = asked.map((subject, index) => {
    const rest = left.get(subject) ?? 0
    if (!wanted[index] || rest === 0) return false
    left.set(subject, rest - 1)
    return true
  })
  const mails = reachable.filter((isReachable) => isReachable).length
  if (mails === 0) return reachable
  const [ofWorkspace] = await countMails(db, day, kind, [{ subject: `of ${workspace.id}`, mails }], caps[kind].workspace)
  let rest = ofWorkspace?.granted ?? 0
  return reachable.map((isReachable) => isReachable && rest-- > 0)
}
