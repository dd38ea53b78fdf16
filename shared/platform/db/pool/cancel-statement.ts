import pg from 'pg'

/** Internals of the driver's client (pg 8) that a cancel request needs. */
interface ClientInternals {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
  readonly connection: {
    connect(port: number | string, host?: string): void
    cancel(processID: number, secretKey: number): void
    on(event: 'connect' | 'error', listener: () => void): void
  }
}

/** Sends a cancel request for a connection's running statement, which then fails with 57014. A lost request changes nothing. */
export function cancelStatement(url: string, client: pg.ClientBase): void {
  const { processID, secretKey } = client as unknown as ClientInternals
  const { connection, host, port } = new pg.Client({ connectionString: url }) as unknown as ClientInternals
  connection.on('error', () => undefined)
  connection.on('connect', () => connection.cancel(processID, secretKey))
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
}
