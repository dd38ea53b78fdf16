import { type Config, readConfig } from '#shared/platform/kernel/config.ts'
import { code, formatCount, markdownTable } from './markdown-table.ts'

/** A limit that the operator sets. */
interface LimitSetting {
  readonly variable: string
  readonly meaning: string
  readonly read: (config: Config) => number
}

type Named = readonly [variable: string, meaning: string]
type Group = 'visitorLimits' | 'signInLimit' | 'workspaceLimit' | 'freePlan'

/** The limits of each group of the configuration. A new limit does not compile without its row. */
const groups: { readonly [Name in Group]: Readonly<Record<keyof Config[Name], Named>> } = {
  visitorLimits: {
    content: ['VISITOR_READS_PER_MINUTE', 'reads of forms, sites and other pages by visitors in a minute, by network address'],
    calendar: ['VISITOR_CALENDAR_PER_MINUTE', 'requests of visitors for booking pages and calendars in a minute, by network address'],
    functions: ['VISITOR_FUNCTIONS_PER_MINUTE', 'calls of public functions in a minute, by network address'],
    forms: ['VISITOR_FORMS_PER_MINUTE', 'submissions of forms in a minute, by network address'],
  },
  signInLimit: {
    perAccount: ['SIGN_IN_LIMIT_PER_ACCOUNT', 'checks of passwords in a minute, by account'],
    perIp: ['SIGN_IN_LIMIT_PER_IP', 'checks of passwords in a minute, by network address'],
  },
  workspaceLimit: {
    perPerson: ['MAX_WORKSPACES_PER_PERSON', 'workspaces that a person may own'],
    perHour: ['WORKSPACES_PER_HOUR', 'workspaces that a person may make in an hour'],
  },
  freePlan: {
    records: ['FREE_RECORDS', 'records of a workspace on the free plan'],
    fileBytes: ['FREE_FILE_BYTES', 'bytes of files of a workspace on the free plan'],
    members: ['FREE_MEMBERS', 'members of a workspace on the free plan'],
    spaces: ['FREE_SPACES', 'team spaces of a workspace on the free plan, beside the shared one'],
  },
}

const readGroup = <Name extends Group>(name: Name): LimitSetting[] =>
  (Object.entries(groups[name]) as [keyof Config[Name], Named][]).map(([limit, [variable, meaning]]) => ({
    variable,
    meaning,
    read: (config) => Number(config[name][limit]),
  }))

/** All limits that the operator sets. */
export const limitSettings: readonly LimitSetting[] = [
  ...readGroup('visitorLimits'),
  ...readGroup('signInLimit'),
  ...readGroup('workspaceLimit'),
  ...readGroup('freePlan'),
  { variable: 'DRIVE_MAX_UPLOAD_BYTES', meaning: 'bytes of a file', read: ({ maxUploadBytes }) => maxUploadBytes },
  {
    variable: 'DRIVE_SWEEP_SECONDS',
    meaning: 'seconds until bytes that nothing names are deleted',
    read: ({ driveSweepSeconds }) => driveSweepSeconds,
  },
  { variable: 'EVENTS_KEEP_SECONDS', meaning: 'seconds that events are kept', read: ({ eventsKeepSeconds }) => eventsKeepSeconds },
  {
    variable: 'ANSWER_WITHIN_SECONDS',
    meaning: 'seconds that a call waits for a worker',
    read: ({ answerWithinSeconds }) => answerWithinSeconds,
  },
  {
    variable: 'DATABASE_CPUS',
    meaning: 'processors of the database: as many searches of a workspace run at once in a process',
    read: ({ databaseProcessors }) => databaseProcessors,
  },
  {
    variable: 'DATABASE_CONNECTIONS',
    meaning: 'lasting connections of a process to the database, which its workspaces share',
    read: ({ databaseConnections }) => databaseConnections,
  },
]

/** The configuration of an operator who sets no limit; the two variables are required. */
export const readConfigWith = (variables: Readonly<Record<string, string>>): Config =>
  readConfig({ DATABASE_URL: 'postgres://localhost/kontor', SECRET_KEY: '0'.repeat(64), ...variables })

/** The limits that the operator sets, with their defaults. */
export function limitSettingTable(): string {
  const defaults = readConfigWith({})
  return markdownTable(
    ['Variable', 'Limits', 'Default'],
    limitSettings.map(({ variable, meaning, read }) => [code(variable), meaning, formatCount(read(defaults))]),
  )
}
