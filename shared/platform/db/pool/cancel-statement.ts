import pg from 'pg'

/** What the driver's client keeps of its connection (pg 8), as far as ending a statement from outside needs it. */
interface Parts {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
  readonly connection: {
    connect(port: number | string, host?: string): void
    cancel(processID: number, secretKey: number): void
    on(event: 'connect' | 'error', heard: () => void): void
  }
}

/** Asks the database to end what it does for a connection, which then fails with 57014. A request that is lost changes nothing. */
export function cancelStatement(url: string, client: pg.ClientBase): void {
  const { processID, secretKey } = client as unknown as Parts
  const { connection, host, port } = new pg.Client({ connectionString: url }) as unknown as Parts
  connection.on('error', () => undefined)
  connection.on('connect', () => connection.cancel(processID, secretKey))
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
}
