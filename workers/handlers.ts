import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { eventFamilies, jobs, maintenance } from '#shared/features.ts'
import { handlers as notifications } from '#workers/core/notifications/handlers.ts'
import { handlers as people } from '#workers/core/people/handlers.ts'
import { handlers as records } from '#workers/core/records/handlers.ts'
import { handlers as types } from '#workers/core/types/handlers.ts'
import { handlers as workspaces } from '#workers/core/workspaces/handlers.ts'
import { handlers as accounting } from '#workers/features/accounting/handlers.ts'
import { handlers as calendar } from '#workers/features/calendar/handlers.ts'
import { handlers as flows } from '#workers/features/flows/handlers.ts'
import { handlers as forms } from '#workers/features/forms/handlers.ts'
import type { FunctionRunners } from '#workers/features/functions/function-runners.ts'
import { createHandlers as functions } from '#workers/features/functions/handlers.ts'
import { findConnectionTransport } from '#workers/features/messages/connection-transport.ts'
import { handlers as messages } from '#workers/features/messages/handlers.ts'
import { handlers as payments } from '#workers/features/payments/handlers.ts'
import { handlers as queues } from '#workers/features/queues/handlers.ts'
import { createHandlers as webhooks } from '#workers/features/webhooks/handlers.ts'
import { createHandlers as due } from '#workers/platform/due/handlers.ts'
import type { AnyHandler } from '#workers/platform/jobs/handler.ts'
import { createHandlers as jobQueue } from '#workers/platform/jobs/handlers.ts'
import { createHandlers as mail } from '#workers/platform/mail/handlers.ts'

/** The handlers of every folder, in the order of `shared/README.md`. Throws when a declared job has none, or a handler no declaration. */
export function createHandlers(runners: FunctionRunners): readonly AnyHandler[] {
  const folders: readonly Readonly<Record<string, AnyHandler>>[] = [
    ...[jobQueue(jobs), due<PlatformScope>(jobs, maintenance), mail(findConnectionTransport)],
    ...[people, workspaces, types, records, notifications],
    ...[functions(runners), messages, queues, accounting, calendar, payments, forms, flows, webhooks(eventFamilies)],
  ]
  const handlers = folders.flatMap((folder) => Object.values(folder))
  requireEachJobOnce(handlers)
  return handlers
}

function requireEachJobOnce(handlers: readonly AnyHandler[]): void {
  const handled = handlers.map(({ job }) => job.name).sort()
  const declared = jobs.map(({ name }) => name).sort()
  if (handled.join() === declared.join()) return
  throw new Error(`Declared jobs (${declared.join(', ')}) and handlers (${handled.join(', ')}) differ`)
}
