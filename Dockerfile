# syntax=docker/dockerfile:1
# One image for every process: `kontor api`, `kontor worker --pools=flows`, `kontor migrate` and all other commands of `kontor`.

FROM node:24-trixie-slim AS packages
WORKDIR /opt/kontor
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

# The packages bring the pinned Node. Debian's util-linux brings the tools that confine functions: unshare, setpriv, prlimit and choom.
FROM debian:trixie-slim
RUN useradd --uid 10001 --no-log-init --home-dir /var/lib/kontor --create-home kontor
WORKDIR /opt/kontor
COPY --from=packages /opt/kontor/node_modules node_modules
COPY . .
RUN ln -s /opt/kontor/node_modules/node-linux-*/bin/node /opt/kontor/bin/kontor /usr/local/bin/ && install -d -o kontor .cache
USER kontor
# Fills the compile cache of the same user, so that a process with a read-only root starts in half the time.
RUN NODE_COMPILE_CACHE=/opt/kontor/.cache/compile node --input-type=module \
  -e "for (const file of ['api/server.ts', 'workers/worker.ts', 'bin/run-command.ts']) await import('/opt/kontor/' + file); process.exit()"
ENV NODE_ENV=production DATA_DIR=/var/lib/kontor PORT=3000 WORKER_PORT=3000
EXPOSE 3000
# Whether the process is up, for an orchestrator that restarts it. A balancer asks /readyz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "deploy/health-check.mjs", "/healthz"]
ENTRYPOINT ["kontor"]
CMD ["api"]
