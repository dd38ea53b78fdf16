import { type Logger, pino } from 'pino'
import { build } from 'pino-pretty'

export type { Logger }

/** Names whose values never reach a log line, wherever they stand in what is logged. */
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
  'databaseUrl',
  'smtpUrl',
  'privateKey',
]

/** A structured log on standard output with secrets redacted: one JSON object a line, on a terminal lines for people. */
export const createLogger = (name: string, level: string): Logger =>
  pino(
    {
      name,
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secrets.flatMap((secret) => [secret, `*.${secret}`, `*.*.${secret}`, `*.*.*.${secret}`]), censor: '[redacted]' },
    },
    process.stdout.isTTY
      ? build({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l', singleLine: true, colorize: true, sync: true })
      : undefined,
  )
