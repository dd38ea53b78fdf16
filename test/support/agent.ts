import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The requests to a stand-in of an assistant, and its responses: a status and the message's content, or null for none. */
export interface Agent {
  readonly url: string
  readonly asked: {
    readonly body: { model: string; messages: { role: string; content: string }[] }
    readonly authorization: string | undefined
  }[]
  answer: { readonly status?: number; readonly content?: string; readonly raw?: string } | null
}

/** A flow that any workspace can save. */
export const soundDraft = { name: 'Draft', nodes: [{ id: 't', type: 'trigger.manual', config: {} }], edges: [], context: {} }

/** Starts a stand-in of a chat endpoint in OpenAI's form, on its own port; it ends with the process. */
export async function startAgent(): Promise<Agent> {
  const asked: Agent['asked'] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    asked.push({ body: JSON.parse(Buffer.concat(chunks).toString()), authorization: request.headers.authorization })
    const { answer } = agent
    if (answer === null) return
    const { status = 200, content = '', raw } = answer
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(raw ?? JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }))
  })
  server.listen(0, '127.0.0.1').unref()
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const agent: Agent = { url: `http://127.0.0.1:${port}/v1`, asked, answer: { content: JSON.stringify(soundDraft) } }
  return agent
}
