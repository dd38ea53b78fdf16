/** The apps that a workspace switches on and off (decisions, People, keys, workspaces). */
export const apps = ['functions', 'payments', 'queues', 'calendar', 'accounting'] as const
export type AppName = (typeof apps)[number]
