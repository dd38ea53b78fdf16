/**
 * The tags of the OpenAPI document, in its order. Each has a description, and the page of docs/contract that holds its rules, with a heading
 * where only a part of the page is about it.
 */
export const tags = {
  People: [
    'Signing in and out, passwords, and joining a workspace. A session token goes in the same header as an access key.',
    'access#signing-in',
  ],
  Workspaces: ['Workspaces and their settings. Everything else belongs to a workspace.', 'access#workspaces'],
  Members: ['The people of a workspace, and those who are invited.', 'access#members'],
  'Service accounts': ['Identities of programs that call on behalf of a workspace, and their access keys.', 'access#service-accounts'],
  Roles: ['Roles, their policies, their holders, and simulation of decisions.', 'access#roles'],
  'Record types': ['Kinds of records; some are built in.', 'types-and-fields#record-types'],
  'Menu groups': ['Groups of record types in a menu.', 'types-and-fields#modules'],
  Fields: ['What the records of a type hold: checked, numbered or computed.', 'types-and-fields#fields'],
  Records: ['The data of a workspace: created, searched, imported and exported, and the audit trail of its changes.', 'records'],
  Events: ['Everything that happens in a workspace, as one numbered list.', 'events'],
  Webhooks: ['Events that are sent to addresses of other programs, signed.', 'webhooks'],
  Notifications: ["The caller's inbox, and the rules that fill the inboxes of members.", 'notifications'],
  Messages: ['Mail to others: connections, templates, messages with their status, and addresses that get none.', 'messages'],
  Drive: ['Files in spaces: uploads, folders, shares.', 'drive'],
  Functions: ['Code of a workspace that runs in a sandbox, its secrets, versions and runs.', 'functions'],
  Flows: ['Automations of a trigger and blocks, and their runs.', 'flows'],
  'Work queues': ['Items that move through stages: added, scanned, claimed, moved.', 'queues'],
  Accounting: ['A double-entry ledger whose entries never change, its reports and seals.', 'accounting'],
  Calendars: ['Personal, team and record calendars, their shares and files.', 'calendar#calendars'],
  'Calendar events': ['Events and their guests, busy times, reminders.', 'calendar#events'],
  Forms: ['Forms that visitors fill in, and their submissions.', 'public#forms'],
  Websites: ['Documents and files that are published.', 'public#websites'],
  Payments: ['Connections to providers, payment links and reconciliation.', 'payments'],
  Jobs: ['Work that a worker does for a caller who does not wait.', 'jobs'],
  Operators: ['For who runs the installation: what operators did, and what they may do to workspaces.', 'operators'],
  Pages: ['Pages for people, which work without scripts. Mails and links lead to them.', 'public#hosted-pages'],
  'Public functions': ['Functions that anybody may call.', 'public#http-functions'],
  'Public calendars': ['Booking pages, invitations and subscriptions, without credentials.', 'public#booking-pages'],
  'Public forms': ['Published forms, without credentials.', 'public#forms'],
  'Public content': ['Published websites, without credentials.', 'public#websites'],
} as const

export type Tag = keyof typeof tags
