import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * Access keys and session tokens have the form `<prefix>_<scope><secret><check>`: the id of the workspace or person and 256 random bits in
 * base 62, then a CRC-32 of everything before it. The CRC detects mistyped tokens and lets secret scanners recognise a token
 * (docs/contract/access.md#credentials). Only the SHA-256 of the secret is stored.
 */
export interface Token {
  readonly text: string
  readonly hash: Buffer
}

export type TokenKind = 'key' | 'session'
const prefixes: Readonly<Record<TokenKind, string>> = { key: 'kt_', session: 'ks_' }

const [scopeLength, secretLength, checkLength] = [22, 43, 6]

/** A new token of a workspace (key) or person (session). */
export function makeToken(kind: TokenKind, scopeId: string): Token {
  const secret = toBase62(randomBytes(32), secretLength)
  const body = prefixes[kind] + toBase62(Buffer.from(scopeId.replaceAll('-', ''), 'hex'), scopeLength) + secret
  return { text: body + checksum(body), hash: hashSecret(secret) }
}

/** Parsed token. `lookup` is its hash as text, used as cache key. */
interface TokenParts {
  readonly kind: TokenKind
  readonly scopeId: string
  readonly hash: Buffer
  readonly lookup: string
}

/** Recently parsed tokens. Parsing at every request would take a twentieth of its time. */
const recentTokens = new Map<string, TokenParts>()
const maxRecentTokens = 10_000

/** Parses a token; null when its form or checksum is wrong. Only the database knows whether it is valid. */
export function readToken(text: string): TokenParts | null {
  const recent = recentTokens.get(text)
  if (recent) return recent
  const parsed = parseToken(text)
  if (!parsed) return null
  if (recentTokens.size >= maxRecentTokens) recentTokens.clear()
  recentTokens.set(text, parsed)
  return parsed
}

function parseToken(text: string): TokenParts | null {
  const match = /^(k[ts]_)([0-9A-Za-z]{22})([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(text)
  const [, prefix, scope, secret, check] = match ?? []
  if (!prefix || !scope || !secret || check !== checksum(prefix + scope + secret)) return null
  const scopeId = toUuid(scope)
  if (scopeId === null) return null
  const hash = hashSecret(secret)
  return { kind: prefix === prefixes.key ? 'key' : 'session', scopeId, hash, lookup: `token ${hash.toString('base64')}` }
}

/** Part of a key shown in lists: enough to recognise it, useless for guessing it. */
export const visibleKeyPrefix = (text: string): string => `${text.slice(0, 3)}…${text.slice(3 + scopeLength, 3 + scopeLength + 4)}`

/** SHA-256 of a secret; secrets are stored and looked up by it. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** Random text for links in mail: 256 bits in base 62. */
export function makeSecret(): Token {
  const text = toBase62(randomBytes(32), secretLength)
  return { text, hash: hashSecret(text) }
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function toBase62(bytes: Buffer, length: number): string {
  let remaining = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  while (text.length < length) {
    text = (digits[Number(remaining % 62n)] ?? '') + text
    remaining /= 62n
  }
  return text
}

function toUuid(text: string): string | null {
  let number = 0n
  for (const digit of text) number = number * 62n + BigInt(digits.indexOf(digit))
  const hex = number.toString(16).padStart(32, '0')
  return hex.length === 32 ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : null
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return toBase62(bytes, checkLength)
}
