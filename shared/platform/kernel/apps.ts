/** The apps that a workspace switches on and off (docs/contract/access.md#apps). A workspace that stores no flag of an app has it on. */
export const apps = ['functions', 'payments', 'queues', 'calendar', 'accounting'] as const
export type AppName = (typeof apps)[number]
