import { routes as jobs } from '#api/core/jobs/routes.ts'
import { routes as notifications } from '#api/core/notifications/routes.ts'
import { routes as peoplePages } from '#api/core/people/pages.ts'
import { routes as people } from '#api/core/people/routes.ts'
import { routes as audit } from '#api/core/records/audit-routes.ts'
import { routes as records } from '#api/core/records/routes.ts'
import { routes as roles } from '#api/core/roles/routes.ts'
import { routes as fields } from '#api/core/types/field-routes.ts'
import { routes as modules } from '#api/core/types/menu-group-routes.ts'
import { routes as types } from '#api/core/types/routes.ts'
import { routes as members } from '#api/core/workspaces/member-routes.ts'
import { routes as workspacePages } from '#api/core/workspaces/pages.ts'
import { routes as workspaces } from '#api/core/workspaces/routes.ts'
import { routes as serviceAccounts } from '#api/core/workspaces/service-account-routes.ts'
import { routes as books } from '#api/features/accounting/book-routes.ts'
import { routes as reports } from '#api/features/accounting/report-routes.ts'
import { routes as entries } from '#api/features/accounting/routes.ts'
import { routes as bookPages } from '#api/features/calendar/book-pages.ts'
import { routes as calendars } from '#api/features/calendar/calendar-routes.ts'
import { routes as calendarEvents } from '#api/features/calendar/event-routes.ts'
import { routes as publicCalendars } from '#api/features/calendar/public.ts'
import { routes as rsvpPages } from '#api/features/calendar/rsvp-pages.ts'
import { routes as driveFiles } from '#api/features/drive/file-routes.ts'
import { routes as drive } from '#api/features/drive/routes.ts'
import { routes as flows } from '#api/features/flows/routes.ts'
import { routes as flowRuns } from '#api/features/flows/run-routes.ts'
import { routes as formPages } from '#api/features/forms/pages.ts'
import { routes as publicForms } from '#api/features/forms/public.ts'
import { routes as forms } from '#api/features/forms/routes.ts'
import { routes as publicFunctions } from '#api/features/functions/public.ts'
import { routes as functions } from '#api/features/functions/routes.ts'
import { routes as functionRuns } from '#api/features/functions/run-routes.ts'
import { routes as functionSecrets } from '#api/features/functions/secret-routes.ts'
import { pages as messagePages } from '#api/features/messages/pages.ts'
import { routes as messages } from '#api/features/messages/routes.ts'
import { callbacks as messageCallbacks } from '#api/features/messages/webhooks.ts'
import { payPages } from '#api/features/payments/pages.ts'
import { routes as payments } from '#api/features/payments/routes.ts'
import { webhookRoutes } from '#api/features/payments/webhooks.ts'
import { routes as queueItems } from '#api/features/queues/item-routes.ts'
import { routes as queues } from '#api/features/queues/routes.ts'
import { routes as siteContent } from '#api/features/sites/content-routes.ts'
import { routes as publicContent } from '#api/features/sites/public.ts'
import { routes as sites } from '#api/features/sites/routes.ts'
import type { Route, Section } from '#api/http/route.ts'
import { routes as startPage } from '#api/pages/start.ts'

/** Every route that carries the version prefix. */
export const routes: readonly Route[] = [
  ...people,
  ...workspaces,
  ...members,
  ...serviceAccounts,
  ...roles,
  ...types,
  ...modules,
  ...fields,
  ...records,
  ...audit,
  ...notifications,
  ...messages,
  ...drive,
  ...driveFiles,
  ...functionSecrets,
  ...functions,
  ...functionRuns,
  ...flows,
  ...flowRuns,
  ...queues,
  ...queueItems,
  ...entries,
  ...reports,
  ...calendars,
  ...calendarEvents,
  ...forms,
  ...sites,
  ...siteContent,
  ...payments,
  ...books,
  ...jobs,
]

/** Everything that is declared, by where it stands: the version is in the path of the authenticated routes (document 1, Versioning). */
export const sections: readonly Section[] = [
  { base: '/v1', routes },
  {
    base: '',
    routes: [
      ...startPage,
      ...peoplePages,
      ...workspacePages,
      ...messagePages,
      ...messageCallbacks,
      ...payPages,
      ...webhookRoutes,
      ...publicFunctions,
      ...publicCalendars,
      ...bookPages,
      ...rsvpPages,
      ...publicForms,
      ...formPages,
      ...publicContent,
    ],
  },
]
