import { type Logger, pino } from 'pino'
import { build } from 'pino-pretty'
import { currentNames } from '#shared/platform/kernel/process/current-request.ts'

export type { Logger }

/** Keys whose values are redacted, at up to four levels of the logged object. */
const secrets = [
  'password',
  'current',
  'next',
  'token',
  'key',
  'api_key',
  'secret',
  'credentials',
  'authorization',
  'cookie',
  'secretKey',
  'otherSecretKey',
  'databaseUrl',
  'metricsToken',
  'smtpUrl',
  'privateKey',
]

/**
 * Creates a log on standard output with secrets redacted: JSON lines, or readable lines on a terminal. Lines of a request or a job have its
 * `request_id` and `workspace_id`.
 */
export const createLogger = (name: string, level: string): Logger =>
  pino(
    {
      name,
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: currentNames,
      redact: { paths: secrets.flatMap((secret) => [secret, `*.${secret}`, `*.*.${secret}`, `*.*.*.${secret}`]), censor: '[redacted]' },
    },
    process.stdout.isTTY
      ? build({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l', singleLine: true, colorize: true, sync: true })
      : undefined,
  )
