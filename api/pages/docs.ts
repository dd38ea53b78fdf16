import type Router from '@koa/router'

/** Replaced by the API description. */
export function serveDescription(_router: Router): void {}
