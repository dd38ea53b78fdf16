import { type AddressInfo, createServer, type Socket } from 'node:net'

/** Where a server breaks the connection, in the order of a delivery; `never` takes the mail. */
export const cuts = ['greeting', 'EHLO', 'AUTH', 'MAIL', 'RCPT', 'DATA', 'mid-body', 'after the dot', 'after 250', 'never'] as const
export type Cut = (typeof cuts)[number] | 'STARTTLS'

/** A mail server that breaks connections at a chosen point, or sends a chosen reply there. */
export interface CuttingServer {
  readonly port: number
  /** The Message-ID of every mail whose last dot arrived. */
  readonly whole: string[]
  readonly connections: () => number
  cutAt: (cut: Cut, reply?: string) => void
}

interface Test {
  readonly teardown: (end: () => unknown) => void
}

/** Starts it; it ends with the test. With a reply for `STARTTLS` it offers that, and refuses it so. */
export async function startCuttingServer(t: Test): Promise<CuttingServer> {
  const state: { cut: Cut; reply: string | undefined } = { cut: 'never', reply: undefined }
  const whole: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    serve(socket, state, whole)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    port: (server.address() as AddressInfo).port,
    whole,
    connections: () => connections,
    cutAt: (cut, reply) => Object.assign(state, { cut, reply }),
  }
}

function serve(socket: Socket, state: { readonly cut: Cut; readonly reply: string | undefined }, whole: string[]): void {
  let [text, body, isBody] = ['', '', false]
  /** Breaks the connection here or sends the chosen reply; otherwise the usual one. */
  const say = (cut: Cut, usual: string): boolean => {
    if (state.cut === cut && state.reply === undefined) socket.destroy()
    else socket.write(`${(state.cut === cut && state.reply) || usual}\r\n`)
    return state.cut === cut
  }
  const hear = (line: string): void => {
    if (isBody) {
      body += `${line}\n`
      if (line !== '.') return
      isBody = false
      whole.push(/^Message-ID: <([^@>]+)/im.exec(body)?.[1] ?? '')
      if (say('after the dot', '250 taken') || state.cut !== 'after 250') return
      // The answer is sent first, since the cut comes after it.
      return void socket.end()
    }
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO') say('EHLO', `250-here\r\n${state.cut === 'STARTTLS' ? '250-STARTTLS\r\n' : ''}250 AUTH PLAIN`)
    else if (verb === 'STAR') say('STARTTLS', '220 go on')
    else if (verb === 'AUTH') say('AUTH', '235 in')
    else if (verb === 'MAIL') say('MAIL', '250 ok')
    else if (verb === 'RCPT') say('RCPT', '250 ok')
    else if (verb === 'DATA') isBody = !say('DATA', '354 go on')
    else socket.write('221 bye\r\n')
  }
  say('greeting', '220 here ESMTP')
  socket.on('data', (part) => {
    text += part
    if (isBody && state.cut === 'mid-body') return void socket.destroy()
    const lines = text.split('\r\n')
    text = lines.pop() ?? ''
    for (const line of lines) hear(line)
  })
}
