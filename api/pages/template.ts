import { readFileSync } from 'node:fs'
import { Eta } from 'eta'

/** HTML that is inserted unescaped. Text becomes Html only through a template, which escapes it. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const eta = new Eta({ autoEscape: true, useWith: false, debug: false })

/**
 * Compiles a template file, which reads its data as `it`: `<%= %>` escapes, `<%~ %>` is for the text of Html only. Attributes must be
 * quoted, and addresses from users must pass `safeHttpUrl`.
 */
export function template<Data extends object>(file: URL): (data: Data) => Html {
  const compiled = eta.compile(readFileSync(file, 'utf8'))
  return (data) => new Html(eta.render(compiled, data))
}

/** Normalizes an absolute http or https address for a link; undefined for any other, such as `javascript:`. */
export function safeHttpUrl(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
}
