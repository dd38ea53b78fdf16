import { freePort } from '../../scripts/ports.ts'

/** Variables of a world whose public address is the one that it listens on, for calls to this server itself. */
export async function listening(): Promise<Record<string, string>> {
  const port = await freePort()
  return { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` }
}
