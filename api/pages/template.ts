import { readFileSync } from 'node:fs'
import { Eta } from 'eta'

/** HTML that may stand in a page as it is; text never becomes it but through a template, which escapes. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const eta = new Eta({ autoEscape: true, useWith: false, debug: false })

/**
 * The template in a file, which sees its data as `it`: `<%= %>` escapes, `<%~ %>` is for the text of Html alone. Attributes stand in quotes,
 * and no address comes from anybody without `httpOnly`.
 */
export function template<Data extends object>(file: URL): (data: Data) => Html {
  const compiled = eta.compile(readFileSync(file, 'utf8'))
  return (data) => new Html(eta.render(compiled, data))
}

/** An address that a link may lead to, written anew; undefined for `javascript:` and all else that is not absolute http or https. */
export function httpOnly(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined
}
