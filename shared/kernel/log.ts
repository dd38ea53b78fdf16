import { type Logger, pino } from 'pino'

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

/** A structured log on standard output, one JSON object a line, with secrets redacted. */
export const createLogger = (name: string, level: string): Logger =>
  pino({
    name,
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secrets.flatMap((secret) => [secret, `*.${secret}`, `*.*.${secret}`, `*.*.*.${secret}`]), censor: '[redacted]' },
  })
